/**
 * Enforces the reserve of free space for jobs that write media. Such a job starts only while the free space is above the reserve, and is
 * stopped when it falls below: a render then fails with `storage_full` and its files are removed, a preparation is postponed.
 */
import { AppError } from "../domain/errors";
import { type Job, type JobContext, JobPostponed } from "../domain/jobs";
import type { JobDefinition, JobInput, JobOutput } from "./jobs/definition";
import type { Services } from "./services";
import { hasFreeSpace } from "./storage-limits";

const CHECK_INTERVAL_MS = 250;
const POSTPONE_MS = 30_000;
/** An interrupted job waits this long, times the number of its attempts. */
const RETRY_DELAY_MS = 60_000;

/**
 * Runs the job with a signal that is also aborted when the free space falls below the reserve. Errors: `JobPostponed`; `AppError`
 * `storage_full`; those of `run`.
 */
export async function withDiskReserve(
  services: Pick<Services, "disk">,
  whenDiskIsFull: JobDefinition<JobInput, unknown, JobOutput>["whenDiskIsFull"],
  job: Job,
  context: JobContext,
  run: (context: JobContext) => Promise<void>,
): Promise<void> {
  if (whenDiskIsFull === "continue") return run(context);
  if (!hasFreeSpace(services)) throw new JobPostponed(POSTPONE_MS, { isStarted: false });

  const reserve = new AbortController();
  const watch = setInterval(() => {
    if (!hasFreeSpace(services)) reserve.abort(storageFullError());
  }, CHECK_INTERVAL_MS);
  try {
    await run({ ...context, signal: AbortSignal.any([context.signal, reserve.signal]) });
  } catch (error) {
    if (context.signal.aborted || !(reserve.signal.aborted || isFullDisk(error))) throw error;
    if (whenDiskIsFull === "fail") throw storageFullError(error);
    throw new JobPostponed(RETRY_DELAY_MS * job.attempt, { isStarted: true });
  } finally {
    clearInterval(watch);
  }
}

const storageFullError = (cause?: unknown): AppError =>
  new AppError("storage_full", "The server is low on storage. Request the render again later.", { cause });

/** Returns whether an error says that the disk is full, or that the reserve of free space was reached. */
export function isFullDisk(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === "storage_full" || code === "ENOSPC" || code === "EDQUOT";
}
