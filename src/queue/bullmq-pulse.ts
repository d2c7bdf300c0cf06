/**
 * Monitors whether Redis can be used: pings every second, which detects silent connections, and sometimes runs a
 * complete check, which detects refused work.
 */
import type { Redis } from "ioredis";
import type { Log } from "../lib/log";
import { checkRedis, dropsWork, type RedisFacts } from "./bullmq-check";
import { CLOSED, findRedisAdvice, findRedisProblem, TIMED_OUT } from "./bullmq-problems";

/** `problem` is a code, as of `findRedisProblem`. */
type RedisChange = { isReachable: true; facts: RedisFacts } | { isReachable: false; problem: string };

const CALL_TIMEOUT_MS = 3_000;
const PING_INTERVAL_MS = 1_000;
/** One in this many pings is a complete check; during a problem, every ping is. */
const PINGS_PER_CHECK = 10;

/** Starts the pulse. `onChange` is called when Redis becomes usable or unusable, or the problem changes. */
export function watchRedis(redis: Redis, onChange: (change: RedisChange) => void) {
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
    // A failed connection is closed as well.
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

/** Logs a change with `fields`. Only codes and advice: error texts contain addresses and arguments of commands. */
export function logRedisChange(log: Log, change: RedisChange, fields: { queue?: string } = {}): void {
  if (!change.isReachable) {
    log.warn("redis.unreachable", { code: change.problem, advice: findRedisAdvice(change.problem) });
    return;
  }
  const { version, policy } = change.facts;
  log.info("redis.connected", { version, ...fields });
  if (dropsWork(change.facts))
    log.warn("redis.may_drop_work", { policy, advice: "Set maxmemory-policy of Redis to noeviction." });
}
