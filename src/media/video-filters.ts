/** Video filter chains: frame selection, frame rate, size. Pure. */
import type { ProbedMedia, VideoStream } from "../domain/media";
import type { RenderChunk } from "../domain/render-plan";
import {
  type FrameTimes,
  getFrameCount,
  getFrameTime,
  type Rational,
  TICKS_PER_SECOND,
  type Ticks,
} from "../domain/time";
import { formatSeconds } from "./arguments";

/** Returns the time halfway between a frame and the previous one, out of reach of a decoder's rounding. */
export function getSeekPointBefore(frames: FrameTimes, n: number): Ticks {
  const step = (frames.rate.den * TICKS_PER_SECOND) / frames.rate.num;
  const before = n > 0 ? getFrameTime(frames, n - 1) : getFrameTime(frames, 0) - step;
  const at = n < getFrameCount(frames) ? getFrameTime(frames, n) : getFrameTime(frames, n - 1) + step;
  return Math.round((before + at) / 2);
}

/** Returns the filters that select a chunk's frames by container time. ffmpeg stops reading after the last one. */
export function buildSelectFilters(chunk: RenderChunk, probed: ProbedMedia): string[] {
  const at = (n: number) => formatSeconds(probed.info.startPts + getSeekPointBefore(probed.frames!, n));
  const first = chunk.segments[0]!;
  const last = chunk.segments.at(-1)!;
  const trim = `trim=start=${at(first.from)}:end=${at(last.to)}`;
  if (chunk.segments.length === 1) return [trim];
  const selected = chunk.segments.map(({ from, to }) => `between(t,${at(from)},${at(to)})`);
  return [trim, `select='${selected.join("+")}'`];
}

export type FrameTiming =
  /** Every frame once, in order, with sequential times at this rate. Concatenating the chunks sets the real ones. */
  | { kind: "sequential"; rate: Rational }
  /** Resampled to a constant rate, with the first frame `phase` after the chunk's start. */
  | { kind: "resampled"; rate: Rational; phase: Ticks };

/**
 * Returns the filters and output options that number frames sequentially at a rate, regardless of their times. The
 * `fps` filter only sets the nominal rate. In old versions it would silently repeat the last frame in place of missing
 * ones, so these get `-r` instead.
 */
export function buildSequentialTiming(
  { num, den }: Rational,
  libavutil: number,
): { filters: string[]; options: string[] } {
  const filters = [`settb=${den}/${num}`, "setpts=N"];
  if (libavutil >= 57) return { filters: [...filters, `fps=${num}/${den}`], options: [] };
  return { filters, options: ["-r", `${num}/${den}`] };
}

export function buildTimingFilters(
  chunk: RenderChunk,
  probed: ProbedMedia,
  timing: FrameTiming,
  libavutil: number,
): string[] {
  const { num, den } = timing.rate;
  if (timing.kind === "sequential") return buildSequentialTiming(timing.rate, libavutil).filters;
  return [
    "settb=1/1000000",
    `setpts='round((${formatOutputTimeExpression(chunk, probed, timing.phase)})/TB)'`,
    // Without a following frame, the last frame is dropped if it is nearer to the end than to the grid.
    "tpad=stop_mode=clone:stop=2",
    `fps=${num}/${den}:start_time=0:round=near`,
    "tpad=stop_mode=clone:stop_duration=86400",
  ];
}

/** Returns an expression for the output time, relative to the chunk's start and `phase`, of container time `T`. */
function formatOutputTimeExpression(chunk: RenderChunk, probed: ProbedMedia, phase: Ticks): string {
  const shift = (n: number) => {
    const segment = chunk.segments[n]!;
    return formatSeconds(segment.outputStart - chunk.outputStart - phase - segment.sourceStart - probed.info.startPts);
  };
  let expression = `T+(${shift(chunk.segments.length - 1)})`;
  for (let n = chunk.segments.length - 2; n >= 0; n--) {
    const segmentEnd = formatSeconds(probed.info.startPts + getSeekPointBefore(probed.frames!, chunk.segments[n]!.to));
    expression = `if(lt(T,${segmentEnd}),T+(${shift(n)}),${expression})`;
  }
  return expression;
}

/** Returns the filters that convert to the output size with square pixels. ffmpeg applies the rotation before them. */
export function buildShapeFilters(video: VideoStream, size: { width: number; height: number }): string[] {
  const isRotated = video.rotation === 90 || video.rotation === 270;
  const codedSize = isRotated
    ? { width: video.codedHeight, height: video.codedWidth }
    : { width: video.codedWidth, height: video.codedHeight };
  const hasSquarePixels = video.pixelAspect.num === video.pixelAspect.den;
  const excess = { width: codedSize.width - size.width, height: codedSize.height - size.height };
  const range = video.color.range === "pc" ? ":in_range=pc:out_range=tv" : "";
  const onlyRange = range === "" ? [] : [`scale=${range.slice(1)}`];
  const isWithin = (pixels: number, max: number) => pixels >= 0 && pixels <= max;
  if (hasSquarePixels && isWithin(excess.width, 0) && isWithin(excess.height, 0)) return onlyRange;
  // A surplus row or column, which 4:2:0 cannot store, is cropped rather than scaled over the whole frame.
  if (hasSquarePixels && isWithin(excess.width, 1) && isWithin(excess.height, 1))
    return [`crop=${size.width}:${size.height}:0:0`, ...onlyRange];
  return [`scale=${size.width}:${size.height}:flags=bicubic${range}`, "setsar=1"];
}

/** Returns the deinterlacing filter. It must precede frame selection, because it reads the neighboring frames. */
export const buildDeinterlaceFilters = (video: VideoStream): string[] => (video.interlaced ? ["yadif=0:-1:0"] : []);
