/** Frame rates with a timebase that editing programs support: integers, and integers times 1000/1001 (NTSC). */
import type { Rational } from "../time";

const INTEGER_RATES = [24, 25, 30, 48, 50, 60, 100, 120];
const NTSC_RATES = [24, 30, 48, 60, 120];
const STANDARD_RATES: readonly Rational[] = [
  ...INTEGER_RATES.map((num) => ({ num, den: 1 })),
  ...NTSC_RATES.map((whole) => ({ num: whole * 1000, den: 1001 })),
];
/** A measured rate this close to a standard one, as a share, counts as that one. */
const MAX_RATE_DEVIATION_SHARE = 0.005;
const MIN_FRAME_RATE_FPS = 10;
const MAX_FRAME_RATE_FPS = 240;

/** The timebase of a rate: `base` frames per second, multiplied by 1000/1001 if `ntsc`. */
export type Timebase = { base: number; ntsc: boolean };

export const toFramesPerSecond = (rate: Rational): number => rate.num / rate.den;

/** Returns whether two rates are equal, regardless of their terms. */
export const isSameRate = (a: Rational, b: Rational): boolean => a.num * b.den === b.num * a.den;

/** Returns the timebase of a rate; null for a rate that timecode cannot count, such as 12.5. */
export function findTimebase(rate: Rational): Timebase | null {
  if (rate.num % rate.den === 0) return { base: rate.num / rate.den, ntsc: false };
  const whole = (rate.num * 1001) / (rate.den * 1000);
  return Number.isInteger(whole) ? { base: whole, ntsc: true } : null;
}

/** Returns whether drop-frame timecode exists for a timebase: only at 29.97 and 59.94. */
export const canDropFrames = ({ base, ntsc }: Timebase): boolean => ntsc && (base === 30 || base === 60);

/**
 * Chooses the rate of a timeline: the recording's own if editors support it, otherwise the standard rate that fits
 * best. For a variable rate, `own` is the mean, and only standard rates are considered.
 */
export function chooseTimelineRate(nativeRate: Rational, variable: boolean): Rational {
  return (
    (variable ? findStandardRate(toFramesPerSecond(nativeRate)) : findTimelineRate(nativeRate)) ??
    STANDARD_RATES.find((rate) => isMultiple(rate, nativeRate)) ??
    STANDARD_RATES.find((rate) => toFramesPerSecond(rate) >= toFramesPerSecond(nativeRate)) ?? { num: 120, den: 1 }
  );
}

/** Returns the timeline rate equal or close to a rate: 2997/100 becomes 30000/1001. Null if editors support none. */
export function findTimelineRate(rate: Rational): Rational | null {
  const value = toFramesPerSecond(rate);
  const counting = findTimebase(rate);
  if (counting && value >= MIN_FRAME_RATE_FPS - 0.1 && value <= MAX_FRAME_RATE_FPS) return toRate(counting);
  return findStandardRate(value);
}

function findStandardRate(value: number): Rational | null {
  const nearest = STANDARD_RATES.reduce((a, b) =>
    Math.abs(toFramesPerSecond(b) - value) < Math.abs(toFramesPerSecond(a) - value) ? b : a,
  );
  return Math.abs(toFramesPerSecond(nearest) - value) <= value * MAX_RATE_DEVIATION_SHARE ? nearest : null;
}

/** Converts a number of frames to the nearest number at another rate. Exact. */
export function convertFrames(frames: number, from: Rational, to: Rational): number {
  if (isSameRate(from, to)) return frames;
  return divideRounded(BigInt(frames) * BigInt(to.num) * BigInt(from.den), BigInt(to.den) * BigInt(from.num));
}

/** Divides and rounds to the nearest integer, with halves rounded up. `b` is positive. */
export function divideRounded(a: bigint, b: bigint): number {
  const twice = 2n * a + b;
  return Number(twice >= 0n ? twice / (2n * b) : -((-twice + 2n * b - 1n) / (2n * b)));
}

const isMultiple = (rate: Rational, nativeRate: Rational) =>
  (rate.num * nativeRate.den) % (rate.den * nativeRate.num) === 0;

const toRate = ({ base, ntsc }: Timebase): Rational => {
  if (!ntsc) return { num: base, den: 1 };
  return { num: base * 1000, den: 1001 };
};
