/** Advice after the message of failed recordings, cuts and renders, and of rejected renders and exports. */
import { MIN_VIDEO_BITRATE_BPS } from "../../../src/domain/render-output";
import { ApiError } from "../../app/api";

const ASSET_ADVICE: Record<string, string> = {
  unsupported_media: "Convert the file to MP4, MOV, WAV or MP3, and upload it again.",
  corrupt_media: "Copy the file from the camera or recorder again, and upload it again.",
  no_media_streams: "Upload a file that has video or audio.",
  media_limits_exceeded: "Split the recording or make the file smaller, and upload it again.",
  processing_failed: "Upload the recording again.",
};

const CUT_ADVICE: Record<string, string> = {
  no_speech: "Cut it by hand, or upload a recording whose first audio track has speech.",
  script_mismatch: "Check that the script belongs to this recording, or clear the “Script” field to cut without one.",
  transcription_unavailable:
    "Clear the “Script” field to cut by pauses alone, or ask the administrator to install a model for the language.",
  storage_full: "Delete recordings or renders that are not needed, and make the cut again.",
  cancelled: "Make the cut again when you need it.",
  processing_failed: "Make the cut again.",
};

type Failure = { code: string | null; message: string | null };

/** Failures without advice of their own are treated like `processing_failed`, whose cause only the log has. */
function advise(advice: Record<string, string>, { code, message }: Failure): string {
  const known = code === "processing_failed" ? undefined : advice[code ?? ""];
  if (known !== undefined) return known;
  const first = advice.processing_failed!;
  return message?.includes("server log") ? first : `${first} If it fails again, the server's log has the cause.`;
}

export const adviseAsset = (failure: Failure): string => advise(ASSET_ADVICE, failure);
export const adviseCut = (failure: Failure): string => advise(CUT_ADVICE, failure);

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
    const min = MIN_VIDEO_BITRATE_BPS / 1000;
    const limit = max === undefined ? `at least ${min}` : `from ${min} to ${Math.floor(Number(max) / 1000)}`;
    return new ApiError(message, code, status, { ...fields, video_bitrate: `Must be ${limit} kbit/s.` });
  }
  const advice = REFUSALS[code];
  return advice === undefined ? error : new ApiError(`${message} ${advice}`, code, status, fields, retryAfterSeconds);
}

const FAILURES: Record<string, string> = {
  processing_failed: "Render it again.",
  storage_full:
    "The server's disk is full. Delete files that you no longer need, or ask the administrator, then render it again.",
  media_limits_exceeded: "Render it with a lower resolution or frame rate.",
};

export const adviseRender = (failure: Failure): string => advise(FAILURES, failure);
