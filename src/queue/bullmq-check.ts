/** Whether Redis does all that the queues need of it, and what it says about itself. */
import type { Redis } from "ioredis";
import { getQueueName } from "../domain/workers";

/** `policy`: what Redis does when its memory is full. */
export type RedisFacts = { version: string; policy: string };

/** The only policy that drops nothing which waits. */
const SAFE_POLICY = "noeviction";
/** A name like those of the queues, so that the same rules of an ACL apply. */
const CHECK_KEY = `bull:${getQueueName("check")}`;
const CHECK_SCRIPT = "return redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])";
const CHECK_KEY_MS = 60_000;

/**
 * Asks for facts, and lets a script write what a queue might. Rejects with the error of the first command that is refused: a replica, full memory
 * and the rules of an ACL refuse writes, scripts or names while the connection works.
 */
export async function checkRedis(redis: Redis): Promise<RedisFacts> {
  await redis.ping();
  const [server, memory] = await Promise.all([redis.info("server"), redis.info("memory")]);
  await redis.eval(CHECK_SCRIPT, 1, CHECK_KEY, CHECK_KEY_MS);
  return { version: readInfo(server, "redis_version"), policy: readInfo(memory, "maxmemory_policy") };
}

/** Returns whether Redis drops work when its memory is full. */
export const dropsWork = ({ policy }: RedisFacts): boolean => policy !== SAFE_POLICY;

const readInfo = (info: string, name: string): string =>
  info
    .split(/\r?\n/)
    .find((line) => line.startsWith(`${name}:`))
    ?.slice(name.length + 1) ?? "unknown";
