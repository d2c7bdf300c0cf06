/** The filter chains of a picture: which frames, at which rate, in which shape. Pure. */
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

/** Halfway between a frame and the one before it, so that a decoder's rounding never matters. The source's clock. */
export function getSeekPointBefore(frames: FrameTimes, n: number): Ticks {
  const step = (frames.rate.den * TICKS_PER_SECOND) / frames.rate.num;
  const before = n > 0 ? getFrameTime(frames, n - 1) : getFrameTime(frames, 0) - step;
  const at = n < getFrameCount(frames) ? getFrameTime(frames, n) : getFrameTime(frames, n - 1) + step;
  return Math.round((before + at) / 2);
}

/** Only the frames of the pieces, by container time; ffmpeg stops reading after the last one. */
export function buildSelectFilters(chunk: RenderChunk, probed: ProbedMedia): string[] {
  const at = (n: number) => formatSeconds(probed.info.startPts + getSeekPointBefore(probed.frames!, n));
  const first = chunk.segments[0]!;
  const last = chunk.segments.at(-1)!;
  const trim = `trim=start=${at(first.from)}:end=${at(last.to)}`;
  if (chunk.segments.length === 1) return [trim];
  const kept = chunk.segments.map((piece) => `between(t,${at(piece.from)},${at(piece.to)})`);
  return [trim, `select='${kept.join("+")}'`];
}

/** What becomes of the kept frames. */
export type FrameTiming =
  /** Every frame once, in order, as if at this constant rate; their real times are given when the chunks are joined. */
  | { kind: "counted"; rate: Rational }
  /** Sampled at a rate: the first one `phase` after the chunk's start. */
  | { kind: "resampled"; rate: Rational; phase: Ticks };

/**
 * Frames one after the other at a rate, whatever times they had: filters, and options of the output. The `fps` filter only names the rate;
 * in old versions it would make up for frames that are missing by repeating the last one, and nobody would know.
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
  if (timing.kind === "counted") return buildSequentialTiming(timing.rate, libavutil).filters;
  return [
    "settb=1/1000000",
    `setpts='round((${formatOutputTimeExpression(chunk, probed, timing.phase)})/TB)'`,
    // Without a frame after it, the last one would be left out when it is nearer to the end than to the grid.
    "tpad=stop_mode=clone:stop=2",
    `fps=${num}/${den}:start_time=0:round=near`,
    "tpad=stop_mode=clone:stop_duration=86400",
  ];
}

/** Seconds after the chunk's start (and `phase`) at which a frame of container time `T` is shown. */
function formatOutputTimeExpression(chunk: RenderChunk, probed: ProbedMedia, phase: Ticks): string {
  const shift = (n: number) => {
    const piece = chunk.segments[n]!;
    return formatSeconds(piece.outputStart - chunk.outputStart - phase - piece.sourceStart - probed.info.startPts);
  };
  let expression = `T+(${shift(chunk.segments.length - 1)})`;
  for (let n = chunk.segments.length - 2; n >= 0; n--) {
    const until = formatSeconds(probed.info.startPts + getSeekPointBefore(probed.frames!, chunk.segments[n]!.to));
    expression = `if(lt(T,${until}),T+(${shift(n)}),${expression})`;
  }
  return expression;
}

/** Shown size, square pixels. Rotation is ffmpeg's own business: it turns the picture before these filters. */
export function buildShapeFilters(video: VideoStream, size: { width: number; height: number }): string[] {
  const turned = video.rotation === 90 || video.rotation === 270;
  const stored = turned
    ? { width: video.codedHeight, height: video.codedWidth }
    : { width: video.codedWidth, height: video.codedHeight };
  const square = video.pixelAspect.num === video.pixelAspect.den;
  const beyond = { width: stored.width - size.width, height: stored.height - size.height };
  const range = video.color.range === "pc" ? ":in_range=pc:out_range=tv" : "";
  const onlyRange = range === "" ? [] : [`scale=${range.slice(1)}`];
  const within = (pixels: number, most: number) => pixels >= 0 && pixels <= most;
  if (square && within(beyond.width, 0) && within(beyond.height, 0)) return onlyRange;
  // One row or column too many for 4:2:0 is cut off rather than smeared over the picture.
  if (square && within(beyond.width, 1) && within(beyond.height, 1))
    return [`crop=${size.width}:${size.height}:0:0`, ...onlyRange];
  return [`scale=${size.width}:${size.height}:flags=bicubic${range}`, "setsar=1"];
}

/** Makes whole frames of fields; before any frame is left out, since it looks at the neighbours. */
export const buildDeinterlaceFilters = (video: VideoStream): string[] => (video.interlaced ? ["yadif=0:-1:0"] : []);
