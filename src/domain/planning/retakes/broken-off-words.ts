/** Attempts that were broken off inside a word. */

import type { Ticks } from "../../time";
import { BREAK, endsPhrase } from "../tokens";
import { isRemark } from "./remarks";
import { LONG_ATTEMPT, type Repeat, type Scene, UNSURE, untouched } from "./repetition";

/** As a share of the later take. */
const AS_LONG = 0.85;

/**
 * Whether the words after `matched` ones are the beginning of the word that should have come, or, after more than two that matched, nothing
 * that the recogniser was sure of.
 */
export function isFragment(
  scene: Scene,
  { from: at, to }: { from: number; to: number },
  { from, again, matched }: Pick<Repeat, "from" | "again" | "matched">,
): boolean {
  const { heard, words, near } = scene;
  const pieces = heard.slice(at, to);
  const whole = heard[again + matched]?.normal ?? "";
  const first = pieces[0]?.normal;
  if (first === undefined) return false;
  if (whole.startsWith(first) || (first.length >= 3 && whole.startsWith(first.slice(0, 3)))) return true;
  if (near(first, whole) <= 0.3) return true;
  if (matched < 3 || pieces.some((piece) => words[piece.word]!.confidence >= UNSURE)) return false;
  if (matched >= LONG_ATTEMPT || isAnnounced(scene, to, again)) return true;
  return !isAsLong(scene, from, heard[to - 1]!.end, again, matched);
}

/** Whether what was said before the later take is talk about taking it again. */
function isAnnounced(scene: Scene, from: number, again: number): boolean {
  const between = untouched(scene.gone, from, again);
  return between.length > 0 && isRemark(scene, between);
}

/** An attempt that takes as long as the whole later phrase was not broken off: it ends otherwise. */
function isAsLong({ heard, words }: Scene, from: number, end: Ticks, again: number, matched: number): boolean {
  let last = again + matched;
  while (
    heard[last + 1] &&
    !endsPhrase(words[heard[last]!.word]!.text) &&
    heard[last + 1]!.start - heard[last]!.end < BREAK
  )
    last++;
  if (!heard[last]) return false;
  return end - heard[from]!.start >= AS_LONG * (heard[last]!.end - heard[again]!.start);
}
