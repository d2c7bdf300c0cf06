/**
 * How much sound is held against texts for one plan. A script that is far longer than the recording, or that says the same again and
 * again, resembles it in thousands of places, and each of them costs as much as listening.
 */
import type { AlignmentRequest } from "../../speech";
import { fromSeconds, type Ticks } from "../../time";

/** Two to three times the recording is usual. */
const TIMES_THE_RECORDING = 8;
const LEAST = fromSeconds(600);

/** The first of `items` whose requests together stay within the budget of a recording of this length. */
export function fitToBudget<T extends { requests: readonly AlignmentRequest[] }>(
  items: readonly T[],
  duration: Ticks,
): T[] {
  let left = LEAST + TIMES_THE_RECORDING * duration;
  return items.filter(({ requests }) => {
    left -= requests.reduce((sum, { window }) => sum + window.end - window.start, 0);
    return left >= 0;
  });
}
