/**
 * Decides whether a repetition is a retake or intentional. Chants, refrains, digits and letters are repeated on
 * purpose, a verb before its object by mistake. When in doubt, a repetition is kept.
 */

import { measureWordDistance } from "../../text/normalize";
import { isContentWord, isDanglingWord, isOpenWord, isStutterWord } from "../lexicon/lexicon";
import type { ReviewRule } from "../rules";
import { ACTIVITY, COMMON, RETAKES } from "../thresholds";
import { endsPhrase, endsSentence, pauseBefore, type Token, toMaxLength } from "../tokens";
import { countSlipWords, isRemark, isUnclear } from "./interrupted-takes";
import { hasDifferentWords, isBrokenOffWord, listKept, type Repetition, type RetakeContext } from "./repetition";

type TakeRule =
  | "stutter.word"
  | "false_start.prefix"
  | "false_start.inside_phrase"
  | "false_start.broken_off"
  | "retake.after_remark"
  | "retake.repeated_line"
  | "retake.repeated_later";
type BetweenRule = "remark.between_takes" | "false_start.between_takes";

/**
 * Null: different sentences, which are kept. `review`: they are kept and marked. Otherwise the tokens up to `to` are
 * removed, and those from there to the retake are removed by the rule `rest`, or kept if it is null.
 */
export type RepetitionDecision = { review: ReviewRule } | { rule: TakeRule; to: number; rest: BetweenRule | null };

/** Returns the decision on a repetition; null if it is intentional or not a repetition, and is kept. */
export function decideRepetition(context: RetakeContext, repetition: Repetition): RepetitionDecision | null {
  const between = listKept(context.removed, repetition.end, repetition.retakeStart);
  if (isDictation(context, repetition) || repeatsUnit(context.tokens, repetition.from, repetition.end)) return null;
  if (!repetition.hasOtherSpelling && hasDifferentWords(context, repetition))
    return { review: "review.different_words" };
  if (between.length > 0)
    return context.phraseStarts[repetition.from] ? decideWithWordsBetween(context, repetition, between) : null;
  if (!isImmediateRetake(context, repetition)) return null;
  const different = decideByDifference(repetition);
  if (different) return different;
  if (containsMore(context, repetition)) return { review: "review.uncertain_retake" };
  if (isDeliberate(context, repetition)) return { review: "review.deliberate_repetition" };
  return { rule: ruleOf(context, repetition), to: repetition.retakeStart, rest: null };
}

/** Returns whether a take is much longer than its retake: the recognizer stretched a word over omitted speech. */
function containsMore({ tokens }: RetakeContext, { from, end, retakeStart, matched }: Repetition): boolean {
  const take = tokens[end - 1]!.end - tokens[from]!.start;
  const retake = tokens[Math.max(retakeStart, retakeStart + matched - 1)]!.end - tokens[retakeStart]!.start;
  return take > toMaxLength(retake) + COMMON.maxLate;
}

const decideByDifference = ({ contradictedByAudio, cost }: Repetition): RepetitionDecision | null =>
  contradictedByAudio && cost > 0 ? { review: "review.different_sound" } : null;

/** Returns the rule that removes a take that is immediately followed by the retake. */
function ruleOf(context: RetakeContext, repetition: Repetition): TakeRule {
  const { tokens, words, phraseStarts } = context;
  const { from, end, retakeStart } = repetition;
  const isStutter = isStutterWord(tokens[from]!.normal, context.lexicon) || isStutteredVerb(context, from, retakeStart);
  if (end - from === 1 && isStutter) return "stutter.word";
  if (!phraseStarts[from]) return "false_start.inside_phrase";
  if (isBrokenOff(context, repetition)) return "false_start.broken_off";
  return endsSentence(words[tokens[end - 1]!.word]!.text) ? "retake.repeated_line" : "false_start.prefix";
}

/** Returns whether only pauses and removed takes are between the take and the retake. */
function isImmediateRetake(context: RetakeContext, repetition: Repetition): boolean {
  const { tokens, words, phraseStarts } = context;
  const { from, end, retakeStart, matched, cost } = repetition;
  const size = end - from;
  const pause = pauseBefore(tokens, retakeStart);
  const isExact = cost < RETAKES.maxExactCost;
  if (size === 1) {
    const isSameWord = tokens[from]!.normal === tokens[retakeStart]!.normal;
    return isExact && (matched > 1 || !isSameWord || isRepeatedWord(context, from, retakeStart));
  }
  if (!phraseStarts[from] && endsCompletely(context, end - 1)) return false;
  if (!phraseStarts[from]) return isExact && (pause >= ACTIVITY.minRestartPause || size > COMMON.maxSlipWords);
  if (isBrokenOff(context, repetition)) return true;
  const continues = !endsSentence(words[tokens[retakeStart + matched - 1]!.word]!.text);
  return (
    size > COMMON.maxSlipWords ||
    (cost <= RETAKES.maxSameWordDistance && (pause >= ACTIVITY.minRestartPause || continues))
  );
}

/** Returns whether a complete sentence ends after a token: "that is how it is.", unlike "but how can?". */
function endsCompletely({ tokens, words, lexicon }: RetakeContext, i: number): boolean {
  if (!endsSentence(words[tokens[i]!.word]!.text) || isDanglingWord(tokens[i]!.normal, lexicon)) return false;
  return !(lexicon.questionWords.has(tokens[i - 1]?.normal ?? "") && isOpenWord(tokens[i]!.normal, lexicon));
}

/** Returns whether the last word of the take is the beginning of the retake's word there. */
function isBrokenOff({ tokens }: RetakeContext, { end, retakeStart, matched }: Repetition): boolean {
  return isBrokenOffWord(tokens[end - 1]!.normal, tokens[retakeStart + matched - 1]!.normal);
}

/** Returns whether a repeated word is a stutter: not repeated for emphasis, or alone before the sentence it starts. */
function isRepeatedWord(context: RetakeContext, from: number, retakeStart: number): boolean {
  const { tokens, words, phraseStarts } = context;
  if (retakeStart !== from + 1) return false;
  const pause = pauseBefore(tokens, retakeStart);
  const { normal } = tokens[from]!;
  const endsAt = (i: number) => endsSentence(words[tokens[i]!.word]!.text);
  if (endsAt(retakeStart)) return false;
  // "We have it. It is free."
  if (endsAt(from) && !isOpenWord(normal, context.lexicon)) return false;
  const isAlone = Math.min(pauseBefore(tokens, from), pause) >= COMMON.minSentencePause;
  if (!isAlone && (isStutterWord(normal, context.lexicon) || isStutteredVerb(context, from, retakeStart))) return true;
  return (
    phraseStarts[from] === true &&
    pauseBefore(tokens, from) >= COMMON.minTakePause &&
    pause >= COMMON.minTakePause &&
    normal.length >= COMMON.longWordCharacters &&
    !closesPhrase(context, retakeStart)
  );
}

function decideWithWordsBetween(
  context: RetakeContext,
  repetition: Repetition,
  between: readonly number[],
): RepetitionDecision | null {
  const { tokens } = context;
  const slip = countSlipWords(context, repetition, between);
  if (slip === "other")
    return repetition.end - repetition.from > COMMON.maxSlipWords ? { review: "review.different_ending" } : null;
  const end = slip > 0 ? between[slip - 1]! + 1 : repetition.end;
  const first = between[slip];
  if (first === undefined)
    return decideByDifference(repetition) ?? { rule: "false_start.broken_off", to: repetition.retakeStart, rest: null };
  const size = end - repetition.from;
  const isApart =
    tokens[first]!.start - tokens[end - 1]!.end >= ACTIVITY.minRestartPause &&
    pauseBefore(tokens, repetition.retakeStart) >= ACTIVITY.minRestartPause;
  const rest = between.slice(slip);
  const isLong =
    rest.length > COMMON.sentenceWords ||
    tokens[repetition.retakeStart - 1]!.end - tokens[first]!.start > RETAKES.maxBetween;
  if (isLong || !isApart || size <= COMMON.maxSlipWords) return null;
  const different = decideByDifference(repetition);
  if (different) return different;
  if (isRemark(context, rest)) return { rule: "retake.after_remark", to: end, rest: "remark.between_takes" };
  if (rest.length < size && isAnotherFalseStart(context, repetition, rest))
    return { rule: "false_start.prefix", to: end, rest: "false_start.between_takes" };
  if (size < COMMON.minSureMatchWords || repetition.cost > RETAKES.maxSpellingDistance * size) return null;
  // A list continues with the same word each time.
  const startsAlike = tokens[first]!.normal === tokens[repetition.from]!.normal;
  if (startsAlike && !isUnclear(context, rest)) return { review: "review.list" };
  if (isRefrain(context, repetition, end)) return { review: "review.deliberate_repetition" };
  const isSure =
    isWholeSentenceRepeated(context, repetition, end) || isUnclear(context, rest) || isConjunction(context, rest);
  return isSure ? { rule: "retake.repeated_later", to: end, rest: null } : { review: "review.uncertain_retake" };
}

/** Returns whether a few words between two takes start like the line: a false start that was misrecognized. */
function isAnotherFalseStart(
  { tokens }: RetakeContext,
  { retakeStart }: Repetition,
  between: readonly number[],
): boolean {
  if (between.length > RETAKES.maxShortPhraseWords) return false;
  return measureWordDistance(tokens[between[0]!]!.normal, tokens[retakeStart]!.normal) <= RETAKES.maxSameWordDistance;
}

/** Returns whether the only word in between is a conjunction such as "and", which belongs to the retake. */
const isConjunction = ({ tokens, lexicon }: RetakeContext, between: readonly number[]): boolean =>
  between.length === 1 && isStutterWord(tokens[between[0]!]!.normal, lexicon);

/** Returns whether an isolated whole sentence is repeated. A question repeated after an answer is kept. */
function isWholeSentenceRepeated(
  { tokens, words }: RetakeContext,
  { from, retakeStart, matched }: Repetition,
  end: number,
): boolean {
  const textAt = (i: number) => words[tokens[i]!.word]!.text;
  const isClosed = [-1, 0, 1, 2].some((offset) => {
    const last = Math.max(retakeStart, retakeStart + matched - 1 + offset);
    const next = tokens[last + 1];
    return !next || endsPhrase(textAt(last)) || next.start - tokens[last]!.end >= ACTIVITY.minRestartPause;
  });
  const startsSentence = (i: number) => {
    const pause = pauseBefore(tokens, i);
    return pause >= RETAKES.minLongPause || (pause >= COMMON.minTakePause && (i === 0 || endsSentence(textAt(i - 1))));
  };
  return isClosed && !/[?？]/.test(textAt(end - 1)) && startsSentence(from) && startsSentence(retakeStart);
}

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
function closesPhrase({ tokens, words }: RetakeContext, i: number): boolean {
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
function isStutteredVerb(context: RetakeContext, from: number, retakeStart: number): boolean {
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
