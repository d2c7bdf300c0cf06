/** Builds the timeline from which the export formats are written. */
import type { MediaInfo, VideoStream } from "../media";
import type { PlanJson } from "../plan-json";
import { type FrameTimes, getFrameCount, getFrameTime, type Rational, TICKS_PER_SECOND } from "../time";
import { placeAlternates, placeClips } from "./clips";
import { createFrameGrid, isOnGrid } from "./frame-grid";
import {
  canDropFrames,
  chooseTimelineRate,
  findTimebase,
  findTimelineRate,
  type Timebase,
  toFramesPerSecond,
} from "./frame-rate";
import { createMediaLocation } from "./media-location";
import type { ExportLayout, Timeline, TimelineMedia } from "./model";
import { toOneLine } from "./one-line";
import { parseTimecode, toFrameNumber } from "./timecode";

/** A finished cut: its plan, the probed source, and the source's file name. */
export type TimelineSource = { plan: PlanJson; info: MediaInfo; frames: FrameTimes | null; name: string };
/** `mediaRoot` is the source's folder on the editor's machine. `frameRate` and `dropFrame` null match the source. */
export type TimelineOptions = {
  layout: ExportLayout;
  mediaRoot: string | null;
  frameRate: Rational | null;
  dropFrame: boolean | null;
};

/** Audio recordings have no frame rate. This one is common, and precise enough for audio. */
const AUDIO_ONLY_RATE: Rational = { num: 30, den: 1 };

/** Returns the timeline, or a sentence for the user that says why it cannot be built. */
export function buildTimeline(source: TimelineSource, options: TimelineOptions): Timeline | string {
  const { plan, info, name } = source;
  const frames = info.video && source.frames && getFrameCount(source.frames) > 0 ? source.frames : null;
  const rate = chooseRate(info, frames, options.frameRate);
  const timebase = rate && findTimebase(rate);
  if (!rate || !timebase) return "No editing program supports this frame rate.";
  if (options.dropFrame && !canDropFrames(timebase))
    return "Drop-frame timecode exists only at 29.97 and 59.94 frames per second.";
  const grid = createFrameGrid(info, frames, rate);
  const { clips, markers } = placeClips(plan, grid, options.layout);
  if (clips.length === 0) return "The cut has no segments.";
  const warnings = listFrameRateWarnings(frames, rate);
  const start = parseStartTimecode(info.timecode, getNativeRate(frames, rate), timebase, warnings);
  const dropFrame = options.dropFrame ?? (canDropFrames(timebase) && start?.dropFrame === true);
  if (info.audio.length > 1)
    warnings.push(`Only the first of the source's ${info.audio.length} audio tracks is on the timeline.`);
  return {
    layout: options.layout,
    title: toOneLine(removeExtension(name), 120) || "cut",
    rate,
    timebase,
    dropFrame,
    length: clips.reduce((sum, clip) => sum + clip.length, 0),
    clips,
    alternates: options.layout === "review" ? placeAlternates(plan, grid) : [],
    markers,
    media: {
      ...createMediaLocation(options.mediaRoot, name),
      ...describeMedia(info, frames, rate, grid.length),
      name,
      start: start ?? { frame: 0, nativeFrame: 0, dropFrame },
    },
    warnings,
  };
}

/** Returns a file name without its extension. */
export const removeExtension = (name: string): string => name.replace(/(?<=.)\.[^.\s]{1,10}$/u, "");

function chooseRate(info: MediaInfo, frames: FrameTimes | null, requested: Rational | null): Rational | null {
  if (requested) return findTimelineRate(requested);
  if (!info.video) return AUDIO_ONLY_RATE;
  return chooseTimelineRate(frames?.rate ?? info.video.frameRate, frames?.kind === "listed" || info.video.variable);
}

function listFrameRateWarnings(frames: FrameTimes | null, rate: Rational): string[] {
  if (!frames) return [];
  const warnings: string[] = [];
  const rateText = Number(toFramesPerSecond(rate).toFixed(3));
  if (frames.kind === "listed")
    warnings.push(
      `The source has a variable frame rate. The timeline has ${rateText} frames per second, so cuts may be off by one frame.`,
    );
  else if (!isOnGrid(frames, rate))
    warnings.push(
      `The timeline has ${rateText} frames per second and the source does not, so cuts may be off by one frame.`,
    );
  const delaySeconds = getFrameTime(frames, 0) / TICKS_PER_SECOND;
  if (delaySeconds * toFramesPerSecond(rate) >= 1)
    warnings.push(`Video starts ${delaySeconds.toFixed(2)} s after audio: check the sync.`);
  return warnings;
}

type DescribedMedia = Pick<TimelineMedia, "rate" | "length" | "nativeLength" | "video" | "audio">;

function describeMedia(
  { video, audio }: MediaInfo,
  frames: FrameTimes | null,
  rate: Rational,
  length: number,
): DescribedMedia {
  const nativeRate = getNativeRate(frames, rate);
  const audioStream = audio[0];
  return {
    rate: nativeRate,
    length,
    nativeLength: frames?.kind === "constant" && nativeRate === frames.rate ? frames.count : length,
    video: video && { width: video.width, height: video.height, colorSpace: findColorSpace(video) },
    audio: audioStream
      ? { channels: Math.max(1, audioStream.channels), sampleRate: audioStream.sampleRate || 48_000 }
      : null,
  };
}

/** Returns the file's rate if it is constant and has a timebase; otherwise the timeline's rate. */
const getNativeRate = (frames: FrameTimes | null, rate: Rational): Rational =>
  frames?.kind === "constant" && findTimebase(frames.rate) ? frames.rate : rate;

/**
 * Parses the file's start timecode, which counts at the file's rate. On a timeline with another rate, hours, minutes
 * and seconds stay, and frames are scaled, as in editors.
 */
function parseStartTimecode(
  label: string | null,
  nativeRate: Rational,
  timebase: Timebase,
  warnings: string[],
): TimelineMedia["start"] | null {
  if (label === null) return null;
  const parts = parseTimecode(label);
  const nativeTimebase = findTimebase(nativeRate)!;
  if (!parts || parts.frames >= nativeTimebase.base) {
    warnings.push("The source's start timecode is invalid at its frame rate and was ignored.");
    return null;
  }
  const nativeDropFrame = parts.dropFrame && canDropFrames(nativeTimebase);
  const dropFrame = nativeDropFrame && canDropFrames(timebase);
  const scaled = Math.floor((parts.frames * timebase.base) / nativeTimebase.base);
  return {
    frame: toFrameNumber({ ...parts, frames: scaled }, { base: timebase.base, dropFrame }),
    nativeFrame: toFrameNumber(parts, { base: nativeTimebase.base, dropFrame: nativeDropFrame }),
    dropFrame,
  };
}

/** Returns the color space in FCPXML's notation; null for the editor's default. */
function findColorSpace({ color }: VideoStream): string | null {
  if (color.transfer === "arib-std-b67") return "9-18-9 (Rec. 2020 HLG)";
  if (color.transfer === "smpte2084") return "9-16-9 (Rec. 2020 PQ)";
  if (color.primaries === "bt2020") return "9-1-9 (Rec. 2020)";
  return color.primaries === "bt709" ? "1-1-1 (Rec. 709)" : null;
}
