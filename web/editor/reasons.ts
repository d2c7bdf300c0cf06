/**
 * Names, icons and explanations of the removal reasons, in the order of the chips, and texts about removed spans and
 * items of a review.
 */

import type { RemovalRule, ReviewRule } from "../../src/domain/planning/rules";
import { trimPunctuation } from "../../src/domain/vocabulary/entries";
import { formatCount, formatDecimal } from "../app/format";
import type { IconName } from "../ui/icon";
import { type Range, type RemovalReason, type RemovedSpan, toSeconds } from "./model/plan";
import type { ReviewItem } from "./model/review-queue";
import { findWordsIn } from "./model/words";
import type { Editor } from "./state/editor-state";

export const REASON_NAMES: Record<RemovalReason, string> = {
  silence: "Pause",
  filler: "Filler",
  retake: "Retake",
  off_script: "Off script",
  noise: "Noise",
  manual: "By hand",
};

export const REASONS = Object.keys(REASON_NAMES) as RemovalReason[];

export const REASON_ICONS: Record<RemovalReason, IconName> = {
  silence: "pause",
  filler: "filler",
  retake: "retake",
  off_script: "offScript",
  noise: "noise",
  manual: "byHand",
};

/** Reasons for which marked parts would be removed, by the server's text of the mark. */
const MARKED: Record<string, RemovalReason> = { "maybe a retake": "retake", "differs from the script": "off_script" };

/** Returns whose color and icon a place to review has; null if it belongs to no reason. */
export const getLook = ({ reason, review }: { reason: RemovalReason | null; review: string | null }) =>
  reason ?? MARKED[review ?? ""] ?? null;

const PLURALS: Record<RemovalReason, string> = {
  silence: "pauses",
  filler: "fillers",
  retake: "retakes",
  off_script: "parts off script",
  noise: "noises",
  manual: "removals by hand",
};

/** Returns "pause" or "pauses". */
export const nameCount = (reason: RemovalReason, count: number): string =>
  count === 1 ? PLURALS[reason].replace(/s(?= |$)/, "") : PLURALS[reason];

/** A sentence for each rule that adds something to the reason. */
const RULES: Record<Exclude<RemovalRule, "manual.edit" | "filler.written"> | ReviewRule, string> = {
  "pause.long": "This pause is longer than the limit.",
  "pause.leading": "Nobody speaks before this.",
  "pause.trailing": "Nobody speaks after this.",
  "pause.beside_removed": "This silence lies next to removed words.",
  "filler.unwritten": "This sounds like a filler word, although it is not in the transcript.",
  "filler.spelled_out": "A hum that was transcribed as letters.",
  "filler.within_line": "This sound is not in the line of the script.",
  "filler.wordless_voice": "A voice without words, such as a hum.",
  "stutter.word": "The word is repeated.",
  "false_start.prefix": "The sentence breaks off here and starts again right away.",
  "false_start.inside_phrase": "The sentence breaks off in the middle and starts again.",
  "false_start.broken_off": "The sentence breaks off here and is said again.",
  "false_start.between_takes": "The next take begins with the same words.",
  "false_start.within_line": "The line starts over after this.",
  "retake.after_remark": "The same words are repeated after a remark.",
  "retake.repeated_line": "The line is repeated later, and the later take is complete.",
  "retake.repeated_later": "The same words are repeated later. The words in between stay.",
  "retake.worse_take": "Another take of this line is better.",
  "retake.last_good_take": "A later take of this line is good.",
  "retake.within_take": "The take repeats these words.",
  "remark.between_takes": "A remark between two takes.",
  "off_script.no_line": "These words are not in the script.",
  "off_script.unrecognized": "Unclear speech where the script has no line.",
  "noise.outside_speech": "A sound while nobody speaks.",
  "noise.unvoiced": "A sound that is not a voice.",
  "review.unrecognized_speech": "Somebody speaks here, but the words are not clear.",
  "review.different_words": "The sentence starts again, but with other words.",
  "review.different_sound": "The words are repeated, but sound different.",
  "review.different_ending": "The sentence is said twice with different endings.",
  "review.deliberate_repetition": "The words are repeated, maybe on purpose.",
  "review.other_speaker": "The words are said twice, maybe by two people.",
  "review.list": "The words are repeated, maybe as a list.",
  "review.uncertain_retake": "The words are repeated, and both may be needed.",
  "review.assembled_takes": "This line combines two takes.",
  "review.differs_from_script": "These words differ from the script.",
};

/**
 * Returns the text of a rule. Returns null for rules that are newer than this page, and for rules that add nothing to
 * the reason.
 */
export const describeRule = (rule: string | null): string | null =>
  rule === null ? null : ((RULES as Record<string, string>)[rule] ?? null);

/** Returns the server's note about a kept span as a sentence. */
export const describeReview = (review: string): string => `${review[0]?.toUpperCase() ?? ""}${review.slice(1)}`;

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

const MAX_CHARACTERS = 80;

/** Returns the words in a range, shortened for a list; "" for a range without words. */
export function readExcerpt(editor: Editor, range: Range): string {
  const { from, to } = findWordsIn(editor.words, range);
  const text = editor.texts.value.slice(from, to).filter(Boolean).join(" ");
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
