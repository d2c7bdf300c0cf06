/** Texts about items of a review and removed spans. */
import { trimPunctuation } from "../../../src/domain/vocabulary/entries";
import { formatCount, formatDecimal } from "../../app/format";
import { type Range, type RemovedSpan, toSeconds } from "../model/plan";
import type { ReviewItem } from "../model/review-queue";
import { findWordsIn } from "../model/words";
import { describeReview, describeRule, REASON_NAMES } from "../reasons";
import type { Editor } from "../state/editor-state";

const MAX_NAME = 40;

/** Returns "“um”", or "pause" for a range without words. */
export function nameItem(editor: Editor, item: ReviewItem): string {
  const text = readExcerpt(editor, item);
  if (text === "") return titleItem(item);
  return `“${text.length > MAX_NAME ? `${text.slice(0, MAX_NAME).trim()}…` : text}”`;
}

/** Returns the name of the reason, such as "Filler" or "Maybe a retake". */
export const titleItem = ({ kind, reason, review }: ReviewItem): string =>
  kind === "mark" || reason === null ? describeReview(review ?? "to review") : REASON_NAMES[reason];

/** Returns "Filler · “um”" for a removed span of few words, otherwise only the name of the reason. */
export function titleSpan(editor: Editor, span: RemovedSpan): { title: string; isWhole: boolean } {
  const text = trimPunctuation(readExcerpt(editor, span));
  const isWhole = text.length <= MAX_NAME;
  const name = REASON_NAMES[span.reason];
  return { title: isWhole && text !== "" ? `${name} · “${text}”` : name, isWhole };
}

/** Returns "4 words · 1.9 s". */
export function measureRange(editor: Editor, range: Range): string {
  const { from, to } = findWordsIn(editor.words, range);
  const words = editor.texts.value.slice(from, to).filter(Boolean).length;
  const length = `${formatDecimal(toSeconds(range.end - range.start))} s`;
  return words === 0 ? length : `${formatCount(words, "word")} · ${length}`;
}

/** Returns the reason for an item as a sentence, or "". */
export const explainItem = ({ rule }: Pick<ReviewItem, "rule">): string => describeRule(rule) ?? "";

const MAX_CHARACTERS = 80;

/** Returns the words in a range, shortened for a list; "" for a range without words. */
export function readExcerpt(editor: Editor, range: Range): string {
  const { from, to } = findWordsIn(editor.words, range);
  const text = editor.texts.value.slice(from, to).filter(Boolean).join(" ");
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
