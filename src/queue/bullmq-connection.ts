/**
 * Connections to Redis: they close when the peer violates the protocol, are checked for everything that the queues
 * need, and are watched, so that silent ones and refused work are noticed.
 */
import { Redis, type RedisOptions } from "ioredis";
import { getQueueName } from "../domain/workers";
import type { Log } from "../lib/log";
import { withTimeLimit } from "../lib/time-limit";
import {
  CLOSED,
  describeRedisProblem,
  ENDLESS_REPLY,
  findRedisAdvice,
  findRedisProblem,
  TIMED_OUT,
  UNASKED_REPLY,
} from "./bullmq-problems";

/** Larger than any reply to the queues. Nothing else limits the buffer for incomplete replies. */
const MAX_REPLY_BYTES = 1024 ** 2;

/** `url` is `redis://` or `rediss://`. `ca`: PEM text of a certificate authority, null for those of the system. */
export type RedisAddress = { url: string; ca: string | null };

const MAX_RECONNECT_DELAY_MS = 1_000;

/**
 * Opens a connection that closes, and reconnects, on unsolicited data or a reply that does not end. Commands wait for a
 * reconnection, as BullMQ requires, and are bounded by the callers. BullMQ duplicates the connection.
 */
export function openRedis({ url, ca }: RedisAddress, options: Omit<RedisOptions, "replyMapping">): Redis {
  // TLS options would turn it on.
  const tls = ca !== null && url.startsWith("rediss:") ? { tls: { ca } } : {};
  const retryStrategy = (attempts: number) => Math.min(MAX_RECONNECT_DELAY_MS, 50 * 2 ** Math.min(attempts, 10));
  return watchReplies(new Redis(url, { maxRetriesPerRequest: null, retryStrategy, ...options, ...tls }));
}

function watchReplies(redis: Redis): Redis {
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = ((override?: RedisOptions) => watchReplies(duplicate(override) as Redis)) as Redis["duplicate"];
  const close = (code: string) =>
    redis.stream.destroy(Object.assign(new Error("Redis does not keep to its protocol"), { code }));
  redis.on("error", (error: Error) => {
    if (findRedisProblem(error) === UNASKED_REPLY && !redis.stream.destroyed) close(UNASKED_REPLY);
  });
  redis.on("connect", () => {
    const { stream } = redis;
    let waiting = 0;
    let bytes = 0;
    // Checked before and after the client reads the data.
    stream.prependListener("data", () => {
      waiting = redis.commandQueue.length;
      if (waiting === 0) close(UNASKED_REPLY);
    });
    stream.on("data", (data: Uint8Array) => {
      bytes = redis.commandQueue.length < waiting ? 0 : bytes + data.length;
      if (bytes > MAX_REPLY_BYTES) close(ENDLESS_REPLY);
    });
  });
  return redis;
}

/** `policy`: the eviction policy of Redis. */
type RedisFacts = { version: string; policy: string };

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
async function checkRedis(redis: Redis): Promise<RedisFacts> {
  await redis.ping();
  const [server, memory] = await Promise.all([redis.info("server"), redis.info("memory")]);
  await redis.eval(CHECK_SCRIPT, 1, CHECK_KEY, CHECK_KEY_MS);
  return { version: readInfo(server, "redis_version"), policy: readInfo(memory, "maxmemory_policy") };
}

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

const CALL_TIMEOUT_MS = 3_000;
const PING_INTERVAL_MS = 1_000;
/** One in this many pings is a complete check; during a problem, every ping is. */
const PINGS_PER_CHECK = 10;

/**
 * Pings every second, which detects silent connections, and sometimes runs a complete check, which detects refused
 * work. Logs changes with `fields`: only codes and advice, because error texts contain addresses and arguments of
 * commands. `onChange` is called when Redis becomes usable or unusable.
 */
export function watchRedis(redis: Redis, log: Log, onChange: () => void, fields: { queue?: string } = {}) {
  const startedAt = performance.now();
  let isReachable: boolean | null = null;
  let problem: string | null = null;
  let isStopped = false;
  let isAsking = false;
  let pings = 0;

  function setReachable({ version, policy }: RedisFacts): void {
    if (isStopped) return;
    problem = null;
    if (isReachable === true) return;
    isReachable = true;
    log.info("redis.connected", { version, ...fields });
    if (policy !== SAFE_POLICY)
      log.warn("redis.may_drop_work", { policy, advice: "Set maxmemory-policy of Redis to noeviction." });
    onChange();
  }

  function setProblem(found: string): void {
    // A failed connection is closed as well.
    if (isStopped || found === problem || (found === CLOSED && problem !== null)) return;
    problem = found;
    log.warn("redis.unreachable", { code: found, advice: findRedisAdvice(found) });
    if (isReachable === false) return;
    isReachable = false;
    onChange();
  }

  async function ask(): Promise<void> {
    if (redis.status !== "ready") {
      if (isReachable === null && performance.now() - startedAt > CALL_TIMEOUT_MS) setProblem(problem ?? TIMED_OUT);
      return;
    }
    if (isAsking) return;
    isAsking = true;
    try {
      if (isReachable === true && ++pings % PINGS_PER_CHECK !== 0) await withTimeout(redis.ping());
      else setReachable(await withTimeout(checkRedis(redis)));
    } catch (error) {
      setProblem(findRedisProblem(error));
    } finally {
      isAsking = false;
    }
  }

  redis.on("error", (error: Error) => setProblem(findRedisProblem(error)));
  redis.on("ready", () => void ask());
  // Includes the first attempt to connect, so that a wrong address is logged.
  redis.on("close", () => setProblem(CLOSED));
  const asking = setInterval(() => void ask(), PING_INTERVAL_MS);
  return {
    /** Returns whether Redis responded recently and refused nothing; null before the first response or failure. */
    isReachable: () => isReachable,
    /** Makes the next ping a complete check: a command has failed. */
    distrust: () => {
      pings = -1;
    },
    stop: () => {
      isStopped = true;
      clearInterval(asking);
    },
  };
}

/** Rejects when Redis does not respond in time. A late result is ignored. */
export const withTimeout = <T>(running: Promise<T>): Promise<T> =>
  withTimeLimit(running, CALL_TIMEOUT_MS, () => {
    throw Object.assign(new Error("Redis did not respond in time"), { code: TIMED_OUT });
  });
