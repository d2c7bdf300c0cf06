/** Postpones jobs while ffmpeg is missing, for example during an update of its package: the recording is not at fault. */
import { type Job, type JobContext, JobPostponed } from "../../domain/jobs";
import type { Log } from "../../lib/log";
import { isExecutableFile } from "../../lib/programs";
import type { MediaTools } from "./media-tools";

const POSTPONE_MS = 10_000;

/** Runs the job. Errors: those of `run`; `JobPostponed` when ffmpeg is missing. */
export async function withFfmpeg(
  { tools, log }: { tools: Pick<MediaTools, "ffmpeg">; log: Log },
  job: Job,
  { signal }: Pick<JobContext, "signal">,
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    const { path } = tools.ffmpeg;
    if (signal.aborted || error instanceof JobPostponed || isExecutableFile(path)) throw error;
    log.error("ffmpeg.missing", { path, [job.name]: job.subjectId, retry_in_ms: POSTPONE_MS });
    throw new JobPostponed(POSTPONE_MS, { isStarted: false }, `ffmpeg is missing at ${path}`);
  }
}
