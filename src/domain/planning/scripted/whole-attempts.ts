/** Stage 7: a paragraph that was read twice is one of the attempts, never parts of both, if one is complete and as good. */
import { COMMON } from "../common-thresholds";
import { takeWorth } from "../take-list";
import type { ScriptPath } from "./find-path";
import type { LineCandidate } from "./line-candidates";
import { worthOf } from "./path-knowledge";
import type { ScriptLine } from "./script-lines";
import { SCRIPT } from "./thresholds";

/** The takes of all lines of a paragraph, in a row. */
type Attempt = readonly LineCandidate[];
/** Where the path has each line of a paragraph; null where it has one in no candidate. */
type ChosenTakes = readonly (LineCandidate | null)[];

/** Moves each paragraph whose lines are from several attempts to a complete attempt that is as good. */
export function keepWholeAttempts(
  path: ScriptPath,
  lines: readonly ScriptLine[],
  candidates: readonly LineCandidate[][],
): ScriptPath {
  const pairs = path.pairs.slice();
  const kept = path.kept.slice();
  let offset = 0;
  let before = 0;
  for (const [first, end] of listParagraphs(lines)) {
    const offsets: number[] = [];
    for (let i = first; i < end; i++) {
      offsets.push(offset);
      offset += lines[i]!.words.length;
    }
    const after = findFirst(pairs, offset) ?? kept.length;
    const accepted = candidates.slice(first, end).map((row) => row.filter((one) => one.accepted));
    const chosen = accepted.map((row, n) => findChosen(row, pairs, offsets[n]!));
    const found = chosen.filter((one) => one !== null);
    if (end - first > 1 && found.length > 0 && !isAttempt(chosen, accepted)) {
      const attempt = findBestAttempt(accepted, before, after);
      if (attempt && worthOfAttempt(attempt, accepted) >= worthOfAttempt(chosen, accepted) - SCRIPT.maxQualityLoss) {
        const all = [...found, ...attempt];
        // Takes may extend into the paragraphs beside theirs.
        const from = Math.max(before, Math.min(...all.map((one) => one.from)));
        kept.fill(0, from, Math.min(after, Math.max(...all.map((one) => one.to))));
        for (const [n, one] of attempt.entries()) {
          kept.fill(1, one.from, one.to);
          pairs.set(one.pairs, offsets[n]);
        }
      }
    }
    for (let k = offsets[0]!; k < offset; k++) before = Math.max(before, pairs[k]! + 1);
  }
  return { pairs, kept };
}

/** Returns the lines of each paragraph as `[first, end)`. A line without a paragraph is one of its own. */
function listParagraphs(lines: readonly ScriptLine[]): [first: number, end: number][] {
  const out: [number, number][] = [];
  for (const [i, { paragraph }] of lines.entries()) {
    const last = out.at(-1);
    if (last && paragraph !== undefined && lines[i - 1]!.paragraph === paragraph) last[1] = i + 1;
    else out.push([i, i + 1]);
  }
  return out;
}

/** Returns the first token of the path from a word of the script on; null if it has none. */
function findFirst(pairs: Int32Array, from: number): number | null {
  return pairs.subarray(from).find((token) => token >= 0) ?? null;
}

/** Returns the candidate in which the path has a line: the one with most of its words. */
function findChosen(row: readonly LineCandidate[], pairs: Int32Array, offset: number): LineCandidate | null {
  let best: LineCandidate | null = null;
  let most = 0;
  for (const one of row) {
    const own = pairs.subarray(offset, offset + one.pairs.length);
    const shared = own.filter((token) => token >= one.from && token < one.to).length;
    if (shared <= most) continue;
    most = shared;
    best = one;
  }
  return best;
}

/** Returns whether takes follow each other with few words between them, none of which is another take of the paragraph. */
const isAttempt = (takes: ChosenTakes, accepted: readonly LineCandidate[][]): boolean =>
  takes.every((one, n) => {
    const before = takes[n - 1];
    return one !== null && (n === 0 || (before !== null && follows(before!, one, accepted)));
  });

function follows(one: LineCandidate, next: LineCandidate, accepted: readonly LineCandidate[][]): boolean {
  const gap = next.from - one.to;
  if (gap < 0 || gap > COMMON.maxAddedWords) return false;
  return !accepted.some((row) => row.some((other) => other.from >= one.to && other.to <= next.from));
}

function findBestAttempt(accepted: readonly LineCandidate[][], before: number, after: number): Attempt | null {
  let best: Attempt | null = null;
  let highest = Number.NEGATIVE_INFINITY;
  for (const start of accepted[0]!) {
    if (start.from < before || !start.complete) continue;
    const takes = [start];
    for (const row of accepted.slice(1)) {
      const next = row.find((one) => one.complete && follows(takes.at(-1)!, one, accepted));
      if (!next) break;
      takes.push(next);
    }
    if (takes.length < accepted.length || takes.at(-1)!.to > after) continue;
    const worth = worthOfAttempt(takes, accepted);
    if (worth < highest) continue;
    highest = worth;
    best = takes;
  }
  return best;
}

/** Returns the mean worth of the takes, of which later ones are worth more. */
function worthOfAttempt(takes: ChosenTakes, accepted: readonly LineCandidate[][]): number {
  const worths = takes.map((one, n) => (one ? worthOf(one, accepted[n]!.indexOf(one)) : takeWorth(0, 0)));
  return worths.reduce((sum, worth) => sum + worth, 0) / worths.length;
}
