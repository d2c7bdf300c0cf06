/** Takes out of a chosen take what is not in its line: hesitations, a cough, a word to oneself. */

import type { CutOptions } from "../../plan";
import type { AlignmentRequest } from "../../speech";
import { fromSeconds, type Span, type Ticks } from "../../time";
import { findBestAlignment, isUsableAlignment } from "../alignments";
import { findOverlapping, overlapDuration } from "../audio-activity";
import type { PlanSteps } from "../context";
import { isFillerText } from "../fillers/filler-words";
import type { ConfirmedTake } from "./confirm-takes";
import { toAlignmentRequests } from "./line-candidates";
import type { ScriptedInput } from "./scripted-input";

/** A stretch that was taken out of a take. */
export type Excision = Span & { reason: "filler" | "retake" };
export type ExcisedTake = ConfirmedTake & { excisions: Excision[] };

/** Shorter sound that stands apart is the release of a "t" or "k". */
const SHORTEST_HESITATION = fromSeconds(0.07);
const LONGEST_HESITATION = fromSeconds(0.9);
const QUIET: Ticks = fromSeconds(0.1);
/** Muting a hesitation makes the line fit better; muting a word makes it fit much worse. */
const MAY_FALL = 0.03;
/** Somebody who begins a line again pauses at least this long. */
const RESTART_PAUSE = fromSeconds(0.1);
const MOST_STARTS = 3;
const MUTE_PAD = fromSeconds(0.02);

/** Tries, for each take, to do without the isolated sounds in it; what the line does not miss is cut. */
export function* exciseDisfluencies(
  takes: readonly ConfirmedTake[],
  input: ScriptedInput,
  options: CutOptions,
): PlanSteps<ExcisedTake[]> {
  const trials: { take: number; span: Span; reason: Excision["reason"]; requests: AlignmentRequest[] }[] = [];
  for (const [index, take] of takes.entries()) {
    if (!isUsableAlignment(take.alignment)) continue;
    for (const { span, reason } of listExcisionCandidates(take, input, options)) {
      const mute = [...take.mute, { start: span.start - MUTE_PAD, end: span.end + MUTE_PAD }];
      trials.push({
        take: index,
        span,
        reason,
        requests: toAlignmentRequests(input.lines[take.line]!, take.window, mute),
      });
    }
  }
  const answers = yield trials.flatMap((trial) => trial.requests);
  const refined: ExcisedTake[] = takes.map((take) => ({ ...take, excisions: [] }));
  let at = 0;
  for (const { take, span, reason, requests } of trials) {
    const without = findBestAlignment(answers.slice(at, at + requests.length));
    at += requests.length;
    const before = takes[take]!.alignment;
    if (!without || !before || without.meanLogProb < before.meanLogProb - MAY_FALL) continue;
    refined[take]!.excisions.push({ ...span, reason });
    if (without.meanLogProb >= refined[take]!.alignment!.meanLogProb - MAY_FALL) refined[take]!.alignment = without;
  }
  return refined;
}

/** The stretches of a take that it may do without. */
function listExcisionCandidates(
  take: ConfirmedTake,
  input: ScriptedInput,
  options: CutOptions,
): { span: Span; reason: Excision["reason"] }[] {
  const inside = findOverlapping(input.activity.speechRegions, take.window).filter(
    (region) => !take.mute.some((span) => overlapDuration(span, region) > 0),
  );
  const fillers = options.remove_fillers ? findFillerRegions(take, inside, input) : [];
  const falseStarts = options.remove_retakes ? findFalseStarts(take, inside) : [];
  return [
    ...fillers.map((span) => ({ span, reason: "filler" as const })),
    ...falseStarts.map((span) => ({ span, reason: "retake" as const })),
  ];
}

/** Islands that stand apart and are short, and in which no more than a word of the line was heard. */
function findFillerRegions(take: ConfirmedTake, inside: readonly Span[], { tokens, words }: ScriptedInput): Span[] {
  const paired = new Set(take.pairs);
  return inside.filter((region, i) => {
    const before = region.start - (inside[i - 1]?.end ?? Number.NEGATIVE_INFINITY);
    const after = (inside[i + 1]?.start ?? Number.POSITIVE_INFINITY) - region.end;
    const length = region.end - region.start;
    if (
      inside.length < 2 ||
      length < SHORTEST_HESITATION ||
      length > LONGEST_HESITATION ||
      Math.min(before, after) < QUIET
    )
      return false;
    let sure = 0;
    for (let k = take.from; k < take.to; k++) {
      const word = tokens[k]!;
      const inIsland = overlapDuration(word, region) > (word.end - word.start) / 2;
      if (inIsland && paired.has(k) && !isFillerText(words[word.word]!.text)) sure++;
    }
    return sure <= 1;
  });
}

/** What lies before the first pauses: the line may begin again after one of them, though the transcript has it only once. */
function findFalseStarts(take: ConfirmedTake, inside: readonly Span[]): Span[] {
  const start = inside[0]?.start ?? 0;
  const latest = start + 0.65 * (take.window.end - start);
  const ends = inside.flatMap((region, i) => {
    const next = inside[i + 1];
    return next && next.start - region.end >= RESTART_PAUSE && next.start < latest ? [region.end] : [];
  });
  return ends.slice(0, MOST_STARTS).map((end) => ({ start, end }));
}
