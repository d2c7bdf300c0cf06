/**
 * Exact time. Inside Offcut a time is an integer number of ticks, and a frame is an index into a clip's frame times;
 * floats of seconds appear only in JSON and in ffmpeg arguments.
 */

/** One tick is a microsecond. Always an integer. */
export type Ticks = number;

/** A half-open span `[start, end)` of the source's clock. */
export type Span = { start: Ticks; end: Ticks };

/** An exact fraction, such as 30000/1001 frames per second. Both parts are positive integers. */
export type Rational = { num: number; den: number };

export const TICKS_PER_SECOND = 1_000_000;

/** Seconds, as a JSON number, from ticks. */
export const toSeconds = (ticks: Ticks): number => ticks / TICKS_PER_SECOND;

/** The nearest tick to a time in seconds. */
export const fromSeconds = (seconds: number): Ticks => Math.round(seconds * TICKS_PER_SECOND);

/**
 * When each frame of a video is shown, on the source's clock, in display order.
 * `constant`: frame n is shown at `first + n / rate`; `listed`: the presentation time of every frame (variable frame rate).
 * `end` is when the last frame stops being shown.
 */
export type FrameTimes =
  | { kind: "constant"; rate: Rational; first: Ticks; count: number }
  | { kind: "listed"; rate: Rational; times: Float64Array; end: Ticks };

/** How many frames there are. */
export const frameCount = (frames: FrameTimes): number =>
  frames.kind === "constant" ? frames.count : frames.times.length;

/** When frame `n` is shown; for `n` at or past the count, when the last frame ends. */
export function frameTime(frames: FrameTimes, n: number): Ticks {
  if (frames.kind === "listed") return n >= frames.times.length ? frames.end : frames.times[Math.max(0, n)]!;
  const at = Math.min(Math.max(0, n), frames.count);
  return frames.first + Math.round((at * frames.rate.den * TICKS_PER_SECOND) / frames.rate.num);
}

/** The last frame shown at or before `time`; 0 when `time` is before the first frame. */
export function frameAtOrBefore(frames: FrameTimes, time: Ticks): number {
  return Math.max(0, firstFrameWhere(frames, (shown) => shown > time) - 1);
}

/** The first frame shown at or after `time`; the frame count when there is none. */
export function frameAtOrAfter(frames: FrameTimes, time: Ticks): number {
  return firstFrameWhere(frames, (shown) => shown >= time);
}

function firstFrameWhere(frames: FrameTimes, holds: (shown: Ticks) => boolean): number {
  let low = 0;
  let high = frameCount(frames);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(frameTime(frames, middle))) high = middle;
    else low = middle + 1;
  }
  return low;
}
