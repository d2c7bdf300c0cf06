/** Advice for a rejected render or export, and for a failed render. */
import { ApiError } from "../../../app/api";

const REFUSALS: Record<string, string> = {
  insufficient_credits: "Your settings are kept. Add credits, then press Start again.",
  asset_not_ready: "The audio of the recording is still being prepared. Wait until the recording is ready.",
  modifier_not_ready: "The cut is not completed yet. Wait until it is, then try again.",
  conflict: "Make room by deleting renders or recordings that you no longer need.",
  upstream_unavailable: "Ask the administrator to free space on the server's disk, and try again.",
  rate_limited: "Try again in a moment.",
};

const MAX_BITRATE = /source's (\d+)/;

/** Adds advice to the error of a rejected render. */
export function explainRefusal(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, status, fields, message, retryAfterSeconds } = error;
  if (fields.video_bitrate !== undefined) {
    const max = MAX_BITRATE.exec(fields.video_bitrate)?.[1];
    const limit = max === undefined ? "at least 50" : `from 50 to ${Math.floor(Number(max) / 1000)}`;
    return new ApiError(message, code, status, { ...fields, video_bitrate: `Must be ${limit} kbit/s.` });
  }
  const advice = REFUSALS[code];
  return advice === undefined ? error : new ApiError(`${message} ${advice}`, code, status, fields, retryAfterSeconds);
}

const FAILURES: Record<string, string> = {
  processing_failed: "Render it again. If it fails again, the server's log has the cause.",
  storage_full:
    "The server's disk is full. Delete files that you no longer need, or ask the administrator, then render it again.",
  media_limits_exceeded: "Render it with a lower resolution or frame rate.",
};

export const adviseRender = (code: string | null): string => FAILURES[code ?? ""] ?? FAILURES.processing_failed!;
