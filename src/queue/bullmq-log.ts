/** What a head and its workers log about Redis. */
import type { Log } from "../lib/log";
import { dropsWork } from "./bullmq-check";
import { findRedisAdvice } from "./bullmq-problems";
import type { RedisChange } from "./bullmq-pulse";

/** Logs a change with codes and advice only, because the texts of errors contain addresses and arguments of commands. `fields` are added. */
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
