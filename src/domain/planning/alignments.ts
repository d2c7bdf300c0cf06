/** Results of forced alignment. */
import type { ForcedAlignment } from "../speech";

/** Returns whether an alignment has words. A recognizer without forced alignment returns none. */
export const isUsableAlignment = (alignment: ForcedAlignment | null | undefined): alignment is ForcedAlignment =>
  alignment != null && alignment.words.length > 0 && Number.isFinite(alignment.meanLogProb);

/** Returns the best alignment among several readings of a line; null if none is usable. */
export function findBestAlignment(results: readonly (ForcedAlignment | undefined)[]): ForcedAlignment | null {
  let best: ForcedAlignment | null = null;
  for (const alignment of results)
    if (isUsableAlignment(alignment) && (!best || alignment.meanLogProb > best.meanLogProb)) best = alignment;
  return best;
}
