/** Takes that stop inside a word, or after words that the retake lacks: a slip, or the ending of another sentence. */

import type { Ticks } from "../../time";
import { ACTIVITY } from "../activity-thresholds";
import { COMMON } from "../common-thresholds";
import { isContentWord, isDanglingWord } from "../lexicon/lexicon";
import { endsPhrase, endsSentence, pauseBefore, type TokenRange } from "../tokens";
import { isRemark, isUnclear } from "./remarks";
import { listKept, listTokens, type Repetition, type RetakeContext } from "./repetition";
import { RETAKES } from "./thresholds";

/**
 * Returns whether the words of a range, which follow the matching words of a take, are the start of the expected word,
 * or words that the recognizer was unsure of: on average, and none of which was surely said.
 */
export function isFragment(
  context: RetakeContext,
  { from: first, to }: TokenRange,
  { from, retakeStart, matched }: Pick<Repetition, "from" | "retakeStart" | "matched">,
): boolean {
  const { tokens, distanceBetween } = context;
  if (first >= to) return false;
  const whole = tokens[retakeStart + matched]?.normal ?? "";
  const fragment = tokens[first]!.normal;
  if (whole.startsWith(fragment)) return true;
  if (
    fragment.length >= RETAKES.minPrefixCharacters &&
    whole.startsWith(fragment.slice(0, RETAKES.minPrefixCharacters))
  )
    return true;
  if (distanceBetween(fragment, whole) <= RETAKES.maxSameWordDistance) return true;
  const others = listTokens(first, to);
  if (!isUnclear(context, others) || others.some((i) => isSure(context, i))) return false;
  if (matched >= RETAKES.minLongMatchWords || isAnnounced(context, to, retakeStart)) return true;
  return !isAsLongAsRetake(context, from, tokens[to - 1]!.end, retakeStart, matched);
}

const isSure = ({ tokens, words }: RetakeContext, i: number): boolean =>
  words[tokens[i]!.word]!.confidence >= COMMON.sureWordConfidence;

/** Returns whether a remark about the recording precedes the retake. */
function isAnnounced(context: RetakeContext, from: number, retakeStart: number): boolean {
  const between = listKept(context.removed, from, retakeStart);
  return between.length > 0 && isRemark(context, between);
}

/** Returns whether a take is as long as the retake's phrase. It then was not interrupted, but ends differently. */
function isAsLongAsRetake(
  { tokens, words }: RetakeContext,
  from: number,
  end: Ticks,
  retakeStart: number,
  matched: number,
): boolean {
  const continues = (i: number) =>
    tokens[i + 1] !== undefined &&
    !endsPhrase(words[tokens[i]!.word]!.text) &&
    tokens[i + 1]!.start - tokens[i]!.end < ACTIVITY.minRestartPause;
  let last = retakeStart + matched;
  while (continues(last)) last++;
  if (!tokens[last]) return false;
  return end - tokens[from]!.start >= RETAKES.minCompleteShare * (tokens[last]!.end - tokens[retakeStart]!.start);
}

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
    if (tokens[i]!.start - tokens[i - 1]!.end >= COMMON.minTakePause) break;
    count++;
  }
  if (count === 0) return 0;
  const last = between[count - 1]!;
  const after = tokens[last + 1];
  if (count === between.length && isDangling(context, repetition, last)) return count;
  const maxWords = isUnclear(context, between.slice(0, count)) ? RETAKES.maxShortPhraseWords : COMMON.maxSlipWords;
  if (count > maxWords || (after && after.start - tokens[last]!.end < ACTIVITY.minRestartPause)) return "other";
  const at = repetition.retakeStart + repetition.matched;
  const size = repetition.end - repetition.from;
  if (!tokens[at] || size < 2 || endsSentence(words[tokens[at - 1]!.word]!.text)) return "other";
  if (isFragment(context, { from: between[0]!, to: last + 1 }, repetition)) return count;
  if (isCompleteEnding(context, between.slice(0, count))) return "other";
  let more = 1;
  while (tokens[at + more] && more <= count && !endsSentence(words[tokens[at + more - 1]!.word]!.text)) more++;
  return size >= RETAKES.minLongMatchWords && more > count ? count : "other";
}

/** Returns whether words end a sentence with a clear content word: the take is complete, and the retake differs. */
function isCompleteEnding({ tokens, words, lexicon }: RetakeContext, ending: readonly number[]): boolean {
  const isSure = (i: number) =>
    isContentWord(tokens[i]!.normal, lexicon) && words[tokens[i]!.word]!.confidence >= RETAKES.sureEndingConfidence;
  return ending.some(isSure) && endsSentence(words[tokens[ending[ending.length - 1]!]!.word]!.text);
}

/** Returns whether the take stops at a word that never ends a phrase, with enough matching words before it. */
function isDangling({ tokens, lexicon }: RetakeContext, { from, end, retakeStart }: Repetition, last: number): boolean {
  return (
    isDanglingWord(tokens[last]!.normal, lexicon) &&
    end - from >= Math.max(COMMON.minSureMatchWords, last - end + 1) &&
    pauseBefore(tokens, retakeStart) >= COMMON.minTakePause
  );
}
