/** Stage 10: removes from the kept takes everything that is not in their lines: fillers, a cough, a false start. */

import type { AlignmentRequest } from "../../speech";
import type { Span } from "../../time";
import { findBestAlignment, isUsableAlignment, type PlanSteps, requestAlignments } from "../context";
import { isFillerText } from "../lexicon/lexicon";
import type { RuleMatch } from "../rules";
import { durationOf, findOverlapping, overlapDuration } from "../spans";
import { FILLERS } from "../thresholds";
import { type ConfirmedTake, listDifferingWords, listUnspokenWords } from "./confirm-takes";
import { isSpokenLine, toAlignmentRequests } from "./line-candidates";
import type { ScriptedRecording } from "./script-lines";
import { SCRIPT } from "./thresholds";

/** A span that is removed from a take. */
export type Excision = Span & { match: RuleMatch<"filler.within_line" | "false_start.within_line"> };
export type ExcisedTake = ConfirmedTake & { excisions: Excision[] };

/** A span that may not be part of its take's line. */
type Trial = { take: number; span: Span; rule: Excision["match"]["rule"]; requests: AlignmentRequest[] };

/** Aligns each take with its isolated regions muted, and removes those without which the line aligns as well. */
export function* exciseDisfluencies(
  takes: readonly ConfirmedTake[],
  recording: ScriptedRecording,
): PlanSteps<ExcisedTake[]> {
  const trials: Trial[] = [];
  for (const [index, take] of takes.entries()) {
    if (!isUsableAlignment(take.alignment)) continue;
    for (const { span, rule } of listTrialSpans(take, recording)) {
      const muted = { start: span.start - SCRIPT.mutePadding, end: span.end + SCRIPT.mutePadding };
      const requests = toAlignmentRequests(recording.lines[take.line]!, take.window, [...take.mute, muted]);
      trials.push({ take: index, span, rule, requests });
    }
  }
  const results = yield* requestAlignments(trials.flatMap((trial) => trial.requests));
  const excised: ExcisedTake[] = takes.map((take) => ({ ...take, excisions: [] }));
  let at = 0;
  for (const { take, span, rule, requests } of trials) {
    const without = findBestAlignment(results.slice(at, at + requests.length));
    at += requests.length;
    const before = takes[take]!.alignment;
    if (!without || !before || without.meanLogProb < before.meanLogProb - SCRIPT.maxLoss) continue;
    // Only a line that is spoken in the rest was restarted. A line that differs from the script aligns badly anyway.
    if (rule === "false_start.within_line" && !isSpokenLine(without)) continue;
    const scores = {
      alignment: before.meanLogProb,
      alignmentWithout: without.meanLogProb,
      duration: durationOf(span),
    };
    excised[take]!.excisions.push({ ...span, match: { rule, scores } });
    if (without.meanLogProb >= excised[take]!.alignment!.meanLogProb - SCRIPT.maxLoss)
      excised[take]!.alignment = without;
  }
  return excised;
}

function listTrialSpans(take: ConfirmedTake, recording: ScriptedRecording): { span: Span; rule: Trial["rule"] }[] {
  const regions = findOverlapping(recording.activity.speechRegions, take.window).filter(
    (region) => !take.mute.some((span) => overlapDuration(span, region) > 0),
  );
  // Replacement words do not align with the line, so muting them never makes the alignment worse.
  const differing = [...listDifferingWords(take, recording), ...(take.review ? listUnspokenWords(take) : [])];
  const isBeyondLine = (span: Span) => !differing.some((word) => overlapDuration(word, span) > durationOf(word) / 2);
  const fillers = findFillerRegions(take, regions, recording).filter(isBeyondLine);
  const falseStarts = findFalseStarts(regions).filter(isBeyondLine);
  return [
    ...fillers.map((span) => ({ span, rule: "filler.within_line" as const })),
    ...falseStarts.map((span) => ({ span, rule: "false_start.within_line" as const })),
  ];
}

/** Returns the short isolated regions in which at most one word of the line was recognized. */
function findFillerRegions(take: ConfirmedTake, regions: readonly Span[], recording: ScriptedRecording): Span[] {
  if (regions.length < 2) return [];
  const paired = new Set(take.pairs);
  return regions.filter((region, i) => {
    const before = region.start - (regions[i - 1]?.end ?? Number.NEGATIVE_INFINITY);
    const after = (regions[i + 1]?.start ?? Number.POSITIVE_INFINITY) - region.end;
    const length = durationOf(region);
    if (length < FILLERS.minFiller || length > FILLERS.maxWordlessFiller) return false;
    if (Math.min(before, after) < SCRIPT.minShortPause) return false;
    // A line that differs from the speech aligns badly with and without each of its sounds.
    if (!take.isAligned && !hasFiller(take, region, recording)) return false;
    return countLineWords(take, paired, region, recording) <= 1;
  });
}

/** Returns whether a filler was recognized in a region. */
const hasFiller = ({ from, to }: ConfirmedTake, region: Span, { tokens, words, lexicon }: ScriptedRecording): boolean =>
  tokens
    .slice(from, to)
    .some((token) => overlapDuration(token, region) > 0 && isFillerText(words[token.word]!.text, lexicon));

/** Returns how many words of the line, not counting fillers, are mostly in a region. */
function countLineWords(
  { from, to }: ConfirmedTake,
  paired: ReadonlySet<number>,
  region: Span,
  { tokens, words, lexicon }: ScriptedRecording,
): number {
  let count = 0;
  for (let k = from; k < to; k++) {
    const token = tokens[k]!;
    const isInside = overlapDuration(token, region) > durationOf(token) / 2;
    if (isInside && paired.has(k) && !isFillerText(words[token.word]!.text, lexicon)) count++;
  }
  return count;
}

/** Returns the parts before the first pauses: the line may restart after a pause, even if transcribed once. */
function findFalseStarts(regions: readonly Span[]): Span[] {
  const start = regions[0]?.start ?? 0;
  const ends = regions.flatMap((region, i) => {
    const next = regions[i + 1];
    const isBeforePause = next && next.start - region.end >= SCRIPT.minShortPause;
    return isBeforePause ? [region.end] : [];
  });
  return ends.slice(0, SCRIPT.maxTrials).map((end) => ({ start, end }));
}
