/** Takes that were interrupted inside a word. */
import type { Ticks } from "../../time";
import { endsPhrase, MIN_RESTART_PAUSE_TICKS, type TokenRange } from "../tokens";
import { isRemark } from "./remarks";
import {
  listKept,
  MAX_SAME_WORD_DISTANCE,
  MIN_LONG_MATCH_WORDS,
  MIN_WORD_CONFIDENCE,
  type Repetition,
  type RetakeContext,
} from "./repetition";

/** A take at least this long, as a share of the retake, was not interrupted. */
const MIN_COMPLETE_SHARE = 0.85;
const MIN_PREFIX_CHARACTERS = 3;
/** After this number of matching words, unclear words count as a fragment. */
const MIN_MATCH_BEFORE_UNCLEAR = 3;

/**
 * Returns whether the words of a range, which follow the matching words of a take, are the start of the expected word,
 * or words that the recognizer was unsure of.
 */
export function isFragment(
  context: RetakeContext,
  { from: first, to }: TokenRange,
  { from, retakeStart, matched }: Pick<Repetition, "from" | "retakeStart" | "matched">,
): boolean {
  const { tokens, words, distanceBetween } = context;
  const fragments = tokens.slice(first, to);
  const whole = tokens[retakeStart + matched]?.normal ?? "";
  const fragment = fragments[0]?.normal;
  if (fragment === undefined || whole.startsWith(fragment)) return fragment !== undefined;
  if (fragment.length >= MIN_PREFIX_CHARACTERS && whole.startsWith(fragment.slice(0, MIN_PREFIX_CHARACTERS)))
    return true;
  if (distanceBetween(fragment, whole) <= MAX_SAME_WORD_DISTANCE) return true;
  if (matched < MIN_MATCH_BEFORE_UNCLEAR) return false;
  if (fragments.some((token) => words[token.word]!.confidence >= MIN_WORD_CONFIDENCE)) return false;
  if (matched >= MIN_LONG_MATCH_WORDS || isAnnounced(context, to, retakeStart)) return true;
  return !isAsLongAsRetake(context, from, tokens[to - 1]!.end, retakeStart, matched);
}

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
    tokens[i + 1]!.start - tokens[i]!.end < MIN_RESTART_PAUSE_TICKS;
  let last = retakeStart + matched;
  while (continues(last)) last++;
  if (!tokens[last]) return false;
  return end - tokens[from]!.start >= MIN_COMPLETE_SHARE * (tokens[last]!.end - tokens[retakeStart]!.start);
}
