/** Stage 4, retakes: decides whether a repetition is a retake or intentional. When in doubt, it is kept. */

import { measureWordDistance } from "../../text/normalize";
import { isDanglingWord, isOpenWord, isStutterWord } from "../lexicon/lexicon";
import type { ReviewRule } from "../rules";
import { ACTIVITY, COMMON, RETAKES } from "../thresholds";
import { endsPhrase, endsSentence, pauseBefore, toMaxLength } from "../tokens";
import {
  closesPhrase,
  isDeliberate,
  isDictation,
  isRefrain,
  isStutteredVerb,
  repeatsUnit,
} from "./deliberate-repetition";
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
