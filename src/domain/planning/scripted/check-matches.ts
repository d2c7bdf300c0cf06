/** Holds what resembles a line against the sound. */
import { findBestAlignment } from "../alignments";
import type { PlanSteps } from "../context";
import { fitToBudget } from "./alignment-budget";
import {
  type LineCandidate,
  listCandidateRanges,
  rateCandidate,
  toAlignmentRequests,
  toWindow,
} from "./line-candidates";
import type { LineMatch } from "./match-lines";
import type { ScriptedInput } from "./scripted-input";

/** A wider stretch must fit better by this to be taken. */
const WIDER_IS_BETTER = 0.05;

/** Holds every line against each stretch that resembles it. */
export function* checkMatches(
  matches: readonly LineMatch[][],
  { tokens, activity, lines }: ScriptedInput,
): PlanSteps<LineCandidate[][]> {
  const all = matches.flat().map((match) => {
    const wanted = listCandidateRanges(match, tokens).map((range) => {
      const window = toWindow(range, tokens, activity);
      return { match, range, window, requests: toAlignmentRequests(lines[match.line]!, window) };
    });
    return { match, wanted, requests: wanted.flatMap(({ requests }) => requests) };
  });
  // Where not all can be held against the sound, those that resemble their line most are; the others count as not found.
  const best = new Map<LineMatch, LineCandidate>();
  const byScore = all.toSorted((a, b) => b.match.score - a.match.score);
  const asked = fitToBudget(byScore, activity.duration).flatMap(({ wanted }) => wanted);
  const answers = yield asked.flatMap((one) => one.requests);
  let at = 0;
  for (const { match, range, window, requests } of asked) {
    const alignment = findBestAlignment(answers.slice(at, at + requests.length));
    at += requests.length;
    const candidate = rateCandidate({ ...match, ...range }, window, alignment, activity);
    const known = best.get(match)?.alignment;
    const better = !known || (alignment !== null && alignment.meanLogProb > known.meanLogProb + WIDER_IS_BETTER);
    if (!best.has(match) || better) best.set(match, candidate);
  }
  return matches.map((row) => row.flatMap((match) => best.get(match) ?? []));
}
