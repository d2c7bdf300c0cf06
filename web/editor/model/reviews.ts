/** The spans that an editor should look at. Pure. */
import type { EditorPlan, KeptSpan } from "./plan";

export type Review = KeptSpan & { review: string };

export const listReviews = ({ spans }: EditorPlan): Review[] =>
  spans.filter((span): span is Review => span.isKept && span.review !== null);

/** Returns the next span to look at after a time, or the one before it; from the end it starts over. */
export function findNextReview(reviews: readonly Review[], time: number, direction: 1 | -1): Review | null {
  if (reviews.length === 0) return null;
  if (direction === 1) return reviews.find(({ start }) => start > time) ?? reviews[0]!;
  return reviews.findLast(({ start }) => start < time) ?? reviews.at(-1)!;
}
