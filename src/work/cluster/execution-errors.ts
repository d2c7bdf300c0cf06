/** The errors that workers report. A worker may be hijacked by the media that it reads, so that only known codes of jobs are kept. */
import { AppError, JOB_CODES } from "../../domain/errors";
import { JobKilled, JobYielded } from "../../domain/jobs";
import { RenderYielded } from "../../media/parallel";
import { jobErrorCodec } from "../job-child/error-codec";

/** `cancelled` and `storage_full` are not among them: only the head knows whether its user has cancelled. The other is `isFullWorkerDisk`. */
const KNOWN_CODES: readonly string[] = JOB_CODES.filter((code) => code !== "cancelled" && code !== "storage_full");

/** Returns the error of a failed execution. */
export function decodeExecutionError(sent: object): Error {
  const { kind, message } = sent as { kind?: unknown; message?: unknown };
  if (typeof kind !== "string" || typeof message !== "string") return new Error("The worker reported no valid error.");
  const error = jobErrorCodec.decode({ ...sent, kind, message });
  if (error instanceof RenderYielded) return new JobYielded();
  if (error instanceof JobKilled) return error;
  if (error instanceof AppError) {
    const { code, details } = error;
    if (!KNOWN_CODES.includes(code)) return new Error(`The worker reported: ${error.message}`);
    return new AppError(code, error.message, details.isPermanent === true ? { isPermanent: true } : {});
  }
  return new Error(`The worker reported: ${error instanceof Error ? error.message : "an error"}`);
}

/** Returns whether an execution failed because its worker had no disk space left, which says nothing about the job. */
export function isFullWorkerDisk(sent: object): boolean {
  const { kind, code } = sent as { kind?: unknown; code?: unknown };
  return kind === "app" && code === "storage_full";
}
