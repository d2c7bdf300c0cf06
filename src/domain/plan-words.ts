/** The words of a cut, which its subtitles show. */
import { type PlanJson, planSegments } from "./plan-json";
import type { Word } from "./speech";
import { correctWords } from "./subtitles/corrected-words";
import { spanFromSeconds } from "./time";

/**
 * Returns the transcript's words with the texts of the plan's segments: unclear words are omitted, and corrected ones
 * replaced. Returns null if the plan was made without words. `words` is null without a transcript.
 */
export function listPlanWords(plan: PlanJson, words: readonly Word[] | null): Word[] | null {
  const texts = plan.segments.map(({ text }) => text);
  const usesWords = words !== null && plan.language != null;
  if (!usesWords && texts.every((text) => text === "")) return null;
  const segments = planSegments(plan).map(({ start, end }, i) => ({ start, end, text: texts[i]! }));
  return correctWords(words ?? [], segments, []);
}

/** Returns the words from which an edit starts: those of the cut, and of removed spans with their texts. */
export function listEditableWords(plan: PlanJson, words: readonly Word[] | null): Word[] {
  const removed = plan.removed.map((span) => ({ ...spanFromSeconds(span), text: span.text || null }));
  return correctWords(listPlanWords(plan, words) ?? [], removed, []);
}
