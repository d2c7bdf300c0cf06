/**
 * Jobs and the reserve of free space. A job that writes media waits while the free space is below the reserve. When it falls below it during
 * the job, the job is stopped: a render fails with `storage_full`, which frees what it occupied, and a preparation runs again later.
 */
import { AppError } from "../domain/errors";
import { type Job, type JobContext, JobPostponed } from "../domain/jobs";
import type { Services } from "./services";
import { findQuotaProblem, hasFreeSpace } from "./storage";

const CHECK_INTERVAL_MS = 250;
const POSTPONE_MS = 30_000;
/** An interrupted preparation waits this long for each time that it has run. */
const RETRY_DELAY_MS = 60_000;

/** Runs the job with a signal that is also aborted at the reserve. Errors: `JobPostponed`, `storage_full` (renders), those of `run`. */
export async function withDiskReserve(
  services: Services,
  job: Job,
  context: JobContext,
  run: (context: JobContext) => Promise<void>,
): Promise<void> {
  if (job.name === "cut") return run(context);
  if (!hasFreeSpace(services)) throw new JobPostponed(POSTPONE_MS, { isStarted: false });
  if (job.name === "render") await requireQuotaLeft(services, job);

  const reserve = new AbortController();
  const watch = setInterval(() => {
    if (!hasFreeSpace(services)) reserve.abort(storageFullError());
  }, CHECK_INTERVAL_MS);
  try {
    await run({ ...context, signal: AbortSignal.any([context.signal, reserve.signal]) });
  } catch (error) {
    if (context.signal.aborted || !(reserve.signal.aborted || isFullDisk(error))) throw error;
    if (job.name === "render") throw storageFullError(error);
    throw new JobPostponed(RETRY_DELAY_MS * job.attempt, { isStarted: true });
  } finally {
    clearInterval(watch);
  }
}

/** What was asked for below the quota may have been many renders: each looks again before it starts. */
async function requireQuotaLeft(services: Services, job: Job): Promise<void> {
  const problem = await findQuotaProblem(services, services.store.read, job.userId);
  if (problem) throw new AppError("storage_full", problem);
}

const storageFullError = (cause?: unknown): AppError =>
  new AppError("storage_full", "The server is short of storage: request the render again later.", { cause });

function isFullDisk(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === "storage_full" || code === "ENOSPC" || code === "EDQUOT";
}
