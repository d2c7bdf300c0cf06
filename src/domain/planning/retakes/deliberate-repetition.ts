/**
 * Repetitions that are no retakes: chants and refrains, digits and letters. A verb before its object is repeated by
 * mistake.
 */

import { measureWordDistance } from "../../text/normalize";
import { isContentWord, isDanglingWord, isOpenWord } from "../lexicon/lexicon";
import { ACTIVITY, COMMON, RETAKES } from "../thresholds";
import { endsPhrase, endsSentence, pauseBefore, type Token } from "../tokens";
import type { Repetition, RetakeContext } from "./repetition";

/** Returns whether both takes are complete, without the pause of a speaker who starts over. */
export function isDeliberate(context: RetakeContext, repetition: Repetition): boolean {
  const { tokens, words } = context;
  const { from, end, retakeStart, matched } = repetition;
  if (isChant(context, repetition)) return true;
  const size = end - from;
  if (size === 1) return false;
  if (closesPhrase(context, retakeStart + matched - 1))
    return size <= RETAKES.maxShortPhraseWords || pauseBefore(tokens, retakeStart) < COMMON.minTakePause;
  const last = tokens[end - 1]!;
  if (!endsSentence(words[last.word]!.text)) return false;
  if (size > RETAKES.maxShortPhraseWords) return isAnaphora(context, repetition);
  // "Thank you. Thank you very much." Who starts over pauses longer, and a recognizer ends the sentence there.
  return !isOpenWord(last.normal, context.lexicon) && !isNewStart(context, repetition);
}

/**
 * Returns whether a few words before a pause are the false start of a longer sentence, and not a sentence of their own.
 */
function isNewStart(context: RetakeContext, repetition: Repetition): boolean {
  const { tokens, lexicon } = context;
  const { from, end, retakeStart, matched } = repetition;
  if (pauseBefore(tokens, retakeStart) < COMMON.minSentencePause || repeatsPhraseEnd(context, from, end - from))
    return false;
  const take = tokens.slice(from, end).map(({ normal }) => normal);
  if (lexicon.completePhrases.test(take.join(" ")) || isAnaphora(context, repetition)) return false;
  // The last word of a sentence is lengthened.
  const [last, other] = [tokens[end - 1]!, tokens[retakeStart + matched - 1]!];
  const isSameWord = last.normal === other.normal;
  return !isSameWord || last.end - last.start < RETAKES.minFinalLengthening * (other.end - other.start);
}

/**
 * Returns whether a take repeats the end of a longer phrase, as listeners do: "Almost thirty years." "Thirty years?"
 */
const repeatsPhraseEnd = ({ tokens, phraseStarts }: RetakeContext, from: number, size: number): boolean =>
  isSame(tokens, from - size, from, size) && !phraseStarts[from - size];

/** Returns whether a third sentence starts alike: "We will win. We will win it all. We will win you." */
function isAnaphora(context: RetakeContext, { from, end, retakeStart, matched }: Repetition): boolean {
  const { tokens, phraseStarts } = context;
  const next = retakeStart + matched;
  const until = Math.min(tokens.length, next + COMMON.maxComparedWords);
  let at = next + 1;
  while (at < until && !(phraseStarts[at] && isSame(tokens, at, from, end - from))) at++;
  if (at >= until) return false;
  const continuation = tokens.slice(next, Math.min(at, next + RETAKES.maxShortPhraseWords));
  return continuation.some(({ normal }, k) => {
    const other = tokens[at + end - from + k]?.normal;
    return other === undefined || measureWordDistance(normal, other) > RETAKES.maxSimilarWordDistance;
  });
}

/** Returns whether a phrase ends after a token, with the sentence or before a pause. */
export function closesPhrase({ tokens, words }: RetakeContext, i: number): boolean {
  const next = tokens[i + 1];
  return !next || endsSentence(words[tokens[i]!.word]!.text) || next.start - tokens[i]!.end >= COMMON.minTakePause;
}

/** Returns whether the take is an item of a chant: the same words three times or more in quick succession. */
function isChant(context: RetakeContext, { from, end, retakeStart }: Repetition): boolean {
  const { tokens, words, lexicon } = context;
  const size = retakeStart - from;
  const item = tokens.slice(from, end).find((token) => isContentWord(token.normal, lexicon))?.normal;
  if (size !== end - from || item === undefined) return false;
  let first = from;
  let last = end - 1;
  while (first > 0 && tokens[first - 1]!.normal === tokens[first - 1 + size]!.normal) first--;
  while (tokens[last + size]?.normal === tokens[last]!.normal) last++;
  last = Math.min(last + size - 1, tokens.length - 1);
  if (tokens.slice(first, last + 1).filter((token) => token.normal === item).length < RETAKES.minChantItems)
    return false;
  // "Place the place the place the camera": the phrase continues after the last item.
  const isCut = last + 1 - first < RETAKES.minChantItems * size || isDanglingWord(tokens[end - 1]!.normal, lexicon);
  if (size > 1 && isCut && !endsPhrase(words[tokens[last]!.word]!.text) && !closesPhrase(context, last)) return false;
  const pauses = tokens.slice(first, last + 1).flatMap((_, i) => (i === 0 ? [] : [pauseBefore(tokens, first + i)]));
  // Speakers who start over three times pause each time, and finally continue.
  const isFluent = pauses.every((pause) => pause < ACTIVITY.minRestartPause);
  return isFluent || (closesPhrase(context, last) && pauses.every((pause) => pause < COMMON.minSentencePause));
}

/** Returns whether the take `[from, end)` occurs as often as a refrain in the words around it. */
export function isRefrain(
  { tokens }: Pick<RetakeContext, "tokens">,
  { from }: Pick<Repetition, "from">,
  end: number,
): boolean {
  const until = Math.min(tokens.length, from + COMMON.maxComparedWords);
  let count = 0;
  for (let at = Math.max(0, from - COMMON.maxComparedWords); at < until && count < RETAKES.minChantItems; at++)
    if (isSame(tokens, at, from, end - from)) count++;
  return count >= RETAKES.minChantItems;
}

function isSame(tokens: readonly Token[], a: number, b: number, size: number): boolean {
  for (let k = 0; k < size; k++) if (a < 0 || tokens[a + k]?.normal !== tokens[b + k]!.normal) return false;
  return true;
}

/** Returns whether tokens `[from, end)` repeat a shorter unit, whose own repetitions then decide. */
export function repeatsUnit(tokens: readonly Token[], from: number, end: number): boolean {
  const size = end - from;
  for (let unit = 1; 2 * unit <= size; unit++)
    if (size % unit === 0 && isSame(tokens, from + unit, from, size - unit)) return true;
  return false;
}

/** Returns whether the repetition is a number, letters, or part of a dictated number or a spelled name. */
export function isDictation(
  context: Pick<RetakeContext, "tokens" | "lexicon">,
  repetition: Pick<Repetition, "from" | "end" | "retakeStart" | "matched">,
): boolean {
  const { tokens, lexicon } = context;
  const isNumberWord = (normal: string) => lexicon.numberWords.has(normal);
  const isLetter = (normal: string) => normal.length === 1 && !lexicon.letterWords.has(normal);
  const { from, end, retakeStart, matched } = repetition;
  const take = tokens.slice(from, end).map((token) => token.normal);
  if (take.every((normal) => isNumberWord(normal) || isLetter(normal))) return true;
  const neighbors = [
    ...tokens.slice(Math.max(0, from - COMMON.minSureMatchWords), from),
    ...tokens.slice(retakeStart + matched, retakeStart + matched + COMMON.minSureMatchWords),
  ].map((token) => token.normal);
  const count = (isDictated: (normal: string) => boolean) => neighbors.filter(isDictated).length;
  // A letter in a spelled name is often recognized as a short word.
  if (take.length === 1 && count(isLetter) >= COMMON.maxSlipWords) return true;
  const isDigit = (normal: string) => isNumberWord(normal) || lexicon.digitHomophones.has(normal);
  if (take.every(isDigit) && count(isNumberWord) >= COMMON.maxSlipWords) return true;
  if (take.filter(isNumberWord).length < RETAKES.minSimilarShare * take.length) return false;
  return measureWordDistance(tokens[from]!.normal, tokens[retakeStart]!.normal) > RETAKES.maxSameWordDistance;
}

/** Returns whether the word at `retakeStart` continues the same verb at `from`, directly before it. */
export function isStutteredVerb(context: RetakeContext, from: number, retakeStart: number): boolean {
  const { tokens, words, lexicon } = context;
  const { normal, word } = tokens[from]!;
  const object = tokens[retakeStart + 1];
  if (retakeStart !== from + 1 || !lexicon.stutteredVerbs.test(normal) || lexicon.notVerbs.has(normal) || !object)
    return false;
  // "Going, going, gone."
  if (/\p{P}$/u.test(words[word]!.text) || object.normal === normal || tokens[from - 1]?.normal === normal)
    return false;
  if (pauseBefore(tokens, retakeStart) > COMMON.minSentencePause || closesPhrase(context, retakeStart)) return false;
  return (
    !lexicon.conjunctions.has(object.normal) &&
    (!isContentWord(object.normal, lexicon) || lexicon.numberWords.has(object.normal))
  );
}
