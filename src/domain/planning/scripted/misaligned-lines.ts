/**
 * Lines on the path that do not align there: they move to their last repetition, or are completed by the speech beside
 * them.
 */

import { measureWordDistance } from "../../text/normalize";
import { createYieldCounter, findBestAlignment, type PlanSteps, requestAlignmentsOf } from "../context";
import type { EarlierTake } from "../retakes/takes-by-line";
import { COMMON, RETAKES, SCRIPT } from "../thresholds";
import { pauseBefore, type Token, type TokenRange } from "../tokens";
import { listNewPhrases, type SettledPath } from "./differing-words";
import type { ScriptPath } from "./find-path";
import { isSpokenLine, type LineCandidate, toAlignmentRequests, toLineWindow } from "./line-candidates";
import { alignLineAt } from "./match-lines";
import type { ScriptedRecording, ScriptLine } from "./script-lines";

/** The path, and the takes whose lines were moved to their retakes. */
export type RetakenPath = { path: SettledPath; retaken: EarlierTake[] };

/** Line `line` is at `place`, in `take`. `pairs` are the path's words of the line. */
type RepeatedPlace = LinePlace & { take: EarlierTake };

/**
 * Moves each line that does not align, and whose words are repeated, to its retake: the audio does not show which take
 * is better, so the last one is kept. Up to two words at its start and end that are not repeated stay where they are.
 * Words of the retake that the line lacks are kept in place of its own.
 */
export function* moveToRetakes(
  path: ScriptPath,
  candidates: readonly LineCandidate[][],
  earlierTakes: readonly EarlierTake[],
  recording: ScriptedRecording,
): PlanSteps<RetakenPath> {
  const { lines, tokens } = recording;
  const kept = path.kept.slice();
  const differing = new Uint8Array(tokens.length);
  const pairs = path.pairs.slice();
  const retaken: EarlierTake[] = [];
  const repeated = listRepeatedPlaces(pairs, candidates, earlierTakes, recording);
  const misaligned = yield* listMisaligned(repeated, recording);
  // The last line comes first, so that lines that were repeated together move together.
  for (const { line: index, place, take, pairs: own } of misaligned.reverse()) {
    // Words beside the line that are said again with it go with it.
    const isOfTake = !pairs.some((token) => token >= place.to && token < take.to);
    const end = isOfTake ? take.to : place.to;
    if (kept.subarray(Math.max(end, place.to), take.retakeStart + 1).includes(1)) continue;
    const line = lines[index]!;
    const retake = toRetakeRange(take.retakeStart, line.words.length, kept, tokens);
    const moved = alignLineAt(index, line, tokens, retake.from, retake.to).pairs;
    const [before, after] = [own, moved].map((found) => measureFoundShare(line, found, tokens));
    // A line that certainly resembles the speech stays in place, unless its retake resembles it too.
    if (before! >= RETAKES.minSimilarShare && after! < SCRIPT.minMatchScore) continue;
    kept.fill(0, take.from, end);
    kept.fill(1, retake.from, retake.to);
    differing.fill(1, retake.from, retake.to);
    for (const token of moved) if (token >= 0) differing[token] = 0;
    own.set(moved);
    retaken.push(take);
  }
  return { path: { pairs, kept, differing }, retaken };
}

/** Returns the required lines that the path has in words that are repeated. */
function listRepeatedPlaces(
  pairs: Int32Array,
  candidates: readonly LineCandidate[][],
  earlierTakes: readonly EarlierTake[],
  { lines, tokens }: ScriptedRecording,
): RepeatedPlace[] {
  const findLastRetake = createRetakeSearch(earlierTakes, tokens.length);
  return listLinePlaces(pairs, lines).flatMap((one) => {
    const take = findLastRetake(one.place);
    // If both candidates are accepted, the better one was already chosen.
    const isAccepted = (j: number) =>
      candidates[one.line]!.some(({ accepted, from, to }) => accepted && from <= j && j < to);
    return take && !isAccepted(take.retakeStart) ? [{ ...one, take }] : [];
  });
}

/**
 * Returns a function that returns the part of a range that is repeated, with the start of its last retake; null if more
 * than two words are not repeated, which may be those of the lines beside it.
 */
function createRetakeSearch(
  earlierTakes: readonly EarlierTake[],
  tokenCount: number,
): (range: TokenRange) => EarlierTake | null {
  const takeAt = new Int32Array(tokenCount).fill(-1);
  // When several takes have a token, the one that is repeated last comes first.
  for (const [n, { from, to }] of earlierTakes.entries())
    for (let j = from; j < to; j++) if (takeAt[j]! < 0) takeAt[j] = n;
  return (range) => {
    let { from, to } = range;
    while (from < to && takeAt[from]! < 0) from++;
    while (to > from && takeAt[to - 1]! < 0) to--;
    const others = range.to - range.from - (to - from);
    if (from === to || others > COMMON.maxSlipWords || takeAt.subarray(from, to).includes(-1)) return null;
    const last = earlierTakes[takeAt[to - 1]!]!;
    let { retakeStart } = last;
    while (takeAt[retakeStart]! >= 0) retakeStart = earlierTakes[takeAt[retakeStart]!]!.retakeStart;
    return { ...last, from, retakeStart };
  };
}

/** Returns the phrases from `from` on that are about as long as a line, up to kept tokens. */
function toRetakeRange(from: number, wordCount: number, kept: Uint8Array, tokens: readonly Token[]): TokenRange {
  const next = kept.indexOf(1, from);
  const last = Math.min(next < 0 ? tokens.length : next, from + Math.floor(COMMON.maxSlowerFactor * wordCount));
  let to = from + 1;
  while (to < last) {
    const isPhraseEnd = pauseBefore(tokens, to) >= COMMON.minPause;
    if (isPhraseEnd && to - from >= COMMON.minLengthRatio * wordCount) break;
    to++;
  }
  return { from, to };
}

/** Returns the path with phrases after, then before, each incomplete line, until they are about as long as the line. */
export function* completeLines(
  path: SettledPath,
  recording: ScriptedRecording,
  repeated: Uint8Array,
): PlanSteps<SettledPath> {
  const isYieldDue = createYieldCounter();
  const { lines } = recording;
  const kept = path.kept.slice();
  const differing = path.differing.slice();
  const incomplete = listLinePlaces(path.pairs, lines).filter((one) => isIncomplete(one, recording));
  for (const { line, place } of yield* listMisaligned(incomplete, recording)) {
    const phrases: TokenRange[] = [];
    for (const run of listRunsBeside(place, kept)) {
      const found = yield* listNewPhrases(run, { ...recording, path, repeated, isYieldDue });
      phrases.push(...(run.from === place.to ? found : found.reverse()));
    }
    const wordCount = lines[line]!.words.length;
    let length = place.to - place.from;
    for (const { from, to } of phrases) {
      if (length >= COMMON.minLengthRatio * wordCount) break;
      if (length + to - from > COMMON.maxSlowerFactor * wordCount) continue;
      length += to - from;
      kept.fill(1, from, to);
      differing.fill(1, from, to);
    }
  }
  return { pairs: path.pairs, kept, differing };
}

/** Returns whether a line hardly resembles its place, and the place is too short for it. */
function isIncomplete({ line: index, place, pairs }: LinePlace, { lines, tokens }: ScriptedRecording): boolean {
  const line = lines[index]!;
  const isShort = place.to - place.from < COMMON.minLengthRatio * line.words.length;
  return isShort && measureFoundShare(line, pairs, tokens) < RETAKES.minSimilarShare;
}

/** Returns the tokens after and before a place, up to kept ones. At the ends of the script, anything may be said. */
function listRunsBeside(place: TokenRange, kept: Uint8Array): TokenRange[] {
  const next = kept.indexOf(1, place.to);
  const before = place.from === 0 ? -1 : kept.lastIndexOf(1, place.from - 1);
  const runs: TokenRange[] = [];
  if (next > place.to) runs.push({ from: place.to, to: next });
  if (before >= 0 && before + 1 < place.from) runs.push({ from: before + 1, to: place.from });
  return runs;
}

/** A line on the path, from its first to its last matched token. `pairs` are the path's words of the line. */
export type LinePlace = { line: number; place: TokenRange; pairs: Int32Array };

/** Returns the places of the required lines. Their pairs are views of the path's pairs. */
export function listLinePlaces(pairs: Int32Array, lines: readonly ScriptLine[]): LinePlace[] {
  let at = 0;
  return lines.flatMap((line, index) => {
    const own = pairs.subarray(at, at + line.words.length);
    at += line.words.length;
    const said = own.filter((token) => token >= 0);
    if (said.length === 0 || line.optional) return [];
    return [{ line: index, place: { from: said[0]!, to: said.at(-1)! + 1 }, pairs: own }];
  });
}

/** Returns the places in which their lines do not align. */
export function* listMisaligned<Place extends LinePlace>(
  places: readonly Place[],
  { lines, tokens, activity }: ScriptedRecording,
): PlanSteps<Place[]> {
  const results = yield* requestAlignmentsOf(
    places.map(({ line, place }) => ({
      requests: toAlignmentRequests(lines[line]!, toLineWindow(place, tokens, activity)),
    })),
  );
  return places.filter((_, n) => {
    const alignment = findBestAlignment(results[n]!);
    return !alignment || !isSpokenLine(alignment);
  });
}

/** Returns the share of a line's words that resemble the tokens in their places. */
export const measureFoundShare = (line: ScriptLine, pairs: Int32Array, tokens: readonly Token[]): number =>
  line.words.filter((word, k) => pairs[k]! >= 0 && measureWordDistance(word, tokens[pairs[k]!]!.normal) < 1).length /
  line.words.length;
