/**
 * Checks the server for problems once a minute, and notifies administrators: when one is found, again each day while it
 * lasts, and once when it has ended. Reports are stored in the database, so that a restart repeats none.
 */
import { type FoundProblem, mayReport, type Problem, RESOLVED_TITLES } from "../../domain/alerts";
import { PROBLEMS } from "../../domain/states";
import { createPoller } from "../../lib/poller";
import {
  type Alert,
  deleteAlertsResolvedBefore,
  findLastReportTime,
  findOpenAlert,
  insertAlert,
  updateAlert,
} from "../../store/alerts";
import type { Queries } from "../../store/db";
import { listAdminIds } from "../../store/users";
import { notifyAdmins } from "../notifications/notifications";
import { createProblemChecks, type ProblemNeeds } from "./problem-checks";

const CHECK_INTERVAL_MS = 60_000;
/** A problem has ended if it was not found for this long. */
const CLEAR_AFTER_MS = 10 * 60_000;
/** A problem that comes back within a day is not reported again, so the rows are needed for longer than that. */
const KEPT_MS = 90 * 24 * 3600 * 1000;

export function createAlerts(services: ProblemNeeds) {
  const { clock, log, now, store } = services;
  const checks = createProblemChecks(services);
  const startedAt = clock();
  /** Time since which an open problem was not found. */
  const clearSince = new Map<Problem, number>();
  let checkedAt = Number.NEGATIVE_INFINITY;

  async function check(): Promise<void> {
    for (const problem of PROBLEMS) {
      const { graceMs, find } = checks[problem];
      // After the start, workers join and overdue work catches up.
      if (clock() - startedAt < graceMs) continue;
      try {
        await settle(problem, await find());
      } catch (error) {
        // The state is unknown: an open problem stays open.
        log.error("alert.check_failed", { problem, error });
      }
    }
  }

  async function settle(problem: Problem, found: FoundProblem | null): Promise<void> {
    const open = await findOpenAlert(store.read, problem);
    if (found !== null) {
      clearSince.delete(problem);
      if (open !== null && isSame(open, found) && !mayReport(await findLastReportTime(store.read, problem), now()))
        return;
      await store.write((tx) => record(tx, problem, found));
    } else if (open !== null && isClear(problem)) {
      await store.write((tx) => resolve(tx, problem));
      clearSince.delete(problem);
    }
  }

  function isClear(problem: Problem): boolean {
    const since = clearSince.get(problem) ?? clock();
    clearSince.set(problem, since);
    return clock() - since >= CLEAR_AFTER_MS;
  }

  /** Stores a found problem, and reports it unless it was reported within a day. */
  async function record(tx: Queries, problem: Problem, { severity, title, detail }: FoundProblem): Promise<void> {
    const at = now();
    const isDue = mayReport(await findLastReportTime(tx, problem), at) && (await listAdminIds(tx)).length > 0;
    const open = await findOpenAlert(tx, problem);
    const state = { severity, title, detail, ...(isDue ? { reported_at: at } : {}) };
    const alert = open ?? (await insertAlert(tx, { problem, ...state, found_at: at }));
    if (open !== null) await updateAlert(tx, open.id, state);
    else log.warn("problem.found", { problem, severity, alert: alert.id });
    if (!isDue) return;
    const payload = { problem, severity, title, detail, found_at: new Date(alert.found_at).toISOString() };
    await notifyAdmins(tx, { type: "problem_found", payload, cause: `${alert.id}/${at}`, now: at });
  }

  /** Ends a problem. Only administrators who were notified of it are notified of its end. */
  async function resolve(tx: Queries, problem: Problem): Promise<void> {
    const open = await findOpenAlert(tx, problem);
    if (open === null) return;
    const at = now();
    await updateAlert(tx, open.id, { resolved_at: at });
    await deleteAlertsResolvedBefore(tx, at - KEPT_MS);
    log.info("problem.resolved", { problem, alert: open.id, duration_ms: at - open.found_at });
    if (open.reported_at === null) return;
    const payload = {
      problem,
      title: RESOLVED_TITLES[problem],
      problem_title: open.title,
      found_at: new Date(open.found_at).toISOString(),
    };
    await notifyAdmins(tx, { type: "problem_resolved", payload, cause: open.id, now: at });
  }

  async function poll(): Promise<number> {
    const due = checkedAt + CHECK_INTERVAL_MS - clock();
    if (due > 0) return due;
    checkedAt = clock();
    await check();
    return CHECK_INTERVAL_MS;
  }

  const poller = createPoller(poll, (error) => log.error("alert.poll_failed", { error }));
  return { start: poller.start, check /** Resolves when no check is running. */, stop: poller.stop };
}

export type Alerts = ReturnType<typeof createAlerts>;

const isSame = (open: Alert, found: FoundProblem): boolean =>
  open.severity === found.severity && open.title === found.title && open.detail === found.detail;
