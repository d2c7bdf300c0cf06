/** Stage 7: moves lines that do not align from words that are repeated to their last repetition. */
import type { PlanSteps } from "../context";
import type { EarlierTake } from "../retakes/takes-by-line";
import { pauseBefore, type Token, type TokenRange } from "../tokens";
import { MIN_SIMILARITY, MIN_SURE_SIMILARITY } from "./confirm-takes";
import { MIN_PHRASE_PAUSE_TICKS, type SettledPath } from "./differing-words";
import type { ScriptPath } from "./find-path";
import type { LineCandidate } from "./line-candidates";
import { type LinePlace, listLinePlaces, listMisaligned, measureFoundShare } from "./line-places";
import { alignLineAt } from "./match-lines";
import type { ScriptedRecording } from "./scripted-recording";

/** Bounds of a retake's number of words, as a share of its line's. */
const MIN_LENGTH_RATIO = 0.75;
const MAX_LENGTH_RATIO = 1.6;

/** The path, and the takes whose lines were moved to their retakes. */
export type RetakenPath = { path: SettledPath; retaken: EarlierTake[] };

/** Line `line` is at `place`, in `take`. `pairs` are the path's words of the line. */
type RepeatedPlace = LinePlace & { take: EarlierTake };

/**
 * Moves each line that does not align, and all of whose words are repeated, to its retake: the audio does not show
 * which take is better, so the last one is kept. Words of the retake that the line lacks are kept in place of its own.
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
    if (kept.subarray(place.to, take.retakeStart + 1).includes(1)) continue;
    const line = lines[index]!;
    const retake = toRetakeRange(take.retakeStart, line.words.length, kept, tokens);
    const moved = alignLineAt(index, line, tokens, retake.from, retake.to).pairs;
    const [before, after] = [own, moved].map((found) => measureFoundShare(line, found, tokens));
    // A line that certainly resembles the speech stays in place.
    if (after! < MIN_SIMILARITY || (before! >= MIN_SURE_SIMILARITY && after! < MIN_SURE_SIMILARITY)) continue;
    kept.fill(0, place.from, place.to);
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
 * Returns a function that returns the take that contains all of a range, with the start of its last retake; null if
 * some of the range is not repeated.
 */
function createRetakeSearch(
  earlierTakes: readonly EarlierTake[],
  tokenCount: number,
): (range: TokenRange) => EarlierTake | null {
  const takeAt = new Int32Array(tokenCount).fill(-1);
  // Of several takes with a token, the one that is repeated last comes first.
  for (const [n, { from, to }] of earlierTakes.entries())
    for (let j = from; j < to; j++) if (takeAt[j]! < 0) takeAt[j] = n;
  return ({ from, to }) => {
    const take = earlierTakes[takeAt[from]!];
    if (!take || take.to < to) return null;
    let { retakeStart } = take;
    while (takeAt[retakeStart]! >= 0) retakeStart = earlierTakes[takeAt[retakeStart]!]!.retakeStart;
    return { ...take, retakeStart };
  };
}

/** Returns the phrases from `from` on that are about as long as a line, up to kept tokens. */
function toRetakeRange(from: number, wordCount: number, kept: Uint8Array, tokens: readonly Token[]): TokenRange {
  const next = kept.indexOf(1, from);
  const last = Math.min(next < 0 ? tokens.length : next, from + Math.floor(MAX_LENGTH_RATIO * wordCount));
  let to = from + 1;
  while (to < last) {
    const isPhraseEnd = pauseBefore(tokens, to) >= MIN_PHRASE_PAUSE_TICKS;
    if (isPhraseEnd && to - from >= MIN_LENGTH_RATIO * wordCount) break;
    to++;
  }
  return { from, to };
}
