/**
 * Bounds the audio that is force-aligned for one plan. A script that is far longer than the recording, or that repeats
 * itself, resembles it in thousands of places, each of which costs as much as transcribing it.
 */
import type { AlignmentRequest } from "../../speech";
import { fromSeconds, type Ticks } from "../../time";

/** Two to three times the duration of the recording is usual. */
const MAX_TIMES_DURATION = 8;
const MIN_BUDGET_TICKS = fromSeconds(600);

/** Returns the first of `items` whose requests together fit the budget for a recording of this duration. */
export function fitToBudget<T extends { requests: readonly AlignmentRequest[] }>(
  items: readonly T[],
  duration: Ticks,
): T[] {
  let left = MIN_BUDGET_TICKS + MAX_TIMES_DURATION * duration;
  return items.filter(({ requests }) => {
    left -= requests.reduce((sum, { window }) => sum + window.end - window.start, 0);
    return left >= 0;
  });
}
