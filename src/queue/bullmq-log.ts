/** Log messages of a head and its workers about Redis. */
import type { Log } from "../lib/log";
import { dropsWork } from "./bullmq-check";
import { findRedisAdvice } from "./bullmq-problems";
import type { RedisChange } from "./bullmq-pulse";

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
