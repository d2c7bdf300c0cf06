/** The takes of each line when there is no script: what was said again, side by side with what it was said for. */

import type { Word } from "../../speech";
import { createDistanceCache } from "../../text/normal";
import { alignWords } from "../../text/word-alignment";
import { fromSeconds } from "../../time";
import { endsSentence, findPhraseStarts, type Token } from "../tokens";
import type { Retake } from "./find-retakes";

/** Heard words `[from, to)`. */
export type TokenRange = { from: number; to: number };
/** A line that was said more than once: the last time, which is its measure, and the times before in order. */
export type RepeatedLine = { last: TokenRange; earlier: TokenRange[] };

/** What is said again in the midst of a phrase is a stutter when it is this short, and no take. */
const STUTTER = 2;
/** A line ends at a pause of this length, or after so many words, at the latest. */
const LINE_PAUSE = fromSeconds(1);
const LONGEST_LINE_WORDS = 40;
/** Of a later take so many words more than in the attempt are looked at. */
const MORE_WORDS = 6;

/** An attempt, and the heard word from which on it was said again. */
export type EarlierTake = TokenRange & { retakeStart: number };

/** Groups the retakes by the lines that they are attempts at. */
export function groupTakesByLine(
  words: readonly Word[],
  tokens: readonly Token[],
  retakes: readonly Retake[],
): RepeatedLine[] {
  const { takes, removed } = findEarlierTakes(words, tokens, retakes);
  const distanceBetween = createDistanceCache();
  /** The last time that a heard word was said, and the attempt that it belongs to. */
  const target = Int32Array.from(tokens, (_, i) => (removed[i] ? -1 : i));
  const owner = new Int32Array(tokens.length).fill(-1);
  const restarts = new Set<number>();
  for (const [n, { from, to, retakeStart }] of takes.entries()) {
    const normals = (a: number, b: number) => tokens.slice(a, b).map((word) => word.normal);
    const { pairs } = alignWords(
      normals(from, to),
      normals(retakeStart, retakeStart + to - from + MORE_WORDS),
      distanceBetween,
      true,
    );
    for (let i = from; i < to; i++) {
      const pair = pairs[i - from]!;
      target[i] = pair < 0 ? -1 : target[retakeStart + pair]!;
      owner[i] = n;
    }
    target[from] = target[retakeStart]!;
    restarts.add(target[retakeStart]!);
  }
  const lines = linesOf(words, tokens, removed, restarts);
  const lineAt = new Int32Array(tokens.length).fill(-1);
  for (const [n, line] of lines.entries()) lineAt.fill(n, line.last.from, line.last.to);
  for (const take of piecesOf(owner, target, lineAt)) lines[take.line]!.earlier.push(take);
  return lines
    .filter((line) => line.earlier.length > 0)
    .map(({ last, earlier }) => ({ last, earlier: earlier.map(({ from, to }) => ({ from, to })) }));
}

/** The attempts in heard words, those that were said again last first; `gone[i]`: heard word i goes with a retake or a remark. */
export function findEarlierTakes(
  words: readonly Word[],
  tokens: readonly Token[],
  retakes: readonly Retake[],
): { takes: EarlierTake[]; removed: Uint8Array } {
  const firstOf = new Int32Array(words.length + 1).fill(tokens.length);
  for (let i = tokens.length - 1; i >= 0; i--) firstOf[tokens[i]!.word] = i;
  for (let w = words.length - 1; w >= 0; w--) firstOf[w] = Math.min(firstOf[w]!, firstOf[w + 1]!);
  const starts = new Set(findPhraseStarts(words, tokens));
  const removed = new Uint8Array(tokens.length);
  const takes: EarlierTake[] = [];
  for (const retake of retakes) {
    const [from, to, retakeStart] = [firstOf[retake.from]!, firstOf[retake.to]!, firstOf[retake.retakeStart]!];
    removed.fill(1, from, to);
    const proper = retake.kind === "retake" && to > from && retakeStart < tokens.length;
    if (proper && (starts.has(from) || to - from > STUTTER)) takes.push({ from, to, retakeStart });
  }
  return { takes: takes.sort((a, b) => b.retakeStart - a.retakeStart || a.from - b.from), removed };
}

/** The lines of what stays: sentences, begun anew where something was said again. */
function linesOf(
  words: readonly Word[],
  tokens: readonly Token[],
  removed: Uint8Array,
  restarts: ReadonlySet<number>,
): RepeatedLine[] {
  const lines: RepeatedLine[] = [];
  let before = -1;
  for (let i = 0; i < tokens.length; i++) {
    if (removed[i]) continue;
    const last = lines.at(-1)?.last;
    const begins =
      !last || restarts.has(i) || i - last.from >= LONGEST_LINE_WORDS || endsLine(words, tokens, before, i);
    if (begins) lines.push({ last: { from: i, to: i + 1 }, earlier: [] });
    else last.to = i + 1;
    before = i;
  }
  return lines;
}

function endsLine(words: readonly Word[], tokens: readonly Token[], before: number, next: number): boolean {
  const [a, b] = [tokens[before]!, tokens[next]!];
  if (a.word === b.word) return false;
  return endsSentence(words[a.word]!.text) || (next === before + 1 && b.start - a.end >= LINE_PAUSE);
}

/** The attempts divided by the lines that their words belong to. A word that belongs to none goes with the one before it. */
function piecesOf(owner: Int32Array, target: Int32Array, lineAt: Int32Array): (TokenRange & { line: number })[] {
  const out: (TokenRange & { line: number })[] = [];
  let current = -1;
  for (let i = 0; i < owner.length; i++) {
    if (owner[i]! < 0) continue;
    const last = out.at(-1);
    const goesOn = last !== undefined && last.to === i && owner[i - 1] === owner[i];
    const line = target[i]! < 0 ? -1 : lineAt[target[i]!]!;
    if (line >= 0) current = line;
    else if (!goesOn) current = -1;
    if (current < 0) continue;
    if (goesOn && last.line === current) last.to = i + 1;
    else out.push({ from: i, to: i + 1, line: current });
  }
  return out;
}
