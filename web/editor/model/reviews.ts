/** The spans that need review. Pure. */
import type { EditorPlan, KeptSpan } from "./plan";

export type Review = KeptSpan & { review: string };

export const listReviews = ({ spans }: EditorPlan): Review[] =>
  spans.filter((span): span is Review => span.isKept && span.review !== null);

/** Returns the next or previous span to review from a time. Wraps around at the ends. */
export function findNextReview(reviews: readonly Review[], time: number, direction: 1 | -1): Review | null {
  if (reviews.length === 0) return null;
  if (direction === 1) return reviews.find(({ start }) => start > time) ?? reviews[0]!;
  return reviews.findLast(({ start }) => start < time) ?? reviews.at(-1)!;
}
