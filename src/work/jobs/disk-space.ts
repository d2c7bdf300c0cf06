/**
 * Keeps jobs from running without storage. While a folder is offline no job runs, and one that runs is stopped and
 * continues later. Jobs that write media also start only while the free space is above the reserve, and are stopped
 * when it falls below: a render then fails with `storage_full` and its files are removed, a preparation is postponed.
 */
import { offlineError } from "../../blobs/folder-guard";
import { AppError } from "../../domain/errors";
import { type Job, type JobContext, JobPostponed } from "../../domain/jobs";
import { isStorageFull } from "../../domain/storage-full";
import type { CoreNeeds } from "../needs";
import { hasFreeSpace } from "../storage/limits";
import type { JobDefinition, JobInput, JobOutput } from "./definition";

const CHECK_INTERVAL_MS = 250;
const POSTPONE_MS = 30_000;
/** An interrupted job waits this long, times the number of its attempts. */
const RETRY_DELAY_MS = 60_000;
/** No job is claimed while a folder is offline, so this is the wait after it is back. */
const OFFLINE_DELAY_MS = 1_000;

/**
 * Runs the job with a signal that is also aborted when a folder goes offline or the free space falls below the reserve.
 * Errors: `JobPostponed`; `AppError` `storage_full`; those of `run`.
 */
export async function withStorage(
  services: CoreNeeds,
  whenDiskIsFull: JobDefinition<JobInput, unknown, JobOutput>["whenDiskIsFull"],
  job: Job,
  context: JobContext,
  run: (context: JobContext) => Promise<void>,
): Promise<void> {
  const { guard } = services.folders;
  const isFull = () => whenDiskIsFull !== "continue" && !hasFreeSpace(services);
  if ((await guard.check()) !== null) throw new JobPostponed(OFFLINE_DELAY_MS, { isStarted: false });
  if (isFull()) throw new JobPostponed(POSTPONE_MS, { isStarted: false });

  const offline = new AbortController();
  const reserve = new AbortController();
  const watch = setInterval(() => {
    if (guard.findProblem() !== null) offline.abort(offlineError());
    else if (isFull()) reserve.abort(storageFullError());
  }, CHECK_INTERVAL_MS);
  try {
    await run({ ...context, signal: AbortSignal.any([context.signal, offline.signal, reserve.signal]) });
  } catch (error) {
    if (context.signal.aborted) throw error;
    // A file in an unmounted folder looks damaged. The attempt does not count: the outage may last any time.
    if (offline.signal.aborted || (await guard.check()) !== null)
      throw new JobPostponed(OFFLINE_DELAY_MS, { isStarted: false });
    if (whenDiskIsFull === "continue" || !(reserve.signal.aborted || isStorageFull(error))) throw error;
    if (whenDiskIsFull === "fail") throw storageFullError(error);
    throw new JobPostponed(RETRY_DELAY_MS * job.attempt, { isStarted: true });
  } finally {
    clearInterval(watch);
  }
}

const storageFullError = (cause?: unknown): AppError =>
  new AppError("storage_full", "The server is low on storage. Request the render again later.", { cause });
