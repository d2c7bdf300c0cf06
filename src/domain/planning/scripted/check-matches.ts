/** Holds what resembles a line against the sound. */
import { bestForced } from "../alignments";
import type { PlanSteps } from "../context";
import { withinBudget } from "./alignment-budget";
import { extentsOf, judged, type LineCandidate, readingsOf, windowOf } from "./line-candidates";
import type { Match } from "./match-lines";
import type { Hearing } from "./scripted-input";

/** A wider stretch must fit better by this to be taken. */
const WIDER_IS_BETTER = 0.05;

/** Holds every line against each stretch that resembles it. */
export function* checkMatches(
  matches: readonly Match[][],
  { heard, sound, lines }: Hearing,
): PlanSteps<LineCandidate[][]> {
  const all = matches.flat().map((match) => {
    const wanted = extentsOf(match, heard).map((extent) => {
      const window = windowOf(extent, heard, sound);
      return { match, extent, window, requests: readingsOf(lines[match.line]!, window) };
    });
    return { match, wanted, requests: wanted.flatMap(({ requests }) => requests) };
  });
  // Where not all can be held against the sound, those that resemble their line most are; the others count as not found.
  const best = new Map<Match, LineCandidate>();
  const byScore = all.toSorted((a, b) => b.match.score - a.match.score);
  const asked = withinBudget(byScore, sound.duration).flatMap(({ wanted }) => wanted);
  const answers = yield asked.flatMap((one) => one.requests);
  let at = 0;
  for (const { match, extent, window, requests } of asked) {
    const forced = bestForced(answers.slice(at, at + requests.length));
    at += requests.length;
    const candidate = judged({ ...match, ...extent }, window, forced, sound);
    const known = best.get(match)?.forced;
    const better = !known || (forced !== null && forced.meanLogProb > known.meanLogProb + WIDER_IS_BETTER);
    if (!best.has(match) || better) best.set(match, candidate);
  }
  return matches.map((row) => row.flatMap((match) => best.get(match) ?? []));
}
