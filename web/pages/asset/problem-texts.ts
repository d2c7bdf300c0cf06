/** Advice for failed recordings and cuts. */

const ASSET_ADVICE: Record<string, string> = {
  unsupported_media: "Convert the file to MP4, MOV, WAV or MP3, and upload it again.",
  corrupt_media: "The file is damaged. Copy it from the camera or recorder again, and upload it again.",
  no_media_streams: "Upload a file that has video or audio.",
  media_limits_exceeded: "Divide the recording or reduce its size, and upload it again.",
  processing_failed: "Upload the recording again. If it fails again, the server's log has the cause.",
};

const CUT_ADVICE: Record<string, string> = {
  no_speech: "Check that the recording has a voice on its first audio track, or upload another recording.",
  script_mismatch: "Check that the script belongs to this recording, or clear the field “Script” to cut without one.",
  transcription_unavailable:
    "Clear the field “Script” to cut by pauses alone, or ask the administrator to install a model for the language.",
  storage_full: "Delete recordings or renders that are not needed, and make the cut again.",
  cancelled: "Make the cut again when you need it.",
  processing_failed: "Make the cut again. If it fails again, the server's log has the cause.",
};

export const adviseAsset = (code: string | null): string => ASSET_ADVICE[code ?? ""] ?? ASSET_ADVICE.processing_failed!;
export const adviseCut = (code: string | null): string => CUT_ADVICE[code ?? ""] ?? CUT_ADVICE.processing_failed!;
