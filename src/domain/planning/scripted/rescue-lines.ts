/** Looks by ear for the lines that the transcript does not show: a recogniser that misspells a sentence still knows it when it is told. */

import type { AlignedWord } from "../../speech";
import { fromSeconds, type Span, type Ticks } from "../../time";
import { findBestAlignment } from "../alignments";
import type { PlanSteps } from "../context";
import { pauseBefore } from "../tokens";
import { fitToBudget } from "./alignment-budget";
import { classifyFit, type LineCandidate, rateAlignment, toAlignmentRequests } from "./line-candidates";
import { alignLineAt, type LineMatch } from "./match-lines";
import type { PathTake } from "./path-takes";
import type { ScriptedInput } from "./scripted-input";

const MOST_TRIES = 10;
const PHRASE_PAUSE = fromSeconds(0.14);
/** Speech is usually this fast, in ticks for each letter. */
const USUAL_PACE = 70_000;
const SLOWER = 1.7;
const FASTER = 0.55;

/** What the sound gave for a line that does not fit as a whole: where some of its words are, perhaps. */
export type PartialAlignment = { line: number; words: AlignedWord[] };
export type Rescued = { candidates: LineCandidate[]; partialAlignments: PartialAlignment[] };

/** A candidate is good enough when the sound agrees. */
const found = (row: readonly LineCandidate[] | undefined) => row?.some((candidate) => candidate.accepted) === true;

/** Further candidates: for lines that were not found, and for those that may have been said once more. */
export function* rescueLines(
  takes: readonly (PathTake | null)[],
  candidates: readonly LineCandidate[][],
  input: ScriptedInput,
): PlanSteps<Rescued> {
  const { tokens, lines } = input;
  const ticksPerLetter = usualPace(candidates, input);
  const sought = lines.map((_, index) => {
    const stretch = found(candidates[index])
      ? laterStretch(takes, candidates, input, index)
      : missedStretch(takes, candidates, input, index);
    return { index, stretch, among: `${stretch.from}-${stretch.to}` };
  });
  const crowd = new Map<string, number>();
  for (const { among } of sought) crowd.set(among, (crowd.get(among) ?? 0) + 1);
  // Where few lines are missing each of them is likely to be there.
  const likely = sought.toSorted((a, b) => crowd.get(a.among)! - crowd.get(b.among)!);
  const wanted = likely.flatMap(({ index, stretch }) => {
    const line = lines[index]!;
    const length = ticksPerLetter * line.words.join(" ").length;
    return starts(input, stretch.from, stretch.to)
      .filter((start) => tokens[stretch.to - 1]!.end - tokens[start]!.start >= FASTER * length)
      .slice(-MOST_TRIES)
      .map((start) => {
        let end = start + 1;
        while (end < stretch.to && tokens[end]!.end - tokens[start]!.start <= length * SLOWER + fromSeconds(0.6)) end++;
        const window = roundWindow(input, start, end);
        return { index, start, end, window, requests: toAlignmentRequests(line, window) };
      });
  });
  const tries = fitToBudget(wanted, input.activity.duration).toSorted((a, b) => a.index - b.index);
  const answers = yield tries.flatMap((one) => one.requests);
  const rescued: LineCandidate[] = [];
  const partialAlignments: PartialAlignment[] = [];
  let at = 0;
  for (const { index, start, end, window, requests } of tries) {
    const alignment = findBestAlignment(answers.slice(at, at + requests.length));
    at += requests.length;
    const fit = alignment ? classifyFit(alignment, input.activity) : "none";
    if (!alignment) continue;
    if (fit === "none") {
      partialAlignments.push({ line: index, words: alignment.words });
      continue;
    }
    const last = alignment.words.at(-1)!.end;
    let to = start + 1;
    while (to < end && (tokens[to]!.start + tokens[to]!.end) / 2 < last) to++;
    rescued.push({
      ...matched(alignLineAt(index, lines[index]!, tokens, start, to)),
      window: { start: window.start, end: Math.min(window.end, last + fromSeconds(0.15)) },
      alignment,
      quality: rateAlignment(alignment, fit),
      complete: true,
      accepted: true,
    });
  }
  return { candidates: bestApart(rescued), partialAlignments };
}

/** When no word is spelled alike, the line's words are spread over the heard ones. */
function matched(match: LineMatch): LineMatch {
  if (match.pairs.some((tokens) => tokens >= 0)) return match;
  const { from, to } = match;
  const pairs = match.pairs.map((_, k) => from + Math.floor((k * (to - from)) / match.pairs.length));
  return { ...match, pairs };
}

type TokenRange = { from: number; to: number };

/** Where a line that was not found may be: between the takes of the lines around it. */
function missedStretch(
  takes: readonly (PathTake | null)[],
  candidates: readonly LineCandidate[][],
  { tokens }: ScriptedInput,
  index: number,
): TokenRange {
  const from = takes.slice(0, index).findLast((take, i) => take && found(candidates[i]))?.to ?? 0;
  const to = takes.slice(index + 1).find((take, i) => take && found(candidates[index + 1 + i]))?.from ?? tokens.length;
  return { from, to };
}

/** Where a line that was found may have been said once more, unrecognisably: after its last take, before anything else that was found. */
function laterStretch(
  takes: readonly (PathTake | null)[],
  candidates: readonly LineCandidate[][],
  { tokens }: ScriptedInput,
  index: number,
): TokenRange {
  const own = takes[index];
  if (!own) return { from: 0, to: 0 };
  const accepted = candidates.flat().filter((one) => one.accepted);
  const from = Math.max(own.to, ...accepted.filter((one) => one.line === index).map((one) => one.to));
  const next = takes.slice(index + 1).find((take) => take && take.from >= from);
  const to = Math.min(
    next?.from ?? tokens.length,
    ...accepted.filter((one) => one.from >= from).map((one) => one.from),
  );
  return { from, to };
}

/** Of windows that overlap, the one that fits best. */
function bestApart(rescued: readonly LineCandidate[]): LineCandidate[] {
  const out: LineCandidate[] = [];
  for (const one of [...rescued].sort((a, b) => b.quality - a.quality)) {
    if (!out.some((other) => other.line === one.line && other.from < one.to && one.from < other.to)) out.push(one);
  }
  return out;
}

/** The heard words of a stretch at which a phrase begins. */
function starts({ tokens }: ScriptedInput, from: number, to: number): number[] {
  const out: number[] = [];
  for (let j = from; j < to; j++) if (j === from || pauseBefore(tokens, j) >= PHRASE_PAUSE) out.push(j);
  return out;
}

function roundWindow({ tokens, activity }: ScriptedInput, from: number, to: number): Span {
  const before = tokens[from - 1]?.end ?? 0;
  const after = tokens[to]?.start ?? activity.duration;
  const [start, end] = [tokens[from]!.start, tokens[to - 1]!.end];
  const pad = fromSeconds(0.15);
  return {
    start: Math.round(Math.max(0, start - Math.min(pad, Math.max(0, start - before) / 2))),
    end: Math.round(Math.min(activity.duration, end + Math.min(pad, Math.max(0, after - end) / 2))),
  };
}

function usualPace(candidates: readonly LineCandidate[][], { tokens, lines }: ScriptedInput): Ticks {
  const paces = candidates
    .flat()
    .filter((one) => one.accepted)
    .map((one) => (tokens[one.to - 1]!.end - tokens[one.from]!.start) / lines[one.line]!.words.join(" ").length)
    .sort((a, b) => a - b);
  return paces[paces.length >> 1] ?? USUAL_PACE;
}
