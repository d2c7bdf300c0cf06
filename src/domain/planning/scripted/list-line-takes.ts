/** The takes that were found of each line of a script. */

import type { Candidate } from "../../plan";
import { createDistanceCache } from "../../text/normal";
import { alignWords } from "../../text/word-alignment";
import type { EarlierTake } from "../retakes/takes-by-line";
import type { LineTakes } from "../take-list";
import type { ConfirmedTake } from "./confirm-takes";
import { type LineCandidate, toWindow } from "./line-candidates";
import type { ScriptedInput } from "./scripted-input";

/**
 * All takes of each spoken line. A stretch that is kept of another line, or fits another better, is no take of this one; a beginning too
 * short to be known by its words is one when what was said `again` right after it is the line.
 */
export function listLineTakes(
  input: ScriptedInput,
  candidates: readonly LineCandidate[][],
  spoken: readonly (ConfirmedTake | null)[],
  earlierTakes: readonly EarlierTake[],
): LineTakes[] {
  const { lines, tokens } = input;
  const owners = ownersOf(tokens.length, candidates, spoken);
  const beginnings = beginningsOf(input, candidates, spoken, earlierTakes);
  return lines.flatMap((line, i) => {
    const take = spoken[i];
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
          ...beginnings[i]!,
        ],
      },
    ];
  });
}

/** For each line the attempts at it that are none of its candidates. */
function beginningsOf(
  { lines, tokens, activity }: ScriptedInput,
  candidates: readonly LineCandidate[][],
  spoken: readonly (ConfirmedTake | null)[],
  earlierTakes: readonly EarlierTake[],
): Candidate[][] {
  const distanceBetween = createDistanceCache();
  const lineAt = new Int32Array(tokens.length).fill(-1);
  for (const take of spoken) if (take) lineAt.fill(take.line, take.from, take.to);
  const out: Candidate[][] = lines.map(() => []);
  // Those said again last come first, so that an attempt at an attempt finds its line.
  for (const { from, to, retakeStart: next } of earlierTakes) {
    const line = lineAt[next]!;
    if (line < 0 || lineAt[from]! >= 0) continue;
    for (let j = from; j < to; j++) if (lineAt[j]! < 0) lineAt[j] = line;
    if (candidates[line]!.some((one) => one.from < to && from < one.to)) continue;
    const said = tokens.slice(from, to).map((word) => word.normal);
    const { cost } = alignWords(said, lines[line]!.words, distanceBetween);
    const score = 0.85 * Math.max(0, 1 - cost / lines[line]!.words.length);
    out[line]!.push({ ...toWindow({ from, to }, tokens, activity), score, complete: false });
  }
  return out;
}

/** The line that each heard word belongs to: the one that it is kept for, or the one whose candidate fits best. */
function ownersOf(
  tokenCount: number,
  candidates: readonly LineCandidate[][],
  spoken: readonly (ConfirmedTake | null)[],
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
  for (const take of spoken) if (take) owners.fill(take.line, take.from, take.to);
  return owners;
}
