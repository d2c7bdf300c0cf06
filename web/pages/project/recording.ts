/** Texts and states of a recording in the library. Pure. */

import type { Schemas } from "../../app/api";
import { formatRemaining, formatShare } from "../../app/format";
import { nameLanguage } from "../../app/rare-formats";
import { UNDERSTOOD } from "../../editor/transcript/foreign";
import type { IconName } from "../../ui/icon";
import type { UploadItem } from "../../upload/queue";

export type Recording = Schemas["ListedAsset"];

/** The state on the picture of a recording. `progressId`: whose progress it has, 0 to 1 as it was read last. */
export type RecordingState = {
  text: string;
  icon: IconName | null;
  look: "busy" | "bad" | "done" | "waiting";
  progress?: { id: string; known: number | null };
};

/** Returns the state of a recording where it is not normal; null for one that is ready. */
export function findState(recording: Recording, upload: UploadItem | undefined): RecordingState | null {
  const { state, id, open_cut: cut, last_render: render, latest_cut: latest, language_detected: language } = recording;
  switch (state) {
    case "pending_upload":
      return describeUpload(upload);
    case "pending_payment":
      return { text: "Needs credits", icon: "credits", look: "waiting" };
    case "failed":
      return { text: "Failed", icon: "warning", look: "bad" };
    case "processing":
      return {
        text: recording.has_transcript ? "Preparing" : "Transcribing",
        icon: null,
        look: "busy",
        progress: { id, known: recording.progress },
      };
    default:
  }
  if (cut !== null)
    return cut.state === "pending"
      ? { text: "In line for a cut", icon: null, look: "waiting" }
      : { text: "Cutting", icon: null, look: "busy", progress: { id: cut.id, known: cut.progress } };
  if (render?.state === "pending") return { text: "In line for a render", icon: null, look: "waiting" };
  if (render?.state === "processing")
    return { text: "Rendering", icon: null, look: "busy", progress: { id: render.id, known: render.progress } };
  if (language !== null && language.confidence < UNDERSTOOD)
    return { text: `Not ${nameLanguage(language.code)}?`, icon: "warning", look: "waiting" };
  if (render?.state === "failed") return { text: "Render failed", icon: "warning", look: "bad" };
  if (render?.state === "completed" && (render.cut_id ?? latest?.id) === latest?.id)
    return { text: "Rendered", icon: "check", look: "done" };
  return null;
}

function describeUpload(upload: UploadItem | undefined): RecordingState {
  if (upload === undefined) return { text: "Not uploaded", icon: "warning", look: "waiting" };
  if (upload.state === "paused") return { text: "Upload paused", icon: "pause", look: "waiting" };
  const share = formatShare(upload.sentBytes / Math.max(1, upload.sizeBytes));
  const { secondsLeft: left } = upload;
  const text = left === null ? `Uploading ${share}` : `${share} · ${formatRemaining(left)}`;
  return { text, icon: "upload", look: "busy" };
}

/** Returns what the newest cut keeps of the recording, 0 to 1; null without a cut. */
export function findKeptShare({ duration_seconds: duration, latest_cut: cut }: Recording): number | null {
  const seconds = Number(duration ?? 0);
  const kept = cut?.kept_duration ?? null;
  return kept === null || seconds <= 0 ? null : Math.min(1, kept / seconds);
}

const MIN_FRAME_PIXELS = 16;
const MAX_FRAME_PIXELS = 320;

/** Returns the number of pictures of a filmstrip, which has the size of `image`, of a recording. */
export function countFrames(
  { naturalWidth, naturalHeight }: Pick<HTMLImageElement, "naturalWidth" | "naturalHeight">,
  { width, height }: Pick<Recording, "width" | "height">,
): number {
  if (!width || !height) return 1;
  const frame = Math.max(MIN_FRAME_PIXELS, Math.min(MAX_FRAME_PIXELS, (width * naturalHeight) / height));
  return Math.max(1, Math.round(naturalWidth / frame));
}
