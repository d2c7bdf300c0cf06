/** Tries Redis over a connection of its own. */
import type { RedisOptions } from "ioredis";
import { checkRedis, type RedisFacts } from "./bullmq-check";
import { openRedis } from "./bullmq-connection";
import { describeRedisProblem } from "./bullmq-problems";

const PROBE_TIMEOUT_MS = 3_000;

/**
 * Connects, and lets Redis do what the queues need. `ca`: PEM text of a certificate authority, null for those of the system. Throws an error that
 * says what is wrong when Redis does not respond or refuses something.
 */
export async function probeRedis({ url, ca }: { url: string; ca: string | null }): Promise<RedisFacts> {
  const options: Omit<RedisOptions, "replyMapping"> = {
    lazyConnect: true,
    connectTimeout: PROBE_TIMEOUT_MS,
    commandTimeout: PROBE_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    enableReadyCheck: false,
  };
  // Options of TLS would turn it on.
  if (ca !== null && url.startsWith("rediss:")) options.tls = { ca };
  const redis = openRedis(url, options);
  // The command fails with the reason.
  let reason: Error | null = null;
  redis.on("error", (error: Error) => {
    reason ??= error;
  });
  try {
    return await checkRedis(redis);
  } catch (error) {
    throw new Error(describeRedisProblem(reason ?? error), { cause: reason ?? error });
  } finally {
    redis.disconnect();
  }
}
