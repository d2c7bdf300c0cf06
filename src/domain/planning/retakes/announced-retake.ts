/** Takes before a remark such as "one more time": the line follows again, even if one take was misrecognized. */
import { alignWords } from "../../text/word-alignment";
import { fromSeconds } from "../../time";
import { pauseBefore, type Token } from "../tokens";
import { isRemark } from "./remarks";
import { MAX_SAME_WORD_DISTANCE, type Repetition, type RetakeContext } from "./repetition";

/** Minimum pause before and after the remark, and after the retake. */
const MIN_REMARK_PAUSE_TICKS = fromSeconds(0.5);
const MAX_REMARK_WORDS = 9;
const MAX_LINE_WORDS = 40;
/** Minimum share, and minimum number, of words that both have in common. */
const MIN_SAME_SHARE = 0.45;
const MIN_SAME_WORDS = 4;
/** Minimum ratio of the lengths of the take and the retake, in both directions. */
const MIN_LENGTH_RATIO = 0.75;

/** Returns the take at `from` as a repetition if a remark separates it from a similar retake, otherwise null. */
export function findAnnouncedRepetition(context: RetakeContext, from: number, retakeStart: number): Repetition | null {
  const { tokens, phraseStarts, distanceBetween } = context;
  if (!phraseStarts[from] || pauseBefore(tokens, retakeStart) < MIN_REMARK_PAUSE_TICKS) return null;
  const end = findRemarkStart(tokens, retakeStart);
  if (end <= from || !isRemark(context, range(end, retakeStart))) return null;
  let last = retakeStart;
  while (last + 1 < tokens.length && last - retakeStart < MAX_LINE_WORDS && !endsLine(tokens, last)) last++;
  const lengthOf = (first: number, final: number) => tokens[final]!.end - tokens[first]!.start;
  const ratio = lengthOf(from, end - 1) / lengthOf(retakeStart, last);
  if (Math.min(ratio, 1 / ratio) < MIN_LENGTH_RATIO) return null;
  const take = tokens.slice(from, end).map((token) => token.normal);
  const retake = tokens.slice(retakeStart, last + 1).map((token) => token.normal);
  const { pairs, cost } = alignWords(take, retake, distanceBetween);
  const same = take.filter(
    (normal, i) => pairs[i]! >= 0 && distanceBetween(normal, retake[pairs[i]!]!) <= MAX_SAME_WORD_DISTANCE,
  ).length;
  if (same < MIN_SAME_WORDS || same < MIN_SAME_SHARE * Math.max(take.length, retake.length)) return null;
  const audio = { contradictedByAudio: false, confirmedByAudio: true, alignment: null };
  return { from, end, retakeStart, matched: retake.length, cost, ...audio };
}

/** Returns the token after the last long pause before the retake. */
function findRemarkStart(tokens: readonly Token[], retakeStart: number): number {
  let start = retakeStart - 1;
  while (retakeStart - start < MAX_REMARK_WORDS && pauseBefore(tokens, start) < MIN_REMARK_PAUSE_TICKS) start--;
  return Math.max(0, start);
}

const endsLine = (tokens: readonly Token[], i: number): boolean => pauseBefore(tokens, i + 1) >= MIN_REMARK_PAUSE_TICKS;

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
