/** Answers of a recogniser that was told a text. */
import type { ForcedAlignment } from "../speech";

/** Whether a forced result says anything: a recogniser that cannot force gives no words. */
export const usable = (forced: ForcedAlignment | null | undefined): forced is ForcedAlignment =>
  forced != null && forced.words.length > 0 && Number.isFinite(forced.meanLogProb);

/** The best of several readings of one line. */
export function bestForced(results: readonly (ForcedAlignment | undefined)[]): ForcedAlignment | null {
  let best: ForcedAlignment | null = null;
  for (const forced of results) if (usable(forced) && (!best || forced.meanLogProb > best.meanLogProb)) best = forced;
  return best;
}
