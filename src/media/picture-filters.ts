/** The filter chains of a chunk: which frames, at which times, in which shape and colour. Pure. */
import type { VideoStream } from "../domain/media";
import type { Chunk } from "../domain/render-plan";
import { type FrameTimes, frameCount, frameTime, type Rational, TICKS_PER_SECOND, type Ticks } from "../domain/time";
import { secondsText } from "./arguments";

/** Halfway between a frame and the one before it, so that a decoder's rounding never matters. */
export function beforeFrame(frames: FrameTimes, n: number): Ticks {
  const step = (frames.rate.den * TICKS_PER_SECOND) / frames.rate.num;
  const before = n > 0 ? frameTime(frames, n - 1) : frameTime(frames, 0) - step;
  const at = n < frameCount(frames) ? frameTime(frames, n) : frameTime(frames, n - 1) + step;
  return Math.round((before + at) / 2);
}

/** Only the frames of the pieces; ffmpeg stops reading after the last one. */
export function selectFilters(chunk: Chunk, frames: FrameTimes): string[] {
  const span = (piece: { from: number; to: number }) =>
    [secondsText(beforeFrame(frames, piece.from)), secondsText(beforeFrame(frames, piece.to))] as const;
  const [start] = span(chunk.pieces[0]!);
  const [, end] = span(chunk.pieces.at(-1)!);
  const trim = `trim=start=${start}:end=${end}`;
  if (chunk.pieces.length === 1) return [trim];
  const kept = chunk.pieces.map(span).map(([from, to]) => `between(t,${from},${to})`);
  return [trim, `select='${kept.join("+")}'`];
}

/** When the kept frames are shown in the chunk. */
export type Timing =
  /** One after the other at the source's constant rate. */
  | { kind: "counted"; rate: Rational }
  /** As far apart as in the source. */
  | { kind: "timed"; timescale: number }
  /** Sampled at another rate: `count` frames, the first one `phase` after the chunk's start. */
  | { kind: "resampled"; rate: Rational; phase: Ticks; count: number };

export function timingFilters(chunk: Chunk, frames: FrameTimes, timing: Timing): string[] {
  if (timing.kind === "counted") {
    const { num, den } = timing.rate;
    return [`settb=${den}/${num}`, "setpts=N", `fps=${num}/${den}`];
  }
  if (timing.kind === "timed")
    return [`settb=1/${timing.timescale}`, `setpts='round((${outTimeExpression(chunk, frames, 0)})/TB)'`];
  const { num, den } = timing.rate;
  return [
    "settb=1/1000000",
    `setpts='round((${outTimeExpression(chunk, frames, timing.phase)})/TB)'`,
    `fps=${num}/${den}:start_time=0:round=near`,
    "tpad=stop_mode=clone:stop_duration=2",
  ];
}

/** Seconds after the chunk's start (and `phase`) at which a frame of source time `T` is shown. */
function outTimeExpression(chunk: Chunk, frames: FrameTimes, phase: Ticks): string {
  const shift = (n: number) => {
    const piece = chunk.pieces[n]!;
    return piece.outStart - chunk.outStart - phase - piece.sourceStart;
  };
  let expression = `T+(${secondsText(shift(chunk.pieces.length - 1))})`;
  for (let n = chunk.pieces.length - 2; n >= 0; n--) {
    const until = secondsText(beforeFrame(frames, chunk.pieces[n]!.to));
    expression = `if(lt(T,${until}),T+(${secondsText(shift(n))}),${expression})`;
  }
  // The first frame also stands for what comes before it in the source.
  return phase === 0 ? `if(eq(N,0),0,${expression})` : expression;
}

/** Shown size, square pixels, progressive. Rotation is ffmpeg's own business: it turns the picture before these filters. */
export function shapeFilters(video: VideoStream, size: { width: number; height: number }): string[] {
  const turned = video.rotation === 90 || video.rotation === 270;
  const stored = turned
    ? { width: video.codedHeight, height: video.codedWidth }
    : { width: video.codedWidth, height: video.codedHeight };
  const square = video.pixelAspect.num === video.pixelAspect.den;
  const same = stored.width === size.width && stored.height === size.height;
  const oddEdge =
    square && stored.width - size.width <= 1 && stored.height - size.height <= 1 && stored.width >= size.width;
  const range = video.color.range === "pc" ? ":in_range=pc:out_range=tv" : "";
  if (same && square) return range === "" ? [] : [`scale=${range.slice(1)}`];
  if (oddEdge && stored.height >= size.height)
    return [`crop=${size.width}:${size.height}:0:0`, ...(range === "" ? [] : [`scale=${range.slice(1)}`])];
  return [`scale=${size.width}:${size.height}:flags=bicubic${range}`, "setsar=1"];
}

/** Weaves no fields into frames; before any frame is left out, since it looks at the neighbours. */
export const deinterlaceFilters = (video: VideoStream): string[] => (video.interlaced ? ["yadif=0:-1:0"] : []);
