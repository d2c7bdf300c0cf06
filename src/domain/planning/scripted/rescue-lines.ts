/** Finds lines by audio that the transcript does not show: a misspelled sentence may still align. */

import type { AlignedWord } from "../../speech";
import { findFirst, type Span, type Ticks } from "../../time";
import { findBestAlignment, type PlanSteps, requestAlignmentsOf } from "../context";
import { durationOf } from "../spans";
import { ACTIVITY, COMMON, SCRIPT } from "../thresholds";
import { pauseBefore, type TokenRange, toMaxLength } from "../tokens";
import {
  fitToBudget,
  isSpokenLine,
  type LineCandidate,
  padWindow,
  rateAlignment,
  toAlignmentRequests,
  withoutWrongWords,
} from "./line-candidates";
import { alignLineAt, type LineMatch } from "./match-lines";
import type { PathTake } from "./path-takes";
import type { ScriptedRecording } from "./script-lines";

/** The words of a line that did not align as a whole. Some of them may be there. */
export type PartialAlignment = { line: number; words: AlignedWord[] };
export type Rescued = { candidates: LineCandidate[]; partialAlignments: PartialAlignment[] };

/** Returns more candidates: for lines that were not found, and for lines that may have been repeated. */
export function* rescueLines(
  takes: readonly (PathTake | null)[],
  candidates: readonly LineCandidate[][],
  recording: ScriptedRecording,
): PlanSteps<Rescued> {
  const { tokens, lines } = recording;
  const trials = listTrials(takes, candidates, recording);
  const results = yield* requestAlignmentsOf(trials);
  const rescued: LineCandidate[] = [];
  const partialAlignments: PartialAlignment[] = [];
  const aligned = trials.flatMap((trial, i) => {
    const alignment = findBestAlignment(results[i]!);
    return alignment ? [{ ...trial, alignment }] : [];
  });
  const byLine = Map.groupBy(aligned, ({ index }) => index);
  for (const { index, start, end, window, alignment } of aligned) {
    const known = [...candidates[index]!, ...byLine.get(index)!].flatMap((one) => one.alignment ?? []);
    const spoken = withoutWrongWords(alignment, known);
    if (!isSpokenLine(spoken)) {
      partialAlignments.push({ line: index, words: alignment.words });
      continue;
    }
    const last = alignment.words.at(-1)!.end;
    let to = start + 1;
    while (to < end && (tokens[to]!.start + tokens[to]!.end) / 2 < last) to++;
    const match = withPairs(alignLineAt(index, lines[index]!, tokens, start, to));
    rescued.push({
      ...match,
      window: { start: window.start, end: Math.min(window.end, last + COMMON.padding) },
      alignment,
      similarity: match.score,
      quality: rateAlignment(spoken),
      complete: true,
      accepted: true,
    });
  }
  return { candidates: dropOverlapping(rescued), partialAlignments };
}

/** Returns the windows with which to align each line, in the order of the lines. */
function listTrials(
  takes: readonly (PathTake | null)[],
  candidates: readonly LineCandidate[][],
  recording: ScriptedRecording,
) {
  const { tokens, lines } = recording;
  const ticksPerCharacter = measureMedian(
    candidates,
    ({ line, from, to }) => (tokens[to - 1]!.end - tokens[from]!.start) / lines[line]!.words.join(" ").length,
  );
  const starts = candidates
    .flatMap((row) => row.flatMap((one) => (one.accepted ? [one.from] : [])))
    .sort((a, b) => a - b);
  const searches = lines.map((_, index) => {
    // An accepted candidate without a take is elsewhere: the same line may be said several times.
    const stretch =
      takes[index] && hasAccepted(candidates[index])
        ? findLaterStretch(takes, candidates, recording, index, starts)
        : findMissedStretch(takes, candidates, recording, index);
    return { index, stretch, key: `${stretch.from}-${stretch.to}` };
  });
  const counts = new Map<string, number>();
  for (const { key } of searches) counts.set(key, (counts.get(key) ?? 0) + 1);
  // In a stretch with few missing lines, each of them is likely to be there.
  const likelyFirst = searches.toSorted((a, b) => counts.get(a.key)! - counts.get(b.key)!);
  const trials = likelyFirst.flatMap(({ index, stretch }) => {
    const line = lines[index]!;
    const duration = ticksPerCharacter * line.words.join(" ").length;
    const isLongEnough = (start: number) => toMaxLength(tokens[stretch.to - 1]!.end - tokens[start]!.start) >= duration;
    const maxDuration = toMaxLength(duration);
    return listPhraseStarts(recording, stretch.from, stretch.to)
      .filter(isLongEnough)
      .slice(-SCRIPT.maxTrialsPerLine)
      .map((start) => {
        let end = start + 1;
        while (end < stretch.to && tokens[end]!.end - tokens[start]!.start <= maxDuration) end++;
        const window = toPhraseWindow(recording, start, end);
        return { index, start, end, window, requests: toAlignmentRequests(line, window) };
      });
  });
  return fitToBudget(trials, recording.activity.duration).toSorted((a, b) => a.index - b.index);
}

const hasAccepted = (row: readonly LineCandidate[] | undefined) => row?.some((one) => one.accepted) === true;

/** Returns the match. If no word is spelled alike, the line's words are spread evenly over the tokens. */
function withPairs(match: LineMatch): LineMatch {
  if (match.pairs.some((token) => token >= 0)) return match;
  const { from, to } = match;
  const pairs = match.pairs.map((_, k) => from + Math.floor((k * (to - from)) / match.pairs.length));
  return { ...match, pairs };
}

/** Returns where a missing line may be: between the takes of the surrounding lines. */
function findMissedStretch(
  takes: readonly (PathTake | null)[],
  candidates: readonly LineCandidate[][],
  { tokens }: ScriptedRecording,
  index: number,
): TokenRange {
  const isFound = (take: PathTake | null, i: number) => take && hasAccepted(candidates[i]);
  const from = takes.slice(0, index).findLast((take, i) => isFound(take, i))?.to ?? 0;
  const next = takes.slice(index + 1).find((take, i) => isFound(take, index + 1 + i));
  return { from, to: next?.from ?? tokens.length };
}

/**
 * Returns where a line may have been repeated without being recognized: after its last take, before other lines.
 * `starts` are those of all accepted candidates, sorted.
 */
function findLaterStretch(
  takes: readonly (PathTake | null)[],
  candidates: readonly LineCandidate[][],
  { tokens }: ScriptedRecording,
  index: number,
  starts: readonly number[],
): TokenRange {
  const own = candidates[index]!.filter((one) => one.accepted);
  const from = Math.max(takes[index]!.to, ...own.map((one) => one.to));
  const isNext = (take: PathTake | null, i: number) => i > index && take !== null && take.from >= from;
  const next = takes.find(isNext)?.from ?? tokens.length;
  const later = starts[findFirst(starts.length, (i) => starts[i]! >= from)] ?? tokens.length;
  return { from, to: Math.min(next, later) };
}

/** Returns the candidates without those that overlap a better one of the same line. */
function dropOverlapping(rescued: readonly LineCandidate[]): LineCandidate[] {
  const out: LineCandidate[] = [];
  for (const one of [...rescued].sort((a, b) => b.quality - a.quality)) {
    if (!out.some((other) => other.line === one.line && other.from < one.to && one.from < other.to)) out.push(one);
  }
  return out;
}

/** Returns the tokens of a stretch at which a phrase starts. */
function listPhraseStarts({ tokens }: ScriptedRecording, from: number, to: number): number[] {
  const out: number[] = [];
  for (let j = from; j < to; j++) if (j === from || pauseBefore(tokens, j) >= ACTIVITY.minRestartPause) out.push(j);
  return out;
}

function toPhraseWindow({ tokens, activity }: ScriptedRecording, from: number, to: number): Span {
  const before = tokens[from - 1]?.end ?? 0;
  const after = tokens[to]?.start ?? activity.duration;
  return padWindow({ start: tokens[from]!.start, end: tokens[to - 1]!.end }, before, after, activity.duration);
}

/** Returns the median duration of a character in the accepted candidates, without the pauses between words. */
export const measureSpeechPace = (candidates: readonly LineCandidate[][], recording: ScriptedRecording): Ticks =>
  measureMedian(candidates, (one) => {
    const spoken = recording.tokens.slice(one.from, one.to).reduce((sum, token) => sum + durationOf(token), 0);
    return spoken / recording.lines[one.line]!.words.join("").length;
  });

/** Returns the median pace of the accepted candidates. */
function measureMedian(
  candidates: readonly LineCandidate[][],
  measurePace: (candidate: LineCandidate) => Ticks,
): Ticks {
  const paces = candidates
    .flat()
    .filter((one) => one.accepted)
    .map(measurePace)
    .sort((a, b) => a - b);
  return paces[paces.length >> 1] ?? SCRIPT.usualTicksPerCharacter;
}
