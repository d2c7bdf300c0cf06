/** The path follows the spelling; where the sound knows better which take of a line is kept and how far it reaches, the sound decides. */

import { fromSeconds } from "../../time";
import { pauseBefore, type Token } from "../tokens";
import type { ScriptPath } from "./find-path";
import type { LineCandidate } from "./line-candidates";
import { rateTake } from "./path-takes";
import type { ScriptLine } from "./script-lines";

/** A pause after a first word, or before a last one. */
const APART = fromSeconds(0.5);

/** Where a path has a line: its first and last paired heard words, `[from, to)`. */
type TokenRange = { from: number; to: number };

/**
 * Moves each line to the best of its accepted candidates between the lines before and after it, and gives it that candidate's whole
 * stretch. What the path leaves out inside of it stays out.
 */
export function settlePath(
  path: ScriptPath,
  lines: readonly ScriptLine[],
  candidates: readonly LineCandidate[][],
  tokens: readonly Token[],
): ScriptPath {
  const pairs = path.pairs.slice();
  const kept = path.kept.slice();
  const offsets = lines.map(() => 0);
  for (let i = 1; i < lines.length; i++) offsets[i] = offsets[i - 1]! + lines[i - 1]!.words.length;
  const placeAt = (i: number) => placeOf(pairs, offsets[i]!, lines[i]!.words.length);
  let before = 0;
  for (const [i, line] of lines.entries()) {
    const place = placeAt(i);
    if (!place) continue;
    const after = nextSolid(lines, candidates, placeAt, i) ?? kept.length;
    const best = bestBetween(candidates[i]!, place, before, after);
    if (best) {
      const from = Math.max(best.from, before);
      const to = Math.min(best.to, after);
      const same = sharesMost(place, best);
      for (let j = place.from; j < place.to; j++) if (j < from || j >= to || !same) kept[j] = 0;
      for (let j = from; j < to; j++) if (!same || j < place.from || j >= place.to) kept[j] = 1;
      for (let k = 0; k < line.words.length; k++) {
        const pair = same ? pairs[offsets[i]! + k]! : best.pairs[k]!;
        pairs[offsets[i]! + k] = pair >= from && pair < to ? pair : -1;
      }
      for (let k = offsets[i]! + line.words.length; k < pairs.length; k++) if (pairs[k]! < to) pairs[k] = -1;
      before = to;
    } else before = place.to;
    const now = placeAt(i);
    if (now) keepApart(kept, tokens, pairs.subarray(offsets[i]!, offsets[i]! + line.words.length), now);
  }
  return { pairs, kept };
}

/** Where the next line begins that the path has in one of its accepted candidates. */
function nextSolid(
  lines: readonly ScriptLine[],
  candidates: readonly LineCandidate[][],
  placeAt: (i: number) => TokenRange | null,
  i: number,
): number | null {
  for (let next = i + 1; next < lines.length; next++) {
    const place = placeAt(next);
    if (place && candidates[next]!.some((one) => one.accepted && shared(place, one) > 0)) return place.from;
  }
  return null;
}

/** "Hi", "Now": a first or last word that is said apart is often misspelled. What stands alone in its place is kept. */
function keepApart(kept: Uint8Array, tokens: readonly Token[], pairs: Int32Array, { from, to }: TokenRange): void {
  const pause = (j: number) => pauseBefore(tokens, j);
  const fits = (j: number, gap: number, far: number) => tokens[j] && !kept[j] && gap <= APART && far > gap;
  if (pairs[0] === -1 && fits(from - 1, pause(from), pause(from - 1))) kept[from - 1] = 1;
  const far = to + 1 < tokens.length ? pause(to + 1) : Number.POSITIVE_INFINITY;
  if (pairs[pairs.length - 1] === -1 && tokens[to] && fits(to, pause(to), far)) kept[to] = 1;
}

function placeOf(pairs: Int32Array, offset: number, count: number): TokenRange | null {
  const own = pairs.subarray(offset, offset + count).filter((tokens) => tokens >= 0);
  return own.length === 0 ? null : { from: own[0]!, to: own[own.length - 1]! + 1 };
}

const shared = (a: TokenRange, b: TokenRange) => Math.max(0, Math.min(a.to, b.to) - Math.max(a.from, b.from));
const sharesMost = (place: TokenRange, candidate: TokenRange) => shared(place, candidate) > (place.to - place.from) / 2;

/** The best accepted candidate that fits between the neighbours. None when the path has the line elsewhere than in any. */
function bestBetween(
  row: readonly LineCandidate[],
  place: TokenRange,
  before: number,
  after: number,
): LineCandidate | null {
  const accepted = row.filter((one) => one.accepted);
  if (!accepted.some((one) => shared(place, one) > 0)) return null;
  let best: LineCandidate | null = null;
  let most = Number.NEGATIVE_INFINITY;
  for (const [rank, one] of accepted.entries()) {
    const inside = Math.min(one.to, after) - Math.max(one.from, before);
    if (inside < 0.8 * (one.to - one.from) || inside <= 0) continue;
    const worth = rateTake(one, rank);
    if (worth < most) continue;
    best = one;
    most = worth;
  }
  return best;
}
