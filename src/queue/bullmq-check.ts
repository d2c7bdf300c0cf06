/**
 * Checks whether Redis can do everything that the queues need, and reads its facts, also over a separate connection.
 */
import type { Redis } from "ioredis";
import { getQueueName } from "../domain/workers";
import { openRedis, type RedisAddress } from "./bullmq-connection";
import { describeRedisProblem } from "./bullmq-problems";

/** `policy`: the eviction policy of Redis. */
export type RedisFacts = { version: string; policy: string };

/** The only policy that never evicts waiting work. */
const SAFE_POLICY = "noeviction";
/** A name like the queues', so that the same ACL rules apply. */
const CHECK_KEY = `bull:${getQueueName("check")}`;
const CHECK_SCRIPT = "return redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])";
const CHECK_KEY_MS = 60_000;

/**
 * Reads facts, and runs a script that writes like a queue. Rejects with the error of the first refused command: a
 * replica, full memory and ACL rules refuse writes, scripts or names on a working connection.
 */
export async function checkRedis(redis: Redis): Promise<RedisFacts> {
  await redis.ping();
  const [server, memory] = await Promise.all([redis.info("server"), redis.info("memory")]);
  await redis.eval(CHECK_SCRIPT, 1, CHECK_KEY, CHECK_KEY_MS);
  return { version: readInfo(server, "redis_version"), policy: readInfo(memory, "maxmemory_policy") };
}

/** Returns whether Redis evicts work when its memory is full. */
export const dropsWork = ({ policy }: RedisFacts): boolean => policy !== SAFE_POLICY;

const readInfo = (info: string, name: string): string =>
  info
    .split(/\r?\n/)
    .find((line) => line.startsWith(`${name}:`))
    ?.slice(name.length + 1) ?? "unknown";

const PROBE_TIMEOUT_MS = 3_000;

/**
 * Connects, and checks that Redis can do what the queues need. Throws an error that describes the problem when Redis
 * does not respond or refuses a command.
 */
export async function probeRedis(address: RedisAddress): Promise<RedisFacts> {
  const redis = openRedis(address, {
    lazyConnect: true,
    connectTimeout: PROBE_TIMEOUT_MS,
    commandTimeout: PROBE_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    enableReadyCheck: false,
  });
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
