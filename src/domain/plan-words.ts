/** The words of a cut: what its subtitles show. */
import { type PlanJson, planSegments } from "./plan-json";
import type { Word } from "./speech";
import { correctWords } from "./subtitles/corrected-words";

/**
 * Returns the transcript's words as the texts of the plan's segments have them: words that were not understood or were corrected are not
 * shown. Null: the plan was made without words. `words` is null without a transcript.
 */
export function listPlanWords(plan: PlanJson, words: readonly Word[] | null): Word[] | null {
  const texts = plan.segments.map(({ text }) => text);
  const usesWords = words !== null && plan.language != null;
  if (!usesWords && texts.every((text) => text === "")) return null;
  const segments = planSegments(plan).map(({ start, end }, i) => ({ start, end, text: texts[i]! }));
  return correctWords(words ?? [], segments, []);
}
