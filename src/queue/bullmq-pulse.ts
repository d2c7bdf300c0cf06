/**
 * Whether Redis can be used: asks every second, so that a connection that is open and silent counts as none, and lets it do at times what the
 * queues need, so that one that refuses work counts as none too.
 */
import type { Redis } from "ioredis";
import { checkRedis, type RedisFacts } from "./bullmq-check";
import { CLOSED, findRedisProblem, TIMED_OUT } from "./bullmq-problems";

/** `problem` is a code, as of `findRedisProblem`. */
export type RedisChange = { isReachable: true; facts: RedisFacts } | { isReachable: false; problem: string };

export type RedisPulse = {
  /** Returns whether Redis answered lately and refused nothing; null before the first answer or failure. */
  isReachable(): boolean | null;
  /** Makes the next question a complete check: a command has failed. */
  distrust(): void;
  stop(): void;
};

const CALL_TIMEOUT_MS = 3_000;
const PING_INTERVAL_MS = 1_000;
/** One of so many questions is a complete check. While something is wrong, each is. */
const PINGS_PER_CHECK = 10;

/** Starts to ask. `onChange` is called when Redis can be used, when it no longer can, and when the reason becomes another one. */
export function watchRedis(redis: Redis, onChange: (change: RedisChange) => void): RedisPulse {
  const startedAt = performance.now();
  let isReachable: boolean | null = null;
  let problem: string | null = null;
  let isStopped = false;
  let isAsking = false;
  let pings = 0;

  function setReachable(facts: RedisFacts): void {
    if (isStopped) return;
    problem = null;
    if (isReachable === true) return;
    isReachable = true;
    onChange({ isReachable, facts });
  }

  function setProblem(found: string): void {
    // A connection that failed is closed as well.
    if (isStopped || found === problem || (found === CLOSED && problem !== null)) return;
    problem = found;
    isReachable = false;
    onChange({ isReachable, problem });
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
  // Also the first attempt to connect: a wrong address is in the log.
  redis.on("close", () => setProblem(CLOSED));
  const asking = setInterval(() => void ask(), PING_INTERVAL_MS);
  return {
    isReachable: () => isReachable,
    distrust: () => {
      pings = -1;
    },
    stop: () => {
      isStopped = true;
      clearInterval(asking);
    },
  };
}

/** Rejects when Redis does not respond in time. The late outcome is ignored. */
export async function withTimeout<T>(running: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const error = Object.assign(new Error("Redis did not respond in time"), { code: TIMED_OUT });
  const timer = setTimeout(() => late.reject(error), CALL_TIMEOUT_MS);
  running.catch(() => {});
  try {
    return await Promise.race([running, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
