/** The words of a cut: what its subtitles show. */
import { type PlanJson, planSegments } from "./plan-json";
import type { Word } from "./speech";
import { correctWords } from "./subtitles/corrected-words";
import { fromSeconds } from "./time";

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

/** Returns the words that an edit of the plan starts from: those of the cut, and of removed spans as their texts have them. */
export function listEditableWords(plan: PlanJson, words: readonly Word[] | null): Word[] {
  const removed = plan.removed.map(({ start, end, text }) => ({
    start: fromSeconds(start),
    end: fromSeconds(end),
    text: text === "" ? null : text,
  }));
  return correctWords(listPlanWords(plan, words) ?? [], removed, []);
}
