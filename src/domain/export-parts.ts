/** The files of each recording in an export of several ones. Pure. */
import { EXPORT_FORMATS } from "./timeline";
import { TRANSCRIPT_FORMATS } from "./transcript-text";

/** Timelines, subtitles and texts of the newest cut of a recording, and the newest render of that. */
export const EXPORT_PARTS = [...EXPORT_FORMATS, "srt", "vtt", ...TRANSCRIPT_FORMATS, "render"] as const;
export type ExportPart = (typeof EXPORT_PARTS)[number];

/** Labels shown to users in place of the API's names. */
export const EXPORT_PART_LABELS: Readonly<Record<ExportPart, string>> = {
  fcpxml: "Final Cut Pro, DaVinci Resolve",
  fcp7xml: "Premiere Pro",
  edl: "EDL",
  otio: "OpenTimelineIO",
  mlt: "Shotcut, Kdenlive",
  csv: "CSV",
  json: "JSON",
  srt: "Subtitles, SRT",
  vtt: "Subtitles, WebVTT",
  txt: "Text",
  md: "Markdown",
  docx: "Word document",
  render: "Newest render",
};

export const MAX_EXPORT_ASSETS = 500;
