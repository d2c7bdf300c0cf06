/** Last stage with a script: lists the takes found for each line. */

import type { Candidate } from "../../plan";
import { createDistanceCache } from "../../text/normalize";
import { alignWords } from "../../text/word-alignment";
import type { EarlierTake } from "../retakes/takes-by-line";
import type { LineTakes } from "../take-list";
import type { ConfirmedTake } from "./confirm-takes";
import { type LineCandidate, toLineWindow } from "./line-candidates";
import type { ScriptedRecording } from "./scripted-recording";

/**
 * Returns all takes of each spoken line. A stretch that is kept for another line, or matches another line better, is
 * not a take of this one. A false start that is too short to be identified by its words is a take of the line that
 * follows it.
 */
export function listLineTakes(
  recording: ScriptedRecording,
  candidates: readonly LineCandidate[][],
  takes: readonly (ConfirmedTake | null)[],
  earlierTakes: readonly EarlierTake[],
): LineTakes[] {
  const { lines, tokens } = recording;
  const owners = findOwners(tokens.length, candidates, takes);
  const falseStarts = listFalseStarts(recording, candidates, takes, earlierTakes);
  return lines.flatMap((line, i) => {
    const take = takes[i];
    if (!take) return [];
    const others = candidates[i]!.filter((one) => {
      let own = 0;
      for (let j = one.from; j < one.to; j++) if (owners[j] === i) own++;
      const isKept = Math.min(one.to, take.to) - Math.max(one.from, take.from) > (one.to - one.from) / 2;
      return !isKept && 2 * own > one.to - one.from;
    });
    return [
      {
        line: line.text,
        chosen: { ...take.window, score: take.quality, complete: take.complete },
        others: [
          ...others.map(({ window, quality, complete }) => ({ ...window, score: quality, complete })),
          ...falseStarts[i]!,
        ],
      },
    ];
  });
}

/** Returns for each line the false starts that are not among its candidates. */
function listFalseStarts(
  { lines, tokens, activity }: ScriptedRecording,
  candidates: readonly LineCandidate[][],
  takes: readonly (ConfirmedTake | null)[],
  earlierTakes: readonly EarlierTake[],
): Candidate[][] {
  const distanceBetween = createDistanceCache();
  const lineAt = new Int32Array(tokens.length).fill(-1);
  for (const take of takes) if (take) lineAt.fill(take.line, take.from, take.to);
  const out: Candidate[][] = lines.map(() => []);
  // Those repeated last come first, so that a false start of a false start finds its line.
  for (const { from, to, retakeStart } of earlierTakes) {
    const line = lineAt[retakeStart]!;
    if (line < 0 || lineAt[from]! >= 0) continue;
    for (let j = from; j < to; j++) if (lineAt[j]! < 0) lineAt[j] = line;
    if (candidates[line]!.some((one) => one.from < to && from < one.to)) continue;
    const said = tokens.slice(from, to).map((token) => token.normal);
    const { cost } = alignWords(said, lines[line]!.words, distanceBetween);
    const score = Math.max(0, 1 - cost / lines[line]!.words.length);
    out[line]!.push({ ...toLineWindow({ from, to }, tokens, activity), score, complete: false });
  }
  return out;
}

/** Returns the line of each token: the line for which it is kept, or the one with the best candidate there. */
function findOwners(
  tokenCount: number,
  candidates: readonly LineCandidate[][],
  takes: readonly (ConfirmedTake | null)[],
): Int32Array {
  const owners = new Int32Array(tokenCount).fill(-1);
  const best = new Float32Array(tokenCount).fill(-1);
  for (const one of candidates.flat()) {
    for (let j = one.from; j < one.to; j++) {
      if (one.quality <= best[j]!) continue;
      best[j] = one.quality;
      owners[j] = one.line;
    }
  }
  for (const take of takes) if (take) owners.fill(take.line, take.from, take.to);
  return owners;
}
