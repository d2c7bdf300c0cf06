/** Checks Redis over a separate connection. */
import type { RedisOptions } from "ioredis";
import { checkRedis, type RedisFacts } from "./bullmq-check";
import { openRedis } from "./bullmq-connection";
import { describeRedisProblem } from "./bullmq-problems";

const PROBE_TIMEOUT_MS = 3_000;

/**
 * Connects, and checks that Redis can do what the queues need. `ca`: PEM text of a certificate authority, null for the
 * system's. Throws an error that describes the problem when Redis does not respond or refuses a command.
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
  // TLS options would turn it on.
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
