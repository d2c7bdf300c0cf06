/**
 * The words between two takes: those at which a take breaks off (part of a word, a slip, or another ending), and
 * remarks about the recording, such as "one more time", with the retakes that they announce.
 */

import { measureWordDistance } from "../../text/normalize";
import { alignWords } from "../../text/word-alignment";
import type { Ticks } from "../../time";
import { hasRemarkCue, isContentWord, isDanglingWord } from "../lexicon/lexicon";
import { ACTIVITY, COMMON, RETAKES } from "../thresholds";
import { endsPhrase, endsSentence, pauseBefore, type Token, type TokenRange } from "../tokens";
import { listKept, listTokens, type Repetition, type RetakeContext } from "./repetition";

/**
 * Returns whether the words of a range, which follow the matching words of a take, are the start of the expected word,
 * or words that the recognizer was unsure of: on average, and none of which was surely said.
 */
export function isFragment(
  context: RetakeContext,
  { from: first, to }: TokenRange,
  { from, retakeStart, matched }: Pick<Repetition, "from" | "retakeStart" | "matched">,
): boolean {
  const { tokens } = context;
  if (first >= to) return false;
  const whole = tokens[retakeStart + matched]?.normal ?? "";
  const fragment = tokens[first]!.normal;
  if (whole.startsWith(fragment)) return true;
  if (
    fragment.length >= RETAKES.minPrefixCharacters &&
    whole.startsWith(fragment.slice(0, RETAKES.minPrefixCharacters))
  )
    return true;
  if (measureWordDistance(fragment, whole) <= RETAKES.maxSameWordDistance) return true;
  const others = listTokens(first, to);
  if (!isUnclear(context, others) || others.some((i) => isSure(context, i))) return false;
  if (matched >= COMMON.manyWords || isAnnounced(context, to, retakeStart)) return true;
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
  return end - tokens[from]!.start >= COMMON.minCompleteShare * (tokens[last]!.end - tokens[retakeStart]!.start);
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
  return size >= COMMON.manyWords && more > count ? count : "other";
}

/** Returns whether words end a sentence with a clear content word: the take is complete, and the retake differs. */
function isCompleteEnding({ tokens, words, lexicon }: RetakeContext, ending: readonly number[]): boolean {
  const isSure = (i: number) =>
    isContentWord(tokens[i]!.normal, lexicon) && words[tokens[i]!.word]!.confidence >= COMMON.likelyWordConfidence;
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

/** Returns whether tokens are a short remark about the recording: each phrase has a cue such as "sorry", or is tiny. */
export function isRemark(
  { tokens, words, lexicon }: Pick<RetakeContext, "tokens" | "words" | "lexicon">,
  between: readonly number[],
): boolean {
  if (between.length > RETAKES.maxRemarkWords) return false;
  const phrases: string[][] = [];
  for (const [n, i] of between.entries()) {
    const before = between[n - 1];
    const startsPhrase =
      before === undefined ||
      tokens[i]!.start - tokens[before]!.end >= COMMON.minTakePause ||
      endsSentence(words[tokens[before]!.word]!.text);
    if (startsPhrase) phrases.push([]);
    phrases[phrases.length - 1]!.push(tokens[i]!.normal);
  }
  const hasCue = phrases.map((phrase) => hasRemarkCue(phrase.join(" "), lexicon));
  return (
    hasCue.includes(true) && phrases.every((phrase, i) => hasCue[i] || phrase.length <= RETAKES.maxShortPhraseWords)
  );
}

/** Returns whether tokens are a few words that the recognizer was unsure of: most likely another take. */
export function isUnclear({ tokens, words }: RetakeContext, between: readonly number[]): boolean {
  const sum = between.reduce((total, i) => total + words[tokens[i]!.word]!.confidence, 0);
  return between.length <= RETAKES.maxShortPhraseWords && sum < COMMON.minWordConfidence * between.length;
}

/** Returns the take at `from` as a repetition if a remark separates it from a similar retake, otherwise null. */
export function findAnnouncedRepetition(context: RetakeContext, from: number, retakeStart: number): Repetition | null {
  const { tokens, phraseStarts } = context;
  if (!phraseStarts[from] || pauseBefore(tokens, retakeStart) < COMMON.minSentencePause) return null;
  const end = findRemarkStart(tokens, retakeStart);
  if (end <= from) return null;
  const last = findLineEnd(tokens, retakeStart);
  if (!areAboutAsLong(tokens, from, end - 1, retakeStart, last) || !isRemark(context, listTokens(end, retakeStart)))
    return null;
  const take = tokens.slice(from, end).map((token) => token.normal);
  const retake = tokens.slice(retakeStart, last + 1).map((token) => token.normal);
  const { pairs, cost } = alignWords(take, retake, measureWordDistance);
  const same = take.filter(
    (normal, i) => pairs[i]! >= 0 && measureWordDistance(normal, retake[pairs[i]!]!) <= RETAKES.maxSameWordDistance,
  ).length;
  if (same < COMMON.minSameShare * Math.max(take.length, retake.length)) return null;
  const audio = { contradictedByAudio: false, confirmedByAudio: true, alignment: null };
  return { from, end, retakeStart, matched: retake.length, cost, ...audio };
}

/**
 * Returns the sentence at `from` as a repetition if the next one says the same in other words, otherwise null: both
 * stand alone, are about as long, end with the same word, and share half of the content words of one in order, but not
 * the words between them. Sentences of which only content words differ say something else.
 */
export function findRewordedRepetition(context: RetakeContext, from: number, retakeStart: number): Repetition | null {
  const { tokens, words, phraseStarts, lexicon } = context;
  const isAlone = (i: number) => phraseStarts[i] === true && pauseBefore(tokens, i) >= COMMON.minSentencePause;
  if (!isAlone(from) || !isAlone(retakeStart) || !endsSentence(words[tokens[retakeStart - 1]!.word]!.text)) return null;
  const last = findLineEnd(tokens, retakeStart);
  if (
    findLineEnd(tokens, from) !== retakeStart - 1 ||
    !areAboutAsLong(tokens, from, retakeStart - 1, retakeStart, last)
  )
    return null;
  const take = tokens.slice(from, retakeStart).map((token) => token.normal);
  const retake = tokens.slice(retakeStart, last + 1).map((token) => token.normal);
  const isSame = (a: string, b: string | undefined) =>
    b !== undefined && measureWordDistance(a, b) <= RETAKES.maxSameWordDistance;
  if (!isSame(take.at(-1)!, retake.at(-1))) return null;
  const isContent = (normal: string) => isContentWord(normal, lexicon);
  const [content, other] = [take.filter(isContent), retake.filter(isContent)];
  const countSame = (a: string[], b: string[]) => {
    const { pairs } = alignWords(a, b, measureWordDistance);
    return a.filter((normal, i) => isSame(normal, b[pairs[i]!])).length;
  };
  const shared = countSame(content, other);
  const isSaidAgain =
    shared > COMMON.maxSlipWords && shared >= COMMON.minSameShare * Math.min(content.length, other.length);
  if (!isSaidAgain || countSame(take, retake) >= COMMON.minSameShare * Math.max(take.length, retake.length))
    return null;
  const { cost } = alignWords(take, retake, measureWordDistance);
  const audio = {
    contradictedByAudio: false,
    confirmedByAudio: true,
    hasOtherSpelling: true,
    alignment: null,
  } as const;
  return { from, end: retakeStart, retakeStart, matched: retake.length, cost, ...audio };
}

/** Returns the last token before the next long pause. */
function findLineEnd(tokens: readonly Token[], from: number): number {
  let last = from;
  while (last + 1 < tokens.length && last - from < COMMON.maxComparedWords && !endsLine(tokens, last)) last++;
  return last;
}

/** Returns whether the tokens `a` to `aEnd` take about as long as `b` to `bEnd`. */
function areAboutAsLong(tokens: readonly Token[], a: number, aEnd: number, b: number, bEnd: number): boolean {
  const ratio = (tokens[aEnd]!.end - tokens[a]!.start) / (tokens[bEnd]!.end - tokens[b]!.start);
  return Math.min(ratio, 1 / ratio) >= COMMON.minLengthRatio;
}

/** Returns the token after the last long pause before the retake. */
function findRemarkStart(tokens: readonly Token[], retakeStart: number): number {
  let start = retakeStart - 1;
  while (retakeStart - start < RETAKES.maxRemarkWords && pauseBefore(tokens, start) < COMMON.minSentencePause) start--;
  return Math.max(0, start);
}

const endsLine = (tokens: readonly Token[], i: number): boolean =>
  pauseBefore(tokens, i + 1) >= COMMON.minSentencePause;
