/**
 * The words of a cut, and corrected texts of an edit: the actual words in a span of the recording, regardless of the
 * recognized ones.
 */
import { MAX_FIELD_ERRORS } from "./errors";
import type { EditError } from "./plan-edit";
import { type PlanJson, planSegments } from "./plan-json";
import type { Word } from "./speech";
import { correctWords } from "./subtitles/corrected-words";
import { fromSeconds, type Span, spanFromSeconds, type Ticks, toSeconds } from "./time";

/** A corrected text of a request, in seconds. */
export type EditedText = { start: number; end: number; text: string };

/** Returns the first errors in the texts, which must be sorted and disjoint; empty if there are none. */
export function validateTexts(texts: readonly EditedText[], duration: Ticks): EditError[] {
  const errors: EditError[] = [];
  for (const [index, { start, end }] of texts.entries()) {
    if (errors.length === MAX_FIELD_ERRORS) break;
    const before = texts[index - 1];
    if (fromSeconds(end) > duration)
      errors.push({ index, field: "end", message: `must be within 0 and ${toSeconds(duration)}` });
    else if (fromSeconds(end) <= fromSeconds(start))
      errors.push({ index, field: null, message: "must end after its start" });
    else if (before && fromSeconds(start) < fromSeconds(before.end))
      errors.push({ index, field: null, message: "must not start before the previous text ends" });
  }
  return errors;
}

/** Replaces the words whose middle is in the span of a text with that text. Also returns these spans. */
export function applyTexts(
  words: readonly Word[],
  texts: readonly EditedText[],
): { words: readonly Word[]; spans: Span[] } {
  if (texts.length === 0) return { words, spans: [] };
  const spans = texts.map(spanFromSeconds);
  return { words: correctWords(words, spans, []), spans };
}

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
