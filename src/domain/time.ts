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

/** Formats seconds in the largest unit that holds them exactly: `1 hour`, `90 minutes`. */
export function formatDuration(seconds: number): string {
  const units = [
    [3600, "hour"],
    [60, "minute"],
    [1, "second"],
  ] as const;
  const [unit, name] = units.find(([length]) => seconds >= length && seconds % length === 0) ?? units[2];
  const count = seconds / unit;
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

/**
 * When each frame of a video is shown, on the source's clock, in display order.
 * `constant`: frame n is shown at `first + n / rate`; `listed`: the presentation time of every frame (variable frame rate).
 * `end` is when the last frame stops being shown.
 */
export type FrameTimes =
  | { kind: "constant"; rate: Rational; first: Ticks; count: number }
  | { kind: "listed"; rate: Rational; times: Float64Array; end: Ticks };

/** The rates that cameras and screens use, besides whole numbers. */
const BROADCAST_RATES: readonly Rational[] = [24_000, 30_000, 48_000, 60_000, 120_000].map((num) => ({
  num,
  den: 1001,
}));

/**
 * The frame times of a clip from when its frames are shown (ticks, ascending, at least one) and when the last one ends: `constant` when a
 * standard rate, or the mean one, meets every time within `tolerance` (the container's own rounding).
 */
export function toFrameTimes(times: Float64Array, end: Ticks, tolerance: Ticks): FrameTimes {
  const count = times.length;
  const first = times[0]!;
  const span = count > 1 ? times[count - 1]! - first : Math.max(1, end - first);
  const mean = (Math.max(1, count - 1) * TICKS_PER_SECOND) / Math.max(1, span);
  // A whole frame left out is no rounding.
  const rounding = Math.min(tolerance, (0.3 * TICKS_PER_SECOND) / mean);
  const rate = listNearbyRates(mean).find((candidate) => matchesRate(times, candidate, rounding));
  if (rate !== undefined) return { kind: "constant", rate, first, count };
  return { kind: "listed", rate: toRational(mean), times, end: Math.max(end, times[count - 1]! + 1) };
}

/** Standard rates close to a measured one, nearest first, then the measured one itself. */
function listNearbyRates(mean: number): Rational[] {
  const near = [
    ...BROADCAST_RATES,
    { num: Math.max(1, Math.round(mean)), den: 1 },
    { num: Math.round(mean * 2), den: 2 },
  ];
  const distance = (rate: Rational) => Math.abs(rate.num / rate.den - mean);
  return [
    ...near.filter((rate) => rate.num > 0 && distance(rate) < mean * 0.1).sort((a, b) => distance(a) - distance(b)),
    toRational(mean),
  ].map(lowestTerms);
}

/** Whether every time lies on the grid of a rate that goes through the best first time. */
function matchesRate(times: Float64Array, rate: Rational, tolerance: Ticks): boolean {
  const step = (rate.den * TICKS_PER_SECOND) / rate.num;
  const first = times[0]!;
  for (let n = 0; n < times.length; n++) if (Math.abs(times[n]! - first - n * step) > tolerance) return false;
  return true;
}

function toRational(value: number): Rational {
  return lowestTerms({ num: Math.max(1, Math.round(value * 1000)), den: 1000 });
}

function lowestTerms({ num, den }: Rational): Rational {
  let a = num;
  let b = den;
  while (b > 0) [a, b] = [b, a % b];
  return { num: num / a, den: den / a };
}

/** How many frames there are. */
export const getFrameCount = (frames: FrameTimes): number =>
  frames.kind === "constant" ? frames.count : frames.times.length;

/** When frame `n` is shown; for `n` at or past the count, when the last frame ends. */
export function getFrameTime(frames: FrameTimes, n: number): Ticks {
  if (frames.kind === "listed") return n >= frames.times.length ? frames.end : frames.times[Math.max(0, n)]!;
  const at = Math.min(Math.max(0, n), frames.count);
  return frames.first + Math.round((at * frames.rate.den * TICKS_PER_SECOND) / frames.rate.num);
}

/** The last frame shown at or before `time`; 0 when `time` is before the first frame. */
export function getFrameAtOrBefore(frames: FrameTimes, time: Ticks): number {
  return Math.max(0, findFirstFrame(frames, (shown) => shown > time) - 1);
}

/** The first frame shown at or after `time`; the frame count when there is none. */
export function getFrameAtOrAfter(frames: FrameTimes, time: Ticks): number {
  return findFirstFrame(frames, (shown) => shown >= time);
}

function findFirstFrame(frames: FrameTimes, holds: (shown: Ticks) => boolean): number {
  let low = 0;
  let high = getFrameCount(frames);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(getFrameTime(frames, middle))) high = middle;
    else low = middle + 1;
  }
  return low;
}
