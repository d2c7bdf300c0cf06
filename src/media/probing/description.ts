/** Parses ffmpeg's description of a file (`ffmpeg -i`): the bundled build has no ffprobe. Pure. */
import type { AudioStream, VideoStream } from "../../domain/media";

/** `frameRate` is as described, in frames per second. */
export type DescribedVideo = Pick<
  VideoStream,
  | "codec"
  | "pixelFormat"
  | "codedWidth"
  | "codedHeight"
  | "pixelAspect"
  | "rotation"
  | "bitrate"
  | "interlaced"
  | "color"
> & {
  kind: "video";
  frameRate: number | null;
  attachedPicture: boolean;
  language: string | null;
  title: string | null;
};

/** `discrete`: ffmpeg lacks a matrix for mixing the channels. */
export type DescribedAudio = Omit<AudioStream, "index" | "discrete"> & { kind: "audio"; discrete: boolean };

export type MediaDescription = {
  /** In seconds; null if ffmpeg does not know it. */
  durationSeconds: number | null;
  startSeconds: number | null;
  streamCount: number;
  video: DescribedVideo[];
  audio: DescribedAudio[];
  timecode: string | null;
};

const STREAM_LINE =
  /^ {2,4}Stream #0:\d+(?:\[0x[0-9a-f]+\])?(?:\((\w+)\))?: (Video|Audio|Data|Subtitle|Attachment|Unknown)\b:? ?(.*)$/;

/** Parses the lines of standard error, starting with `Input #0`. */
export function parseDescription(lines: readonly string[]): MediaDescription {
  const description: MediaDescription = {
    durationSeconds: null,
    startSeconds: null,
    streamCount: 0,
    video: [],
    audio: [],
    timecode: null,
  };
  let current: DescribedVideo | DescribedAudio | null = null;
  for (const line of lines) {
    const total = /^ {2}Duration: (N\/A|(\d+):(\d\d):(\d\d(?:\.\d+)?))(?:, start: (-?[\d.]+))?/.exec(line);
    if (total !== null) {
      if (total[1] !== "N/A")
        description.durationSeconds = Number(total[2]) * 3600 + Number(total[3]) * 60 + Number(total[4]);
      if (total[5] !== undefined) description.startSeconds = Number(total[5]);
      continue;
    }
    const stream = STREAM_LINE.exec(line);
    if (stream !== null) {
      description.streamCount++;
      const language = stream[1] === undefined || stream[1] === "und" ? null : stream[1];
      current = null;
      if (stream[2] === "Video") {
        current = parseVideo(stream[3]!, language);
        description.video.push(current);
      } else if (stream[2] === "Audio") {
        current = parseAudio(stream[3]!, language);
        description.audio.push(current);
      }
      continue;
    }
    parseDetail(line, description, current);
  }
  return description;
}

function parseDetail(
  line: string,
  description: MediaDescription,
  current: DescribedVideo | DescribedAudio | null,
): void {
  const rotationLine = /displaymatrix: rotation of (-?[\d.]+) degrees/.exec(line);
  if (rotationLine !== null && current?.kind === "video")
    current.rotation = toClockwiseRotation(Number(rotationLine[1]));
  const entry = /^ {4,}(title|timecode)\s*: (.+)$/.exec(line);
  if (entry === null) return;
  if (entry[1] === "title" && current !== null) current.title ??= entry[2]!.trim().slice(0, 256);
  if (entry[1] === "timecode" && /^\d\d:\d\d:\d\d[:;]\d\d$/.test(entry[2]!.trim()))
    description.timecode ??= entry[2]!.trim();
}

/** Returns the rotation of a display matrix, whose angle is counterclockwise and may be slightly inexact. */
function toClockwiseRotation(degrees: number): 0 | 90 | 180 | 270 {
  const quarter = (((Math.round(-degrees / 90) % 4) + 4) % 4) * 90;
  return quarter as 0 | 90 | 180 | 270;
}

function parseVideo(text: string, language: string | null): DescribedVideo {
  const parts = splitOutsideBrackets(text);
  const format = /^([a-z0-9_]+)(?:\((.*)\))?$/.exec(parts[1] ?? "");
  const size = /(?:^|\s)(\d{1,6})x(\d{1,6})(?:\s|$)/.exec(parts.slice(1).join(" ; "));
  const aspect = /SAR (\d+):(\d+)/.exec(text);
  const details = (format?.[2] ?? "").split(", ");
  const sar = aspect === null ? { num: 1, den: 1 } : { num: Number(aspect[1]), den: Number(aspect[2]) };
  return {
    kind: "video",
    codec: parseCodec(text),
    pixelFormat: format === null || format[1] === "none" ? null : format[1]!,
    codedWidth: Number(size?.[1] ?? 0),
    codedHeight: Number(size?.[2] ?? 0),
    pixelAspect: sar.num > 0 && sar.den > 0 ? sar : { num: 1, den: 1 },
    rotation: 0,
    bitrate: findBitrate(parts),
    frameRate: findFrameRate(parts),
    interlaced: details.some((detail) => /^(top|bottom) (first|coded first)/.test(detail)),
    color: parseColor(details),
    attachedPicture: text.includes("(attached pic)") || isStillImage(parseCodec(text), findFrameRate(parts)),
    language,
    title: null,
  };
}

function parseAudio(text: string, language: string | null): DescribedAudio {
  const parts = splitOutsideBrackets(text);
  return {
    kind: "audio",
    codec: parseCodec(text),
    sampleRate: Number(/^(\d+) Hz$/.exec(parts.find((part) => part.endsWith(" Hz")) ?? "")?.[1] ?? 0),
    channels: parseChannelCount(parts[2] ?? ""),
    discrete: isDiscrete(parts[2] ?? ""),
    bitrate: findBitrate(parts),
    language,
    title: null,
  };
}

const parseCodec = (text: string): string => /^[a-z0-9_]+/i.exec(text)?.[0] ?? "unknown";

const NAMED_LAYOUTS: Record<string, number> = {
  mono: 1,
  stereo: 2,
  downmix: 2,
  quad: 4,
  hexagonal: 6,
  octagonal: 8,
  hexadecagonal: 16,
  cube: 8,
  binaural: 2,
};

function parseChannelCount(layout: string): number {
  const numbered = /^(\d+) channels/.exec(layout);
  if (numbered !== null) return Number(numbered[1]);
  const dotted = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(layout);
  if (dotted !== null) return Number(dotted[1]) + Number(dotted[2]) + Number(dotted[3] ?? 0);
  const ambisonic = /^ambisonic (\d+)/.exec(layout);
  if (ambisonic !== null) return (Number(ambisonic[1]) + 1) ** 2;
  return NAMED_LAYOUTS[/^[a-z]+/.exec(layout)?.[0] ?? ""] ?? 2;
}

/**
 * Returns whether ffmpeg cannot mix a layout, or only guessed it from the channel count: files with 16 or 24 channels
 * come from recorders, not from cinemas.
 */
function isDiscrete(layout: string): boolean {
  if (/^(hexadecagonal|22\.2|ambisonic|binaural)/.test(layout)) return true;
  const listed = /^\d+ channels(?: \((.*)\))?/.exec(layout);
  return listed !== null && !isMixable((listed[1] ?? "").split("+"));
}

/** Returns whether ffmpeg's resampler can mix a layout: it needs a front channel and complete left/right pairs. */
function isMixable(speakers: readonly string[]): boolean {
  const other = (name: string) => name.replace(/[LR](?=C?$)/, (side) => (side === "L" ? "R" : "L"));
  return (
    (speakers.includes("FL") || speakers.includes("FC")) && speakers.every((name) => speakers.includes(other(name)))
  );
}

function findBitrate(parts: readonly string[]): number | null {
  for (const part of parts) {
    const rate = /^(\d+) kb\/s/.exec(part);
    if (rate !== null && Number(rate[1]) > 0) return Number(rate[1]) * 1000;
  }
  return null;
}

function findFrameRate(parts: readonly string[]): number | null {
  for (const unit of ["fps", "tbr"]) {
    const rate = new RegExp(`^([\\d.]+)(k?) ${unit}`).exec(parts.find((part) => part.includes(` ${unit}`)) ?? "");
    if (rate !== null && Number(rate[1]) > 0) return Number(rate[1]) * (rate[2] === "k" ? 1000 : 1);
  }
  return null;
}

/** Returns whether a stream is cover art that old ffmpegs do not flag: a still image with the timebase as rate. */
const isStillImage = (codec: string, rate: number | null): boolean =>
  /^(png|mjpeg|gif|bmp|webp|tiff)$/.test(codec) && (rate === null || rate > 1_000);

const RANGES = { tv: "tv", pc: "pc" } as const;

/** Parses `tv, bt709` (all three are the same) or `tv, matrix/primaries/transfer`. */
function parseColor(details: readonly string[]): DescribedVideo["color"] {
  const range = details.map((detail) => RANGES[detail as "tv" | "pc"]).find((found) => found !== undefined) ?? null;
  const components = details.find((detail) => detail.includes("/"))?.split("/");
  const toKnownName = (name: string | undefined) =>
    name === undefined || !/^[a-z0-9-]+$/.test(name) || name === "unknown" || name === "reserved" ? null : name;
  if (components !== undefined)
    return {
      matrix: toKnownName(components[0]),
      primaries: toKnownName(components[1]),
      transfer: toKnownName(components[2]),
      range,
    };
  const single = details.find((detail) => /^(bt|smpte|fcc|gbr|ycgco)/.test(detail));
  return { matrix: toKnownName(single), primaries: toKnownName(single), transfer: toKnownName(single), range };
}

/** Splits at `, ` outside round and square brackets. */
function splitOutsideBrackets(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (let n = 0; n < text.length; n++) {
    const letter = text[n]!;
    if (letter === "(" || letter === "[") depth++;
    if (letter === ")" || letter === "]") depth--;
    if (depth <= 0 && letter === "," && text[n + 1] === " ") {
      parts.push(part);
      part = "";
      n++;
    } else part += letter;
  }
  return [...parts, part];
}
