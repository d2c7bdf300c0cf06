/** Stage 5: aligns each line with the stretches that resemble it. */
import { findBestAlignment } from "../alignments";
import { type PlanSteps, requestAlignments } from "../context";
import { fitToBudget } from "./alignment-budget";
import { acceptDiffering } from "./differing-candidates";
import {
  type LineCandidate,
  listCandidateRanges,
  rateCandidate,
  toAlignmentRequests,
  toLineWindow,
} from "./line-candidates";
import type { LineMatch } from "./match-lines";
import type { ScriptedRecording } from "./scripted-recording";

/** A wider stretch must align better by at least this mean log probability. */
const MIN_LEAD_OF_WIDER = 0.05;

/** Returns the rated candidates of each line. */
export function* checkMatches(
  matches: readonly LineMatch[][],
  { tokens, activity, lines }: ScriptedRecording,
): PlanSteps<LineCandidate[][]> {
  const all = matches.flat().map((match) => {
    const trials = listCandidateRanges(match, tokens).map((range) => {
      const window = toLineWindow(range, tokens, activity);
      return { match, range, window, requests: toAlignmentRequests(lines[match.line]!, window) };
    });
    return { match, trials, requests: trials.flatMap(({ requests }) => requests) };
  });
  // If the budget is exceeded, the most similar matches are aligned, and the others count as not found.
  const byScore = all.toSorted((a, b) => b.match.score - a.match.score);
  const trials = fitToBudget(byScore, activity.duration).flatMap((one) => one.trials);
  const results = yield* requestAlignments(trials.flatMap((trial) => trial.requests));
  const best = new Map<LineMatch, LineCandidate>();
  let at = 0;
  for (const { match, range, window, requests } of trials) {
    const alignment = findBestAlignment(results.slice(at, at + requests.length));
    at += requests.length;
    const candidate = rateCandidate({ ...match, ...range }, window, alignment, activity);
    const known = best.get(match)?.alignment;
    const isBetter = !known || (alignment !== null && alignment.meanLogProb > known.meanLogProb + MIN_LEAD_OF_WIDER);
    if (!best.has(match) || isBetter) best.set(match, candidate);
  }
  return matches.map((row) =>
    acceptDiffering(
      row.flatMap((match) => best.get(match) ?? []),
      activity,
    ),
  );
}
