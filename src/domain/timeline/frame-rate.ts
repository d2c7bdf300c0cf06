/** Frame rates that editing programs can count: whole ones, and those slowed by 1000/1001. */
import type { Rational } from "../time";

const WHOLE = [24, 25, 30, 48, 50, 60, 100, 120];
const SLOWED = [24, 30, 48, 60, 120];
const STANDARD: readonly Rational[] = [
  ...WHOLE.map((num) => ({ num, den: 1 })),
  ...SLOWED.map((whole) => ({ num: whole * 1000, den: 1001 })),
];
/** A measured rate this near (as a share) to a standard one is that one. */
const NEAR = 0.005;
const SLOWEST = 10;
const FASTEST = 240;

/** How timecode counts a rate: `base` numbers a second; `slowed` when the rate is base x 1000/1001. */
export type Counting = { base: number; slowed: boolean };

/** Frames per second as a number. */
export const rateValue = (rate: Rational): number => rate.num / rate.den;

/** Whether two rates are the same, however they are written. */
export const sameRate = (a: Rational, b: Rational): boolean => a.num * b.den === b.num * a.den;

/** How a rate is counted; null for one that no timecode can count, such as 12.5. */
export function countingOf(rate: Rational): Counting | null {
  if (rate.num % rate.den === 0) return { base: rate.num / rate.den, slowed: false };
  const whole = (rate.num * 1001) / (rate.den * 1000);
  return Number.isInteger(whole) ? { base: whole, slowed: true } : null;
}

/** Drop-frame timecode exists only at 29.97 and 59.94. */
export const canDropFrames = ({ base, slowed }: Counting): boolean => slowed && (base === 30 || base === 60);

/**
 * The rate that a timeline made of a recording has: its own when an editor can count it, else the standard one that fits best. Of a
 * variable rate `own` is the mean, and only standard ones will do.
 */
export function timelineRateFor(own: Rational, variable: boolean): Rational {
  return (
    (variable ? nearStandard(rateValue(own)) : asTimelineRate(own)) ??
    STANDARD.find((rate) => isMultiple(rate, own)) ??
    STANDARD.find((rate) => rateValue(rate) >= rateValue(own)) ?? { num: 120, den: 1 }
  );
}

/** A rate as a timeline can have it: 2997/100 becomes 30000/1001; null when it is too odd, slow or fast for any. */
export function asTimelineRate(rate: Rational): Rational | null {
  const value = rateValue(rate);
  const counting = countingOf(rate);
  if (counting && value >= SLOWEST - 0.1 && value <= FASTEST) return inLowestTerms(counting);
  return nearStandard(value);
}

function nearStandard(value: number): Rational | null {
  const nearest = STANDARD.reduce((a, b) => (Math.abs(rateValue(b) - value) < Math.abs(rateValue(a) - value) ? b : a));
  return Math.abs(rateValue(nearest) - value) <= value * NEAR ? nearest : null;
}

/** `frames` of one rate, counted in another: the number nearest to the same time. Exact. */
export function convertFrames(frames: number, from: Rational, to: Rational): number {
  if (sameRate(from, to)) return frames;
  return divideRounded(BigInt(frames) * BigInt(to.num) * BigInt(from.den), BigInt(to.den) * BigInt(from.num));
}

/** The nearest whole number to a quotient of whole numbers, halves upwards. `b` is positive. */
export function divideRounded(a: bigint, b: bigint): number {
  const twice = 2n * a + b;
  return Number(twice >= 0n ? twice / (2n * b) : -((-twice + 2n * b - 1n) / (2n * b)));
}

const isMultiple = (rate: Rational, own: Rational) => (rate.num * own.den) % (rate.den * own.num) === 0;

const inLowestTerms = ({ base, slowed }: Counting): Rational => {
  if (!slowed) return { num: base, den: 1 };
  return { num: base * 1000, den: 1001 };
};
