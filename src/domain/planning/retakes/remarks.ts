/** Remarks about the recording between two takes, such as "one more time", and the retakes that they announce. */

import { alignWords } from "../../text/word-alignment";
import { COMMON } from "../common-thresholds";
import { hasRemarkCue } from "../lexicon/lexicon";
import { endsSentence, pauseBefore, type Token } from "../tokens";
import { listTokens, type Repetition, type RetakeContext } from "./repetition";
import { RETAKES } from "./thresholds";

/** Returns whether tokens are a short remark about the recording: each phrase has a cue such as "sorry", or is tiny. */
export function isRemark({ tokens, words, lexicon }: RetakeContext, between: readonly number[]): boolean {
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
  const { tokens, phraseStarts, distanceBetween } = context;
  if (!phraseStarts[from] || pauseBefore(tokens, retakeStart) < RETAKES.minSentencePause) return null;
  const end = findRemarkStart(tokens, retakeStart);
  if (end <= from) return null;
  let last = retakeStart;
  while (last + 1 < tokens.length && last - retakeStart < RETAKES.maxLineWords && !endsLine(tokens, last)) last++;
  const lengthOf = (first: number, final: number) => tokens[final]!.end - tokens[first]!.start;
  const ratio = lengthOf(from, end - 1) / lengthOf(retakeStart, last);
  if (Math.min(ratio, 1 / ratio) < COMMON.minLengthRatio || !isRemark(context, listTokens(end, retakeStart)))
    return null;
  const take = tokens.slice(from, end).map((token) => token.normal);
  const retake = tokens.slice(retakeStart, last + 1).map((token) => token.normal);
  const { pairs, cost } = alignWords(take, retake, distanceBetween);
  const same = take.filter(
    (normal, i) => pairs[i]! >= 0 && distanceBetween(normal, retake[pairs[i]!]!) <= RETAKES.maxSameWordDistance,
  ).length;
  if (same < RETAKES.minSameShare * Math.max(take.length, retake.length)) return null;
  const audio = { contradictedByAudio: false, confirmedByAudio: true, alignment: null };
  return { from, end, retakeStart, matched: retake.length, cost, ...audio };
}

/** Returns the token after the last long pause before the retake. */
function findRemarkStart(tokens: readonly Token[], retakeStart: number): number {
  let start = retakeStart - 1;
  while (retakeStart - start < RETAKES.maxRemarkWords && pauseBefore(tokens, start) < RETAKES.minSentencePause) start--;
  return Math.max(0, start);
}

const endsLine = (tokens: readonly Token[], i: number): boolean =>
  pauseBefore(tokens, i + 1) >= RETAKES.minSentencePause;
