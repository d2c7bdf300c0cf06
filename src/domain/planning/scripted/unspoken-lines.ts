/** Finds lines that are not recorded, so that no words of other lines are kept as their takes. */

import { measureWordDistance } from "../../text/normalize";
import { COMMON } from "../thresholds";
import type { TokenRange } from "../tokens";
import type { ScriptPath } from "./find-path";
import type { LineCandidate } from "./line-candidates";
import { alignLineAt } from "./match-lines";
import type { PathTake } from "./path-takes";
import type { ScriptedRecording } from "./script-lines";

/** `isExact`: the lines that are spoken are read word for word, so the speech does not replace other lines. */
export type SpokenPath = { path: ScriptPath; isExact: boolean };

/**
 * Returns the path of a script that is read word for word without lines that are spoken nowhere: those that it has in a
 * take or a false start of the line before or after them, and those whose words are fewer than half of the words at
 * their place. Other paths stay: what is said in place of a line may be the line in other words.
 */
export function dropUnspokenLines(
  path: ScriptPath,
  found: readonly (PathTake | null)[],
  candidates: readonly LineCandidate[][],
  { lines, tokens }: ScriptedRecording,
): SpokenPath {
  const isSpoken = found.map(
    (take, i) => take !== null && candidates[i]!.some((one) => one.accepted && shares(one, take)),
  );
  const spoken = candidates.filter((_, i) => isSpoken[i]);
  if (!areReadExactly(spoken, tokens.length)) return { path, isExact: false };
  const pairs = path.pairs.slice();
  const kept = path.kept.slice();
  /** Returns how many words of a range are those of a line, in order. Similar words count in part. */
  const countAlike = (i: number, { from, to }: TokenRange): number => {
    const { words } = lines[i]!;
    const own = alignLineAt(i, lines[i]!, tokens, from, to).pairs;
    return own.reduce((sum, j, k) => sum + (j < 0 ? 0 : 1 - measureWordDistance(words[k]!, tokens[j]!.normal)), 0);
  };
  let offset = 0;
  for (const [i, take] of found.entries()) {
    const own = pairs.subarray(offset, offset + lines[i]!.words.length);
    offset += lines[i]!.words.length;
    if (!take || isSpoken[i]) continue;
    const alike = countAlike(i, take);
    // Neighboring lines may differ in one word, so a single additional match proves nothing.
    const isOf = (line: number) =>
      candidates[line]!.some((one) => one.accepted && shares(one, found[line]!) && contains(one, take)) ||
      countAlike(line, take) >= alike + COMMON.maxSlipWords;
    const neighbors = [isSpoken.lastIndexOf(true, i), isSpoken.indexOf(true, i)].filter((line) => line >= 0);
    const count = path.kept.subarray(take.from, take.to).reduce((sum, one) => sum + one, 0);
    if (alike >= COMMON.minSameShare * count && !neighbors.some(isOf)) continue;
    own.fill(-1);
    kept.fill(0, take.from, take.to);
  }
  return { path: { pairs, kept }, isExact: true };
}

const shares = (one: TokenRange, other: TokenRange) => one.from < other.to && other.from < one.to;
const contains = (one: TokenRange, other: TokenRange) => one.from <= other.from && other.to <= one.to;

/**
 * Returns whether lines are read word for word: 85% of their words are in lines with a take of every word, and these
 * are more than a sentence and most of what is recorded. Short lines are no evidence: with a wrong word, they are not
 * found.
 */
function areReadExactly(candidates: readonly LineCandidate[][], tokenCount: number): boolean {
  const countWords = (rows: readonly LineCandidate[][]) => rows.reduce((sum, row) => sum + row[0]!.pairs.length, 0);
  const isWhole = ({ score, alignment }: LineCandidate) =>
    score === 1 || alignment?.words.every(({ logProb }) => logProb >= COMMON.maxMisfit) === true;
  const long = candidates.filter((row) => row[0]!.pairs.length >= COMMON.manyWords);
  const whole = long.filter((row) => row.some(isWhole));
  if (countWords(whole) < COMMON.minCompleteShare * countWords(long)) return false;
  const isExplained = new Uint8Array(tokenCount);
  for (const { accepted, from, to } of whole.flat()) if (accepted) isExplained.fill(1, from, to);
  const explained = isExplained.reduce((sum, one) => sum + one, 0);
  return countWords(whole) > COMMON.sentenceWords && explained >= COMMON.minSameShare * tokenCount;
}
