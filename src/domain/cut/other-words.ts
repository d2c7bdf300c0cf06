/** Two sentences that are built alike, or one that was misspelled? The words that differ tell, when the recogniser was sure of them. */

import { alignWords } from "../text/alignment";
import type { HeardWord } from "./heard";
import type { Repeat, Scene } from "./retake-rules";

/** A recogniser is at least this sure of a word that was said. */
const SURE = 0.9;
/** Words this near are one word in two spellings. */
const SAME = 0.3;
/** So many words of the later take beyond those that match are looked at. */
const BEYOND = 1;

/** Words that are easily taken for each other, and whose difference means little. */
const SMALL = new Set(
  "a an the i we he she it they you my our your his her its this that these those and but or if of to in on at for from with by as is are was were be been so not do did does has have had will would can could there here im its lets".split(
    " ",
  ),
);

/** Whether the attempt has a word of weight, surely heard, where the later take has another, or none. */
export function saysOtherWords({ heard, words, near }: Scene, repeat: Repeat): boolean {
  const said = heard.slice(repeat.from, repeat.end);
  const later = heard.slice(repeat.again, repeat.again + repeat.matched + BEYOND);
  const normals = (all: readonly HeardWord[]) => all.map((word) => word.normal);
  const { pairs } = alignWords(normals(said), normals(later), near, true);
  const isSure = (word: HeardWord) => words[word.word]!.confidence >= SURE && !SMALL.has(word.normal);
  const last = pairs.findLastIndex((pair) => pair >= 0);
  for (let i = 0; i <= last; i++) {
    const pair = pairs[i]!;
    if (!isSure(said[i]!) || (pair >= 0 && near(said[i]!.normal, later[pair]!.normal) <= SAME)) continue;
    const instead = pair >= 0 ? [later[pair]!] : between(pairs, i, later);
    if (instead.length === 0 || instead.some(isSure)) return true;
  }
  return false;
}

/** The words of the later take that stand where an attempt's word should be. */
function between(pairs: Int32Array, i: number, later: readonly HeardWord[]): HeardWord[] {
  let before = i - 1;
  while (before >= 0 && pairs[before]! < 0) before--;
  let after = i + 1;
  while (after < pairs.length && pairs[after]! < 0) after++;
  return later.slice(before < 0 ? 0 : pairs[before]! + 1, after < pairs.length ? pairs[after]! : later.length);
}
