/** Groups the takes of a recording without a script by line: each line with its last take and its earlier takes. */
import type { Word } from "../../speech";
import { createDistanceCache } from "../../text/normalize";
import { alignWords } from "../../text/word-alignment";
import { fromSeconds } from "../../time";
import type { RemovalRule, RuleMatch } from "../rules";
import { endsSentence, findPhraseStarts, type Token, type TokenRange } from "../tokens";
import { isTake, type Retake } from "./find-retakes";

/** A line that was said more than once. The last take defines it; earlier takes are in order of time. */
export type RepeatedLine = { last: TokenRange; earlier: TokenRange[] };

/** A take that is repeated from token `retakeStart` on, with the rule that found it. */
export type EarlierTake = TokenRange & { retakeStart: number; match: RuleMatch<RemovalRule> };

/** A repetition this short inside a phrase is a stutter, not a take. */
const MAX_STUTTER_WORDS = 2;
/** A line ends at a pause of this length, or after this many words, at the latest. */
const MAX_LINE_PAUSE_TICKS = fromSeconds(1);
const MAX_LINE_WORDS = 40;
/** Number of additional words of the retake with which a take is compared. */
const MAX_ADDED_WORDS = 6;

/** Groups the retakes by line. */
export function groupTakesByLine(
  words: readonly Word[],
  tokens: readonly Token[],
  retakes: readonly Retake[],
): RepeatedLine[] {
  const { takes, removed } = findEarlierTakes(words, tokens, retakes);
  const distanceBetween = createDistanceCache();
  /** For each token, the token of the last take with the same content, and the take to which it belongs. */
  const lastSaid = Int32Array.from(tokens, (_, i) => (removed[i] ? -1 : i));
  const takeOf = new Int32Array(tokens.length).fill(-1);
  const lineStarts = new Set<number>();
  for (const [n, { from, to, retakeStart }] of takes.entries()) {
    const normals = (a: number, b: number) => tokens.slice(a, b).map((token) => token.normal);
    const retake = normals(retakeStart, retakeStart + to - from + MAX_ADDED_WORDS);
    const { pairs } = alignWords(normals(from, to), retake, distanceBetween, true);
    for (let i = from; i < to; i++) {
      const pair = pairs[i - from]!;
      lastSaid[i] = pair < 0 ? -1 : lastSaid[retakeStart + pair]!;
      takeOf[i] = n;
    }
    lastSaid[from] = lastSaid[retakeStart]!;
    lineStarts.add(lastSaid[retakeStart]!);
  }
  const lines = divideIntoLines(words, tokens, removed, lineStarts);
  const lineAt = new Int32Array(tokens.length).fill(-1);
  for (const [n, line] of lines.entries()) lineAt.fill(n, line.last.from, line.last.to);
  for (const take of divideByLine(takeOf, lastSaid, lineAt)) lines[take.line]!.earlier.push(take);
  return lines
    .filter((line) => line.earlier.length > 0)
    .map(({ last, earlier }) => ({ last, earlier: earlier.map(({ from, to }) => ({ from, to })) }));
}

/** Returns the takes in tokens, last repeated first. `removed[i]`: token i is removed with a take or a remark. */
export function findEarlierTakes(
  words: readonly Word[],
  tokens: readonly Token[],
  retakes: readonly Retake[],
): { takes: EarlierTake[]; removed: Uint8Array } {
  const firstToken = new Int32Array(words.length + 1).fill(tokens.length);
  for (let i = tokens.length - 1; i >= 0; i--) firstToken[tokens[i]!.word] = i;
  for (let w = words.length - 1; w >= 0; w--) firstToken[w] = Math.min(firstToken[w]!, firstToken[w + 1]!);
  const phraseStarts = new Set(findPhraseStarts(words, tokens));
  const removed = new Uint8Array(tokens.length);
  const takes: EarlierTake[] = [];
  for (const retake of retakes) {
    const from = firstToken[retake.from]!;
    const to = firstToken[retake.to]!;
    const retakeStart = firstToken[retake.retakeStart]!;
    removed.fill(1, from, to);
    if (!isTake(retake) || to <= from || retakeStart >= tokens.length) continue;
    if (phraseStarts.has(from) || to - from > MAX_STUTTER_WORDS)
      takes.push({ from, to, retakeStart, match: retake.match });
  }
  return { takes: takes.sort((a, b) => b.retakeStart - a.retakeStart || a.from - b.from), removed };
}

/** Divides the kept tokens into lines: sentences, and a new line wherever something was repeated. */
function divideIntoLines(
  words: readonly Word[],
  tokens: readonly Token[],
  removed: Uint8Array,
  lineStarts: ReadonlySet<number>,
): RepeatedLine[] {
  const lines: RepeatedLine[] = [];
  let before = -1;
  for (let i = 0; i < tokens.length; i++) {
    if (removed[i]) continue;
    const last = lines.at(-1)?.last;
    const startsLine =
      !last || lineStarts.has(i) || i - last.from >= MAX_LINE_WORDS || endsLine(words, tokens, before, i);
    if (startsLine) lines.push({ last: { from: i, to: i + 1 }, earlier: [] });
    else last.to = i + 1;
    before = i;
  }
  return lines;
}

function endsLine(words: readonly Word[], tokens: readonly Token[], before: number, next: number): boolean {
  const [a, b] = [tokens[before]!, tokens[next]!];
  if (a.word === b.word) return false;
  return endsSentence(words[a.word]!.text) || (next === before + 1 && b.start - a.end >= MAX_LINE_PAUSE_TICKS);
}

/** Divides the takes by the lines of their tokens. A token without a line goes with the previous one. */
function divideByLine(takeOf: Int32Array, lastSaid: Int32Array, lineAt: Int32Array): (TokenRange & { line: number })[] {
  const out: (TokenRange & { line: number })[] = [];
  let current = -1;
  for (let i = 0; i < takeOf.length; i++) {
    if (takeOf[i]! < 0) continue;
    const last = out.at(-1);
    const continues = last !== undefined && last.to === i && takeOf[i - 1] === takeOf[i];
    const line = lastSaid[i]! < 0 ? -1 : lineAt[lastSaid[i]!]!;
    if (line >= 0) current = line;
    else if (!continues) current = -1;
    if (current < 0) continue;
    if (continues && last.line === current) last.to = i + 1;
    else out.push({ from: i, to: i + 1, line: current });
  }
  return out;
}
