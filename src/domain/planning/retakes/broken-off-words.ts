/** Attempts that were broken off inside a word. */

import type { Ticks } from "../../time";
import { endsPhrase, MIN_RESTART_PAUSE } from "../tokens";
import { isRemark } from "./remarks";
import { LONG_ATTEMPT, listKept, type Repetition, type RetakeContext, UNSURE } from "./repetition";

/** As a share of the later take. */
const AS_LONG = 0.85;

/**
 * Whether the words after `matched` ones are the beginning of the word that should have come, or, after more than two that matched, nothing
 * that the recogniser was sure of.
 */
export function isFragment(
  context: RetakeContext,
  { from: at, to }: { from: number; to: number },
  { from, retakeStart, matched }: Pick<Repetition, "from" | "retakeStart" | "matched">,
): boolean {
  const { tokens, words, distanceBetween } = context;
  const fragments = tokens.slice(at, to);
  const whole = tokens[retakeStart + matched]?.normal ?? "";
  const first = fragments[0]?.normal;
  if (first === undefined) return false;
  if (whole.startsWith(first) || (first.length >= 3 && whole.startsWith(first.slice(0, 3)))) return true;
  if (distanceBetween(first, whole) <= 0.3) return true;
  if (matched < 3 || fragments.some((fragment) => words[fragment.word]!.confidence >= UNSURE)) return false;
  if (matched >= LONG_ATTEMPT || isAnnounced(context, to, retakeStart)) return true;
  return !isAsLong(context, from, tokens[to - 1]!.end, retakeStart, matched);
}

/** Whether what was said before the later take is talk about taking it again. */
function isAnnounced(context: RetakeContext, from: number, retakeStart: number): boolean {
  const between = listKept(context.removed, from, retakeStart);
  return between.length > 0 && isRemark(context, between);
}

/** An attempt that takes as long as the whole later phrase was not broken off: it ends otherwise. */
function isAsLong(
  { tokens, words }: RetakeContext,
  from: number,
  end: Ticks,
  retakeStart: number,
  matched: number,
): boolean {
  let last = retakeStart + matched;
  while (
    tokens[last + 1] &&
    !endsPhrase(words[tokens[last]!.word]!.text) &&
    tokens[last + 1]!.start - tokens[last]!.end < MIN_RESTART_PAUSE
  )
    last++;
  if (!tokens[last]) return false;
  return end - tokens[from]!.start >= AS_LONG * (tokens[last]!.end - tokens[retakeStart]!.start);
}
