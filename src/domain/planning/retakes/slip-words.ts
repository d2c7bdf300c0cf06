/** Words at the end of a take that the retake lacks: a slip of the tongue, or the ending of another sentence. */
import { fromSeconds } from "../../time";
import { endsSentence, MIN_RESTART_PAUSE_TICKS, pauseBefore } from "../tokens";
import { isFragment } from "./broken-off-words";
import { isContentWord } from "./different-words";
import { MIN_LONG_MATCH_WORDS, type Repetition, type RetakeContext } from "./repetition";

/** Words this close continue the previous words. */
const MAX_ATTACHED_PAUSE_TICKS = fromSeconds(0.3);
const MAX_SLIP_WORDS = 2;
/** Minimum confidence in the ending of a complete sentence. */
const SURE_ENDING_CONFIDENCE = 0.7;
/** Words that leave a phrase unfinished before a pause. */
const DANGLING_WORDS = new Set(["a", "an", "the", "my", "your", "our", "their", "and", "or", "but", "than"]);
/** Minimum number of words that a take and its retake have in common if the take stops at such a word. */
const MIN_WORDS_BEFORE_DANGLING = 4;
const MIN_PAUSE_AFTER_DANGLING_TICKS = fromSeconds(0.3);

/**
 * Returns how many of the words in between belong to the take: one or two that continue it without matching and end at
 * a pause. They are interrupted if they resemble the start of the next word or the recognizer was unsure of them. More
 * words belong to the take if it stops before a word that must follow. Returns `other` if the take may be a separate
 * sentence that differs only there.
 */
export function countSlipWords(
  context: RetakeContext,
  repetition: Repetition,
  between: readonly number[],
): number | "other" {
  const { tokens, words } = context;
  let count = 0;
  for (const i of between) {
    if (tokens[i]!.start - tokens[i - 1]!.end >= MAX_ATTACHED_PAUSE_TICKS) break;
    count++;
  }
  if (count === 0) return 0;
  const last = between[count - 1]!;
  const after = tokens[last + 1];
  if (count === between.length && isDangling(context, repetition, last)) return count;
  if (count > MAX_SLIP_WORDS || (after && after.start - tokens[last]!.end < MIN_RESTART_PAUSE_TICKS)) return "other";
  const at = repetition.retakeStart + repetition.matched;
  const size = repetition.end - repetition.from;
  if (!tokens[at] || size < 2 || endsSentence(words[tokens[at - 1]!.word]!.text)) return "other";
  if (isFragment(context, { from: between[0]!, to: last + 1 }, repetition)) return count;
  if (isCompleteEnding(context, between.slice(0, count))) return "other";
  let more = 1;
  while (tokens[at + more] && more <= count && !endsSentence(words[tokens[at + more - 1]!.word]!.text)) more++;
  return size >= MIN_LONG_MATCH_WORDS && more > count ? count : "other";
}

/** Returns whether words end a sentence with a clear content word: the take is complete, and the retake differs. */
function isCompleteEnding({ tokens, words }: RetakeContext, ending: readonly number[]): boolean {
  const isSure = (i: number) =>
    isContentWord(tokens[i]!.normal) && words[tokens[i]!.word]!.confidence >= SURE_ENDING_CONFIDENCE;
  return ending.some(isSure) && endsSentence(words[tokens[ending[ending.length - 1]!]!.word]!.text);
}

/** Returns whether a phrase that stops at this normalized word is unfinished. */
export const isDanglingWord = (normal: string): boolean => DANGLING_WORDS.has(normal);

/** Returns whether the take stops at a word that never ends a phrase, with enough matching words before it. */
function isDangling({ tokens }: RetakeContext, { from, end, retakeStart }: Repetition, last: number): boolean {
  return (
    isDanglingWord(tokens[last]!.normal) &&
    end - from >= Math.max(MIN_WORDS_BEFORE_DANGLING, last - end + 1) &&
    pauseBefore(tokens, retakeStart) >= MIN_PAUSE_AFTER_DANGLING_TICKS
  );
}
