/** Answers of a recogniser that was told a text. */
import type { ForcedAlignment } from "../speech";

/** Whether a forced result says anything: a recogniser that cannot force gives no words. */
export const isUsableAlignment = (alignment: ForcedAlignment | null | undefined): alignment is ForcedAlignment =>
  alignment != null && alignment.words.length > 0 && Number.isFinite(alignment.meanLogProb);

/** The best of several readings of one line. */
export function findBestAlignment(results: readonly (ForcedAlignment | undefined)[]): ForcedAlignment | null {
  let best: ForcedAlignment | null = null;
  for (const alignment of results)
    if (isUsableAlignment(alignment) && (!best || alignment.meanLogProb > best.meanLogProb)) best = alignment;
  return best;
}
