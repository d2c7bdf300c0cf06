/** Stage 7: lines that are not recorded, so that no words of other lines are kept as their takes. */

import { createDistanceCache } from "../../text/normalize";
import { COMMON } from "../thresholds";
import type { TokenRange } from "../tokens";
import type { ScriptPath } from "./find-path";
import type { LineCandidate } from "./line-candidates";
import { alignLineAt } from "./match-lines";
import type { PathTake } from "./path-takes";
import type { ScriptedRecording } from "./script-lines";

/** `isExact`: nearly all lines that are spoken are read word for word, so others are hardly replaced by other words. */
export type SpokenPath = { path: ScriptPath; isExact: boolean };

/**
 * Returns the path without lines that are spoken nowhere and that it has inside the kept take of the line before or
 * after them. If the script is read word for word, those go too that it has in another take or a false start of these
 * lines, and those whose words are fewer than half of the words at their place.
 */
export function dropUnspokenLines(
  path: ScriptPath,
  found: readonly (PathTake | null)[],
  candidates: readonly LineCandidate[][],
  { lines, tokens }: ScriptedRecording,
): SpokenPath {
  const pairs = path.pairs.slice();
  const kept = path.kept.slice();
  const distanceBetween = createDistanceCache();
  const isSpoken = found.map(
    (take, i) => take !== null && candidates[i]!.some((one) => one.accepted && shares(one, take)),
  );
  const isExact = areReadExactly(candidates.filter((_, i) => isSpoken[i]));
  /** Returns how many words of a range are those of a line, in order. Similar words count in part. */
  const countAlike = (i: number, { from, to }: TokenRange): number => {
    const { words } = lines[i]!;
    const own = alignLineAt(i, lines[i]!, tokens, from, to, distanceBetween).pairs;
    return own.reduce((sum, j, k) => sum + (j < 0 ? 0 : 1 - distanceBetween(words[k]!, tokens[j]!.normal)), 0);
  };
  let offset = 0;
  for (const [i, take] of found.entries()) {
    const own = pairs.subarray(offset, offset + lines[i]!.words.length);
    offset += lines[i]!.words.length;
    if (!take || isSpoken[i]) continue;
    const alike = countAlike(i, take);
    const isUnlike = alike < COMMON.minSameShare * (take.to - take.from);
    // A line may differ from the one beside it in a word, so one more word is no evidence.
    const isOf = (line: number) =>
      candidates[line]!.some((one) => one.accepted && shares(one, found[line]!) && contains(one, take)) ||
      (isExact && countAlike(line, take) >= alike + COMMON.maxSlipWords);
    const neighbors = [isSpoken.lastIndexOf(true, i), isSpoken.indexOf(true, i)].filter((line) => line >= 0);
    if (!(isExact && isUnlike) && !neighbors.some(isOf)) continue;
    own.fill(-1);
    kept.fill(0, take.from, take.to);
  }
  return { path: { pairs, kept }, isExact };
}

const shares = (one: TokenRange, other: TokenRange) => one.from < other.to && other.from < one.to;
const contains = (one: TokenRange, other: TokenRange) => one.from <= other.from && other.to <= one.to;

/** Returns whether nearly all words of spoken lines, and more than a sentence, are in lines with a complete take. */
function areReadExactly(candidates: readonly LineCandidate[][]): boolean {
  const isWhole = ({ score, alignment }: LineCandidate) =>
    score === 1 || alignment?.words.every(({ logProb }) => logProb >= COMMON.maxMisfit) === true;
  const countWords = (rows: readonly LineCandidate[][]) => rows.reduce((sum, row) => sum + row[0]!.pairs.length, 0);
  const exact = countWords(candidates.filter((row) => row.some(isWhole)));
  return exact > COMMON.sentenceWords && exact >= COMMON.minCompleteShare * countWords(candidates);
}
