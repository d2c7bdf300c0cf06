/** The export formats: the programs that read each one, and what the recording allows. Pure. */
import type { Schemas } from "../../../app/api";

type ExportedAsset = Pick<Schemas["AssetDetail"], "type" | "frame_rate" | "has_transcript">;
type ExportedCut = { hasWords: boolean };

export type ExportFormat = "fcpxml" | "fcp7xml" | "edl" | "otio" | "mlt" | "csv" | "json" | "srt" | "vtt";
export type FormatChoice = {
  format: ExportFormat;
  name: string;
  /** The programs that read the format. */
  readers: string;
  isSubtitle: boolean;
  /** Whether the file refers to the recording by a path on the editor's machine. */
  hasMediaFolder: boolean;
  /** Whether the timeline has its own frame rate. */
  hasFrameRate: boolean;
  hasTimecode: boolean;
};

const TIMELINE = { isSubtitle: false, hasMediaFolder: true, hasFrameRate: true, hasTimecode: true };
const DATA = { isSubtitle: false, hasMediaFolder: false, hasFrameRate: false, hasTimecode: false };

export const FORMATS: readonly FormatChoice[] = [
  { ...TIMELINE, format: "fcpxml", name: "FCPXML", readers: "Final Cut Pro, DaVinci Resolve" },
  { ...TIMELINE, format: "fcp7xml", name: "Premiere Pro", readers: "Premiere Pro, DaVinci Resolve, Final Cut Pro 7" },
  {
    ...TIMELINE,
    format: "edl",
    name: "EDL",
    readers: "Avid Media Composer and every editor that reads CMX 3600",
    hasMediaFolder: false,
  },
  {
    ...TIMELINE,
    format: "otio",
    name: "OpenTimelineIO",
    readers: "DaVinci Resolve, and tools for OpenTimelineIO",
    hasTimecode: false,
  },
  { ...TIMELINE, format: "mlt", name: "MLT", readers: "Shotcut, Kdenlive", hasTimecode: false },
  { ...DATA, format: "csv", name: "CSV", readers: "Spreadsheets" },
  { ...DATA, format: "json", name: "JSON", readers: "Scripts and programs", hasMediaFolder: true },
  { ...DATA, format: "srt", name: "SRT subtitles", readers: "Video players, YouTube, every editor", isSubtitle: true },
  { ...DATA, format: "vtt", name: "WebVTT subtitles", readers: "Web pages and browsers", isSubtitle: true },
];

const MAX_EDL_FRAME_RATE = 60;

/** Returns why the cut cannot be exported in the format; null if it can. */
export function findObstacle(format: ExportFormat, asset: ExportedAsset, cut: ExportedCut): string | null {
  if (format === "edl" && asset.type !== "video") return "An EDL needs video, and this recording has only audio.";
  if (format === "edl" && asset.frame_rate && asset.frame_rate.num / asset.frame_rate.den > MAX_EDL_FRAME_RATE + 0.5)
    return "An EDL has at most 60 frames per second: choose a lower frame rate below.";
  const isSubtitle = format === "srt" || format === "vtt";
  if (isSubtitle && !asset.has_transcript) return "The recording has no transcript.";
  if (isSubtitle && !cut.hasWords) return "The cut was created from pauses alone, without a transcript.";
  return null;
}

/** Returns whether another frame rate would remove the obstacle. */
export const isAboutFrameRate = (format: ExportFormat, asset: ExportedAsset): boolean =>
  format === "edl" && asset.type === "video";

export const FRAME_RATES: readonly string[] = ["23.976", "24", "25", "29.97", "30", "50", "59.94", "60"];

/** Returns whether timecode at this rate can drop frames. An empty `rate` stands for the recording's own. */
export function canDropFrames(rate: string, asset: ExportedAsset): boolean {
  const { num, den } = asset.frame_rate ?? { num: 30, den: 1 };
  const value = rate === "" ? num / den : Number(rate);
  return [29.97, 59.94].some((one) => Math.abs(one - value) < 0.01);
}

export type ExportOptions = {
  format: ExportFormat;
  layout: "tight" | "review";
  mediaFolder: string;
  /** Empty uses the recording's frame rate. */
  frameRate: string;
  /** Empty uses the recording's timecode. */
  dropFrame: "" | "true" | "false";
  timeline: "cut" | "source";
};

/** Returns the path of the export, relative to the cut, with the options that its format supports. */
export function toExportPath(options: ExportOptions, asset: ExportedAsset): string {
  const choice = FORMATS.find(({ format }) => format === options.format)!;
  const query = new URLSearchParams({ format: options.format });
  if (choice.isSubtitle) {
    query.set("timeline", options.timeline);
    return `subtitle?${query}`;
  }
  query.set("layout", options.layout);
  const folder = options.mediaFolder.trim();
  if (choice.hasMediaFolder && folder !== "") query.set("media_root", folder);
  if (choice.hasFrameRate && options.frameRate !== "") query.set("frame_rate", options.frameRate);
  if (choice.hasTimecode && options.dropFrame !== "" && canDropFrames(options.frameRate, asset))
    query.set("drop_frame", options.dropFrame);
  return `export?${query}`;
}
