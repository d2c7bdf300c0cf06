/** What a repetition in a talk is: a retake, or said twice on purpose. When in doubt it stays. */

import { isNumberWord } from "../../text/numbers";
import { fromSeconds } from "../../time";
import { endsPhrase, endsSentence, MIN_RESTART_PAUSE, pauseBefore } from "../tokens";
import { isFragment } from "./broken-off-words";
import { hasDifferentWords } from "./different-words";
import { isRemark, isUnclear } from "./remarks";
import { LONG_ATTEMPT, listKept, type Repetition, type RetakeContext } from "./repetition";

/** `to`: the words up to there go; `rest`: what those from there to the later take are, of which only what is kept stays. */
export type RepetitionDecision = "different" | "doubt" | { to: number; rest: "kept" | "remark" | "attempt" };

/** Pause in front of both takes when there is talk between them that is not about the recording. */
const APART = fromSeconds(0.3);
const LONG_PAUSE = fromSeconds(0.6);
/** Words this near run on from the one before. */
const ATTACHED = fromSeconds(0.3);
const SHORT_ATTEMPT = 3;
const MOSTLY = 0.6;
const LONGEST_REMARK_WORDS = 12;
const LONGEST_REMARK = fromSeconds(8);

/** Words that nobody says twice for emphasis. */
const STUTTERED = new Set(
  "a an the i we he she it they you my your our his her its their this these those and but or if of to in on at for from with as are was were be been when where while what which who how can could will would should must does did has have not because then there let im were".split(
    " ",
  ),
);

/** Decides on a repeat. */
export function decideRepetition(context: RetakeContext, repetition: Repetition): RepetitionDecision {
  const between = listKept(context.removed, repetition.end, repetition.retakeStart);
  if (isCounting(context, repetition)) return "different";
  if (hasDifferentWords(context, repetition)) return "doubt";
  if (between.length > 0)
    return context.starts[repetition.from] ? withTalkBetween(context, repetition, between) : "different";
  if (!saidAtOnce(context, repetition)) return "different";
  return sureUnless(repetition);
}

const sureUnless = ({ contradictedByAudio, retakeStart, cost }: Repetition): RepetitionDecision =>
  contradictedByAudio && cost > 0 ? "doubt" : { to: retakeStart, rest: "kept" };

/** "One, two, one, two": figures are said twice because they are there twice. So are those of a number that is given once more. */
function isCounting({ tokens, distanceBetween }: RetakeContext, { from, end, retakeStart }: Repetition): boolean {
  const figures = tokens.slice(from, end).filter((word) => isNumberWord(word.normal)).length;
  if (figures === end - from) return true;
  return figures >= MOSTLY * (end - from) && distanceBetween(tokens[from]!.normal, tokens[retakeStart]!.normal) > 0.3;
}

/** The later take follows the attempt with nothing but pauses and other attempts between. */
function saidAtOnce(context: RetakeContext, repetition: Repetition): boolean {
  const { tokens, words, starts } = context;
  const { from, end, retakeStart, matched, cost } = repetition;
  const size = end - from;
  const pause = pauseBefore(tokens, retakeStart);
  const exact = cost < 0.01;
  if (size === 1)
    return (
      exact &&
      (matched > 1 || tokens[from]!.normal !== tokens[retakeStart]!.normal || singleWord(context, from, retakeStart))
    );
  if (!starts[from]) return exact && (pause >= MIN_RESTART_PAUSE || size >= 3);
  const goesOn = !endsSentence(words[tokens[retakeStart + matched - 1]!.word]!.text);
  return size > 2 || (cost <= 0.31 && (pause >= MIN_RESTART_PAUSE || goesOn));
}

/** One word said twice: a stutter when nobody would say it twice on purpose, or when it stands alone before the sentence that it begins. */
function singleWord({ tokens, words, starts }: RetakeContext, from: number, retakeStart: number): boolean {
  if (retakeStart !== from + 1) return false;
  const pause = pauseBefore(tokens, retakeStart);
  const { normal } = tokens[from]!;
  if (pause > fromSeconds(2.5) || endsSentence(words[tokens[retakeStart]!.word]!.text)) return false;
  if (STUTTERED.has(normal)) return true;
  return (
    starts[from] === true &&
    pauseBefore(tokens, from) >= fromSeconds(0.3) &&
    pause >= fromSeconds(0.3) &&
    normal.length >= 5
  );
}

function withTalkBetween(
  context: RetakeContext,
  repetition: Repetition,
  between: readonly number[],
): RepetitionDecision {
  const { tokens } = context;
  const slip = slipAfter(context, repetition, between);
  if (slip === "other") return repetition.end - repetition.from >= 3 ? "doubt" : "different";
  const end = slip > 0 ? between[slip - 1]! + 1 : repetition.end;
  const first = between[slip];
  if (first === undefined) return sureUnless(repetition);
  const size = end - repetition.from;
  const apart =
    tokens[first]!.start - tokens[end - 1]!.end >= MIN_RESTART_PAUSE &&
    pauseBefore(tokens, repetition.retakeStart) >= MIN_RESTART_PAUSE;
  const rest = between.slice(slip);
  const long =
    rest.length > LONGEST_REMARK_WORDS ||
    tokens[repetition.retakeStart - 1]!.end - tokens[first]!.start > LONGEST_REMARK;
  if (long || !apart || size < 3) return "different";
  const decision = sureUnless(repetition);
  if (decision === "doubt") return decision;
  if (isRemark(context, rest)) return { to: end, rest: "remark" };
  if (rest.length < size && isOneMoreAttempt(context, repetition, rest)) return { to: end, rest: "attempt" };
  if (size < 4 || repetition.cost > 0.2 * size) return "different";
  // A list goes on with the same word each time.
  if (tokens[first]!.normal === tokens[repetition.from]!.normal && !isUnclear(context, rest)) return "doubt";
  const sure = isWholeAgain(context, repetition, end) || isUnclear(context, rest) || joins(context, rest);
  return sure ? { to: end, rest: "kept" } : "doubt";
}

/** Between two takes of a line a word or a few that begin like it: it was begun three times, and the second time it was misheard. */
function isOneMoreAttempt(
  { tokens, distanceBetween }: RetakeContext,
  { retakeStart }: Repetition,
  between: readonly number[],
): boolean {
  return (
    between.length <= SHORT_ATTEMPT && distanceBetween(tokens[between[0]!]!.normal, tokens[retakeStart]!.normal) <= 0.3
  );
}

/** A single "and" in front of the later take belongs to it. */
const joins = ({ tokens }: RetakeContext, between: readonly number[]): boolean =>
  between.length === 1 && STUTTERED.has(tokens[between[0]!]!.normal);

/** Whether a whole sentence was said once more, apart from what is around it. Who asks again after an answer does so on purpose. */
function isWholeAgain(
  { tokens, words }: RetakeContext,
  { from, retakeStart, matched }: Repetition,
  end: number,
): boolean {
  const textAt = (i: number) => words[tokens[i]!.word]!.text;
  const closes = [-1, 0, 1, 2].some((off) => {
    const last = Math.max(retakeStart, retakeStart + matched - 1 + off);
    const next = tokens[last + 1];
    return !next || endsPhrase(textAt(last)) || next.start - tokens[last]!.end >= MIN_RESTART_PAUSE;
  });
  const begins = (i: number) => {
    const pause = pauseBefore(tokens, i);
    return pause >= APART && (i === 0 || pause >= LONG_PAUSE || endsSentence(textAt(i - 1)));
  };
  return closes && !/[?？]/.test(textAt(end - 1)) && begins(from) && begins(retakeStart);
}

/**
 * How many of the words between belong to the attempt: one or two that run on from it, do not match, and end at a pause. Broken off inside
 * a word when they resemble the beginning of that word, or the recogniser was not sure of them; `other` when the attempt may be a
 * sentence of its own that differs only there.
 */
function slipAfter(context: RetakeContext, repetition: Repetition, between: readonly number[]): number | "other" {
  const { tokens, words } = context;
  let count = 0;
  for (const i of between) {
    if (tokens[i]!.start - tokens[i - 1]!.end >= ATTACHED) break;
    count++;
  }
  const after = tokens[(between[count - 1] ?? 0) + 1];
  if (count === 0) return 0;
  if (count > 2 || (after && after.start - tokens[between[count - 1]!]!.end < MIN_RESTART_PAUSE)) return "other";
  const at = repetition.retakeStart + repetition.matched;
  const next = tokens[at];
  if (!next || repetition.end - repetition.from < 2 || endsSentence(words[tokens[at - 1]!.word]!.text)) return "other";
  const slipped = { from: between[0]!, to: between[count - 1]! + 1 };
  if (isFragment(context, slipped, repetition)) return count;
  let more = 1;
  while (tokens[at + more] && more <= count && !endsSentence(words[tokens[at + more - 1]!.word]!.text)) more++;
  return repetition.end - repetition.from >= LONG_ATTEMPT && more > count ? count : "other";
}
