/** The export formats with the programs that read them, and the formats available for a recording. Pure. */
import type { ExportFormat as TimelineFormat } from "../../../../src/domain/timeline";
import type { TranscriptFormat } from "../../../../src/domain/transcript-text";
import type { Schemas } from "../../../app/api";

type ExportedAsset = Pick<Schemas["AssetDetail"], "type" | "frame_rate" | "has_transcript">;
type ExportedCut = { hasWords: boolean };

export type ExportFormat = TimelineFormat | "srt" | "vtt" | TranscriptFormat;
export const EXPORT_KINDS = ["timeline", "subtitle", "text"] as const;
export type FormatChoice = {
  format: ExportFormat;
  kind: (typeof EXPORT_KINDS)[number];
  /** The program, or the kind of program, that reads the format. */
  program: string;
  /** The name of the format, and who else reads it. */
  details: string;
  /** Whether the file refers to the recording by a path on the editor's machine. */
  hasMediaFolder: boolean;
  /** Whether the timeline has its own frame rate. */
  hasFrameRate: boolean;
  hasTimecode: boolean;
};

const TIMELINE = { kind: "timeline", hasMediaFolder: true, hasFrameRate: true, hasTimecode: true } as const;
const DATA = { kind: "timeline", hasMediaFolder: false, hasFrameRate: false, hasTimecode: false } as const;
const SUBTITLE = { ...DATA, kind: "subtitle" } as const;
const TEXT = { ...DATA, kind: "text" } as const;

export const FORMATS: readonly FormatChoice[] = [
  { ...TIMELINE, format: "fcpxml", program: "Final Cut Pro", details: "FCPXML, also for DaVinci Resolve" },
  { ...TIMELINE, format: "fcp7xml", program: "Premiere Pro", details: "XML, also for DaVinci Resolve" },
  {
    ...TIMELINE,
    format: "otio",
    program: "DaVinci Resolve",
    details: "OpenTimelineIO, also for other tools",
    hasTimecode: false,
  },
  {
    ...TIMELINE,
    format: "edl",
    program: "Avid Media Composer",
    details: "EDL (CMX 3600), for older editors",
    hasMediaFolder: false,
  },
  { ...TIMELINE, format: "mlt", program: "Shotcut, Kdenlive", details: "MLT", hasTimecode: false },
  { ...DATA, format: "csv", program: "Spreadsheets", details: "CSV" },
  { ...DATA, format: "json", program: "Scripts", details: "JSON", hasMediaFolder: true },
  { ...SUBTITLE, format: "srt", program: "YouTube, video players", details: "SRT subtitles, for every editor" },
  { ...SUBTITLE, format: "vtt", program: "Web pages", details: "WebVTT subtitles" },
  { ...TEXT, format: "docx", program: "Word, Google Docs", details: "DOCX" },
  { ...TEXT, format: "md", program: "Notes and wikis", details: "Markdown" },
  { ...TEXT, format: "txt", program: "Anything else", details: "Plain text" },
];

const MAX_EDL_FRAME_RATE = 60;

export const findFormat = (format: ExportFormat): FormatChoice => FORMATS.find((one) => one.format === format)!;

/** Returns why the cut cannot be exported in the format; null if it can. */
export function findObstacle(format: ExportFormat, asset: ExportedAsset, cut: ExportedCut): string | null {
  if (format === "edl" && asset.type !== "video") return "An EDL needs video, and this recording has only audio.";
  if (format === "edl" && asset.frame_rate && asset.frame_rate.num / asset.frame_rate.den > MAX_EDL_FRAME_RATE + 0.5)
    return "An EDL has at most 60 frames per second: choose a lower frame rate below.";
  const needsWords = findFormat(format).kind !== "timeline";
  if (needsWords && !asset.has_transcript) return "The recording has no transcript.";
  if (needsWords && !cut.hasWords) return "The cut was created from pauses alone, without a transcript.";
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
  /** Whether paragraphs of the text begin with their time. */
  hasTimes: boolean;
};

/** Returns the path of the export, relative to the cut, with the options that its format supports. */
export function toExportPath(options: ExportOptions, asset: ExportedAsset): string {
  const choice = findFormat(options.format);
  const query = new URLSearchParams({ format: options.format });
  if (choice.kind === "subtitle") {
    query.set("timeline", options.timeline);
    return `subtitle?${query}`;
  }
  if (choice.kind === "text") {
    if (options.hasTimes) query.set("times", "true");
    return `transcript?${query}`;
  }
  query.set("layout", options.layout);
  const folder = options.mediaFolder.trim();
  if (choice.hasMediaFolder && folder !== "") query.set("media_root", folder);
  if (choice.hasFrameRate && options.frameRate !== "") query.set("frame_rate", options.frameRate);
  if (choice.hasTimecode && options.dropFrame !== "" && canDropFrames(options.frameRate, asset))
    query.set("drop_frame", options.dropFrame);
  return `export?${query}`;
}
