/** Aligns each line with the stretches that resemble it, also where some of its words are not those that are said. */

import type { AlignmentRequest } from "../../speech";
import type { Ticks } from "../../time";
import { findBestAlignment, type PlanSteps, requestAlignments } from "../context";
import {
  type LineCandidate,
  listCandidateRanges,
  rateCandidate,
  toAlignmentRequests,
  toLineWindow,
} from "./line-candidates";
import type { LineMatch } from "./match-lines";
import type { ScriptedRecording } from "./scripted-recording";
import { SCRIPT } from "./thresholds";

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
    const isBetter =
      !known || (alignment !== null && alignment.meanLogProb > known.meanLogProb + SCRIPT.minLeadOfWider);
    if (!best.has(match) || isBetter) best.set(match, candidate);
  }
  return matches.map((row) => row.flatMap((match) => best.get(match) ?? []));
}

/** Returns the first of `items` whose requests together fit the budget for a recording of this duration. */
export function fitToBudget<T extends { requests: readonly AlignmentRequest[] }>(
  items: readonly T[],
  duration: Ticks,
): T[] {
  let left = SCRIPT.minBudget + SCRIPT.maxTimesDuration * duration;
  return items.filter(({ requests }) => {
    left -= requests.reduce((sum, { window }) => sum + window.end - window.start, 0);
    return left >= 0;
  });
}
