/** Frame rates that editing programs can count: whole ones, and those slowed by 1000/1001. */
import type { Rational } from "../time";

const INTEGER_RATES = [24, 25, 30, 48, 50, 60, 100, 120];
const NTSC_RATES = [24, 30, 48, 60, 120];
const STANDARD_RATES: readonly Rational[] = [
  ...INTEGER_RATES.map((num) => ({ num, den: 1 })),
  ...NTSC_RATES.map((whole) => ({ num: whole * 1000, den: 1001 })),
];
/** A measured rate this near (as a share) to a standard one is that one. */
const MAX_STANDARD_DEVIATION = 0.005;
const MIN_FRAME_RATE_FPS = 10;
const MAX_FRAME_RATE_FPS = 240;

/** How timecode counts a rate: `base` numbers a second; `slowed` when the rate is base x 1000/1001. */
export type Timebase = { base: number; ntsc: boolean };

/** Frames per second as a number. */
export const toFramesPerSecond = (rate: Rational): number => rate.num / rate.den;

/** Whether two rates are the same, however they are written. */
export const isSameRate = (a: Rational, b: Rational): boolean => a.num * b.den === b.num * a.den;

/** How a rate is counted; null for one that no timecode can count, such as 12.5. */
export function findTimebase(rate: Rational): Timebase | null {
  if (rate.num % rate.den === 0) return { base: rate.num / rate.den, ntsc: false };
  const whole = (rate.num * 1001) / (rate.den * 1000);
  return Number.isInteger(whole) ? { base: whole, ntsc: true } : null;
}

/** Drop-frame timecode exists only at 29.97 and 59.94. */
export const canDropFrames = ({ base, ntsc: slowed }: Timebase): boolean => slowed && (base === 30 || base === 60);

/**
 * The rate that a timeline made of a recording has: its own when an editor can count it, else the standard one that fits best. Of a
 * variable rate `own` is the mean, and only standard ones will do.
 */
export function chooseTimelineRate(own: Rational, variable: boolean): Rational {
  return (
    (variable ? findStandardRate(toFramesPerSecond(own)) : findTimelineRate(own)) ??
    STANDARD_RATES.find((rate) => isMultiple(rate, own)) ??
    STANDARD_RATES.find((rate) => toFramesPerSecond(rate) >= toFramesPerSecond(own)) ?? { num: 120, den: 1 }
  );
}

/** A rate as a timeline can have it: 2997/100 becomes 30000/1001; null when it is too odd, slow or fast for any. */
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
  return Math.abs(toFramesPerSecond(nearest) - value) <= value * MAX_STANDARD_DEVIATION ? nearest : null;
}

/** `frames` of one rate, counted in another: the number nearest to the same time. Exact. */
export function convertFrames(frames: number, from: Rational, to: Rational): number {
  if (isSameRate(from, to)) return frames;
  return divideRounded(BigInt(frames) * BigInt(to.num) * BigInt(from.den), BigInt(to.den) * BigInt(from.num));
}

/** The nearest whole number to a quotient of whole numbers, halves upwards. `b` is positive. */
export function divideRounded(a: bigint, b: bigint): number {
  const twice = 2n * a + b;
  return Number(twice >= 0n ? twice / (2n * b) : -((-twice + 2n * b - 1n) / (2n * b)));
}

const isMultiple = (rate: Rational, own: Rational) => (rate.num * own.den) % (rate.den * own.num) === 0;

const toRate = ({ base, ntsc: slowed }: Timebase): Rational => {
  if (!slowed) return { num: base, den: 1 };
  return { num: base * 1000, den: 1001 };
};
