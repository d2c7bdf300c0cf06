/** Stage 4, retakes: decides whether a repetition is a retake or intentional. When in doubt, it is kept. */
import { fromSeconds } from "../../time";
import type { ReviewRule } from "../rules";
import { endsPhrase, endsSentence, MIN_RESTART_PAUSE_TICKS, pauseBefore } from "../tokens";
import { closesPhrase, isDeliberate, isOpenWord, isRefrain, repeatsUnit } from "./deliberate-repetition";
import { isDictation } from "./dictation";
import { hasDifferentWords } from "./different-words";
import { isRemark, isUnclear } from "./remarks";
import { isBrokenOffWord, listKept, MAX_SAME_WORD_DISTANCE, type Repetition, type RetakeContext } from "./repetition";
import { countSlipWords, isDanglingWord } from "./slip-words";
import { isStutteredVerb } from "./stuttered-verb";

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

/** Minimum pause before both takes if words between them are kept. */
const MIN_TAKE_PAUSE_TICKS = fromSeconds(0.3);
const MIN_LONG_PAUSE_TICKS = fromSeconds(0.6);
const MAX_SHORT_TAKE_WORDS = 3;
const MAX_WORDS_BETWEEN = 12;
const MAX_BETWEEN_TICKS = fromSeconds(8);
const MAX_STUTTER_PAUSE_TICKS = fromSeconds(2.5);
/**
 * A word between two such pauses was said on its own, as in a list ("eye, eyebrow") or a spelled name. A stutter is
 * followed by the next word without such a pause.
 */
const MIN_LONE_WORD_PAUSE_TICKS = fromSeconds(0.4);
/** Maximum ratio of a take's length to its retake's, and maximum difference: words are also stretched over pauses. */
const MAX_LENGTH_RATIO = 1.6;
const MAX_STRETCHED_TICKS = fromSeconds(0.7);
const MIN_LONE_WORD_CHARACTERS = 5;
/** Costs up to which a repetition counts as exact, and as almost exact. */
const MAX_EXACT_COST = 0.01;
const MAX_ALMOST_EXACT_COST = 0.31;
/** Maximum cost per word of a repetition across words that are kept. */
const MAX_COST_PER_WORD = 0.2;

const QUESTION_WORDS = new Set(["how", "what", "where", "when", "why", "who", "which"]);
/** Words that are never repeated for emphasis. */
const STUTTERED_WORDS = new Set(
  "a an the i we he she it they you my our your his her its their this these those and but or if of to in on at for from with as are was were be been when where while what which who how can could will would should must does did has have not because then there let im were".split(
    " ",
  ),
);

/** Returns the decision on a repetition; null if it is intentional or not a repetition, and is kept. */
export function decideRepetition(context: RetakeContext, repetition: Repetition): RepetitionDecision | null {
  const between = listKept(context.removed, repetition.end, repetition.retakeStart);
  if (isDictation(context, repetition) || repeatsUnit(context.tokens, repetition.from, repetition.end)) return null;
  if (hasDifferentWords(context, repetition)) return { review: "review.different_words" };
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
  return take > MAX_LENGTH_RATIO * retake + MAX_STRETCHED_TICKS;
}

const decideByDifference = ({ contradictedByAudio, cost }: Repetition): RepetitionDecision | null =>
  contradictedByAudio && cost > 0 ? { review: "review.different_sound" } : null;

/** Returns the rule that removes a take that is immediately followed by the retake. */
function ruleOf(context: RetakeContext, repetition: Repetition): TakeRule {
  const { tokens, words, phraseStarts } = context;
  const { from, end, retakeStart } = repetition;
  const isStutter = STUTTERED_WORDS.has(tokens[from]!.normal) || isStutteredVerb(context, from, retakeStart);
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
  const isExact = cost < MAX_EXACT_COST;
  if (size === 1) {
    const isSameWord = tokens[from]!.normal === tokens[retakeStart]!.normal;
    return isExact && (matched > 1 || !isSameWord || isRepeatedWord(context, from, retakeStart));
  }
  if (!phraseStarts[from] && endsCompletely(context, end - 1)) return false;
  if (!phraseStarts[from]) return isExact && (pause >= MIN_RESTART_PAUSE_TICKS || size >= 3);
  if (isBrokenOff(context, repetition)) return true;
  const continues = !endsSentence(words[tokens[retakeStart + matched - 1]!.word]!.text);
  return size > 2 || (cost <= MAX_ALMOST_EXACT_COST && (pause >= MIN_RESTART_PAUSE_TICKS || continues));
}

/** Returns whether a complete sentence ends after a token: "that is how it is.", unlike "but how can?". */
function endsCompletely({ tokens, words }: RetakeContext, i: number): boolean {
  if (!endsSentence(words[tokens[i]!.word]!.text) || isDanglingWord(tokens[i]!.normal)) return false;
  return !(QUESTION_WORDS.has(tokens[i - 1]?.normal ?? "") && isOpenWord(tokens[i]!.normal));
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
  if (pause > MAX_STUTTER_PAUSE_TICKS || endsAt(retakeStart)) return false;
  // "We have it. It is free."
  if (endsAt(from) && !isOpenWord(normal)) return false;
  const isAlone = Math.min(pauseBefore(tokens, from), pause) >= MIN_LONE_WORD_PAUSE_TICKS;
  if (!isAlone && (STUTTERED_WORDS.has(normal) || isStutteredVerb(context, from, retakeStart))) return true;
  return (
    phraseStarts[from] === true &&
    pauseBefore(tokens, from) >= MIN_TAKE_PAUSE_TICKS &&
    pause >= MIN_TAKE_PAUSE_TICKS &&
    normal.length >= MIN_LONE_WORD_CHARACTERS &&
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
  if (slip === "other") return repetition.end - repetition.from >= 3 ? { review: "review.different_ending" } : null;
  const end = slip > 0 ? between[slip - 1]! + 1 : repetition.end;
  const first = between[slip];
  if (first === undefined)
    return decideByDifference(repetition) ?? { rule: "false_start.broken_off", to: repetition.retakeStart, rest: null };
  const size = end - repetition.from;
  const isApart =
    tokens[first]!.start - tokens[end - 1]!.end >= MIN_RESTART_PAUSE_TICKS &&
    pauseBefore(tokens, repetition.retakeStart) >= MIN_RESTART_PAUSE_TICKS;
  const rest = between.slice(slip);
  const isLong =
    rest.length > MAX_WORDS_BETWEEN ||
    tokens[repetition.retakeStart - 1]!.end - tokens[first]!.start > MAX_BETWEEN_TICKS;
  if (isLong || !isApart || size < 3) return null;
  const different = decideByDifference(repetition);
  if (different) return different;
  if (isRemark(context, rest)) return { rule: "retake.after_remark", to: end, rest: "remark.between_takes" };
  if (rest.length < size && isAnotherFalseStart(context, repetition, rest))
    return { rule: "false_start.prefix", to: end, rest: "false_start.between_takes" };
  if (size < 4 || repetition.cost > MAX_COST_PER_WORD * size) return null;
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
  { tokens, distanceBetween }: RetakeContext,
  { retakeStart }: Repetition,
  between: readonly number[],
): boolean {
  if (between.length > MAX_SHORT_TAKE_WORDS) return false;
  return distanceBetween(tokens[between[0]!]!.normal, tokens[retakeStart]!.normal) <= MAX_SAME_WORD_DISTANCE;
}

/** Returns whether the only word in between is a conjunction such as "and", which belongs to the retake. */
const isConjunction = ({ tokens }: RetakeContext, between: readonly number[]): boolean =>
  between.length === 1 && STUTTERED_WORDS.has(tokens[between[0]!]!.normal);

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
    return !next || endsPhrase(textAt(last)) || next.start - tokens[last]!.end >= MIN_RESTART_PAUSE_TICKS;
  });
  const startsSentence = (i: number) => {
    const pause = pauseBefore(tokens, i);
    return pause >= MIN_TAKE_PAUSE_TICKS && (i === 0 || pause >= MIN_LONG_PAUSE_TICKS || endsSentence(textAt(i - 1)));
  };
  return isClosed && !/[?？]/.test(textAt(end - 1)) && startsSentence(from) && startsSentence(retakeStart);
}
