/**
 * Exact time. Times are integer numbers of ticks, and frames are indices into a source's frame times. Seconds as floats
 * appear only in JSON and in ffmpeg arguments.
 */

/** Microseconds. Always an integer. */
export type Ticks = number;

/** A half-open span `[start, end)` on the source's clock. */
export type Span = { start: Ticks; end: Ticks };

/** An exact fraction, such as 30000/1001 frames per second. Both parts are positive integers. */
export type Rational = { num: number; den: number };

export const TICKS_PER_SECOND = 1_000_000;

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Converts ticks to seconds for JSON. */
export const toSeconds = (ticks: Ticks): number => ticks / TICKS_PER_SECOND;

/** Converts seconds to the nearest tick. */
export const fromSeconds = (seconds: number): Ticks => Math.round(seconds * TICKS_PER_SECOND);

/** Returns a copy of a span with its start and end in seconds instead of ticks. */
export const spanToSeconds = <T extends Span>(span: T): T => ({
  ...span,
  start: toSeconds(span.start),
  end: toSeconds(span.end),
});

/** Returns a copy of a span with its start and end in ticks instead of seconds. */
export const spanFromSeconds = <T extends Span>(span: T): T => ({
  ...span,
  start: fromSeconds(span.start),
  end: fromSeconds(span.end),
});

/** Formats ticks as a decimal number of seconds without trailing zeros. */
export const formatDecimalSeconds = (ticks: number): string => {
  const fraction = String(ticks % TICKS_PER_SECOND)
    .padStart(6, "0")
    .replace(/(?<!0)0+$/, "");
  return `${Math.floor(ticks / TICKS_PER_SECOND)}${fraction ? `.${fraction}` : ""}`;
};

/** Formats seconds in the largest unit that represents them exactly: `1 hour`, `90 minutes`. */
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
 * Presentation times of a video's frames on the source's clock, in display order. `constant`: frame n is shown at
 * `first + n / rate`. `listed`: a time for every frame (variable frame rate); `end` is the end of the last frame.
 */
export type FrameTimes =
  | { kind: "constant"; rate: Rational; first: Ticks; count: number }
  | { kind: "listed"; rate: Rational; times: Float64Array; end: Ticks };

/** The standard rates that are not whole numbers. */
const BROADCAST_RATES: readonly Rational[] = [24_000, 30_000, 48_000, 60_000, 120_000].map((num) => ({
  num,
  den: 1001,
}));

/**
 * Returns frame times for presentation times (ticks, ascending, at least one) and the end of the last frame. The result
 * is `constant` if a standard rate, or the mean rate, matches every time within `tolerance` (the rounding of the
 * container).
 */
export function toFrameTimes(times: Float64Array, end: Ticks, tolerance: Ticks): FrameTimes {
  const count = times.length;
  const first = times[0]!;
  const span = count > 1 ? times[count - 1]! - first : Math.max(1, end - first);
  const mean = (Math.max(1, count - 1) * TICKS_PER_SECOND) / Math.max(1, span);
  // A dropped frame must not pass for a rounding error.
  const rounding = Math.min(tolerance, (0.3 * TICKS_PER_SECOND) / mean);
  const rate = listNearbyRates(mean).find((candidate) => matchesRate(times, candidate, rounding));
  if (rate !== undefined) return { kind: "constant", rate, first, count };
  return { kind: "listed", rate: toRational(mean), times, end: Math.max(end, times[count - 1]! + 1) };
}

/** Lists standard rates close to a measured one, nearest first, then the measured one. */
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

/** Returns whether every time is on the grid of a rate that starts at the first time. */
function matchesRate(times: Float64Array, rate: Rational, tolerance: Ticks): boolean {
  const step = (rate.den * TICKS_PER_SECOND) / rate.num;
  const first = times[0]!;
  for (let n = 0; n < times.length; n++) if (Math.abs(times[n]! - first - n * step) > tolerance) return false;
  return true;
}

function toRational(value: number): Rational {
  return lowestTerms({ num: Math.max(1, Math.round(value * 1000)), den: 1000 });
}

export function lowestTerms({ num, den }: Rational): Rational {
  let a = num;
  let b = den;
  while (b > 0) [a, b] = [b, a % b];
  return { num: num / a, den: den / a };
}

export const getFrameCount = (frames: FrameTimes): number =>
  frames.kind === "constant" ? frames.count : frames.times.length;

/** Returns the presentation time of frame `n`. At or beyond the frame count, this is the end of the last frame. */
export function getFrameTime(frames: FrameTimes, n: number): Ticks {
  if (frames.kind === "listed") return n >= frames.times.length ? frames.end : frames.times[Math.max(0, n)]!;
  const at = Math.min(Math.max(0, n), frames.count);
  return frames.first + Math.round((at * frames.rate.den * TICKS_PER_SECOND) / frames.rate.num);
}

/** Returns the last frame shown at or before `time`; 0 if `time` is before the first frame. */
export const getFrameAtOrBefore = (frames: FrameTimes, time: Ticks): number =>
  Math.max(0, findFirst(getFrameCount(frames), (n) => getFrameTime(frames, n) > time) - 1);

/** Returns the first frame shown at or after `time`; the frame count if there is none. */
export const getFrameAtOrAfter = (frames: FrameTimes, time: Ticks): number =>
  findFirst(getFrameCount(frames), (n) => getFrameTime(frames, n) >= time);

/**
 * Returns the first index below `count` for which `isAfter` is true, and all later ones, or `count` if it is true for
 * no index.
 */
export function findFirst(count: number, isAfter: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAfter(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
