/** Two sentences that are built alike, or one that was misspelled? The words that differ tell, when the recogniser was sure of them. */

import { isNumberWord } from "../../text/numbers";
import { alignWords } from "../../text/word-alignment";
import type { Token } from "../tokens";
import type { Repetition, RetakeContext } from "./repetition";

/** A recogniser is at least this sure of a word that was said. */
const SURE = 0.9;
/** "Step one", "step two": figures are seldom misheard. */
const SURE_NUMBER = 0.6;
/** Words this near are one word in two spellings. */
const SAME = 0.3;
/** Among so many words of weight that are the same, one that is a little different was misheard. */
const MANY = 6;
/** So many words of the later take beyond those that match are looked at. */
const BEYOND = 1;

/** Words that are easily taken for each other, and whose difference means little. */
const SMALL = new Set(
  "a an the i we he she it they you my our your his her its this that these those and but or if of to in on at for from with by as is are was were be been so not do did does has have had will would can could there here im its lets".split(
    " ",
  ),
);

/** Whether a normal word says something of its own. */
export const isContentWord = (normal: string): boolean => !SMALL.has(normal);

/** Whether the attempt has a word of weight, surely heard, where the later take has another, or none. */
export function hasDifferentWords({ tokens, words, distanceBetween }: RetakeContext, repetition: Repetition): boolean {
  const said = tokens.slice(repetition.from, repetition.end);
  const later = tokens.slice(repetition.retakeStart, repetition.retakeStart + repetition.matched + BEYOND);
  const normals = (all: readonly Token[]) => all.map((word) => word.normal);
  const { pairs } = alignWords(normals(said), normals(later), distanceBetween, true);
  const isSure = ({ normal, word }: Token) =>
    isContentWord(normal) && words[word]!.confidence >= (isNumberWord(normal) ? SURE_NUMBER : SURE);
  const last = pairs.findLastIndex((pair) => pair >= 0);
  let others = 0;
  let alike = 0;
  for (let i = 0; i <= last; i++) {
    const pair = pairs[i]!;
    const same = pair >= 0 && isSame(said[i]!.normal, later[pair]!.normal, i === said.length - 1, distanceBetween);
    if (same && isContentWord(said[i]!.normal)) alike++;
    if (same || !isSure(said[i]!)) continue;
    const instead = pair >= 0 ? [later[pair]!] : between(pairs, i, later);
    if (instead.some(isSure)) others += pair < 0 ? 2 : repetition.confirmedByAudio ? 0 : 1;
  }
  return others > (alike >= MANY ? 1 : 0);
}

/** One word in two spellings, or broken off at the end of the attempt. */
const isSame = (
  said: string,
  later: string,
  isLast: boolean,
  distanceBetween: RetakeContext["distanceBetween"],
): boolean => distanceBetween(said, later) <= SAME || (isLast && said.length >= 3 && later.startsWith(said));

/** The words of the later take that stand where an attempt's word should be. */
function between(pairs: Int32Array, i: number, later: readonly Token[]): Token[] {
  let before = i - 1;
  while (before >= 0 && pairs[before]! < 0) before--;
  let after = i + 1;
  while (after < pairs.length && pairs[after]! < 0) after++;
  return later.slice(before < 0 ? 0 : pairs[before]! + 1, after < pairs.length ? pairs[after]! : later.length);
}
