/** What to do when a render or an export is refused, or has failed. */
import { ApiError } from "../../../app/api";

const REFUSALS: Record<string, string> = {
  insufficient_credits: "What you chose stays here: press Start again when there are enough.",
  asset_not_ready: "The audio of the recording is still being prepared. Wait until the recording is ready.",
  modifier_not_ready: "The cut is not completed yet. Wait until it is.",
  conflict: "Delete renders or recordings that are not needed any more to make room.",
  upstream_unavailable: "Ask the administrator to free space on the server's disk, and try again.",
  rate_limited: "Try again in a moment.",
};

const MAX_BITRATE = /source's (\d+)/;

/** Returns the error of a refused render with what to do about it. */
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
  storage_full: "The server's disk is full: delete what is not needed, or ask the administrator, and render it again.",
  media_limits_exceeded: "Render it with a lower resolution or frame rate.",
};

export const adviseRender = (code: string | null): string => FAILURES[code ?? ""] ?? FAILURES.processing_failed!;
