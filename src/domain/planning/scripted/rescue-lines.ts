/** Looks by ear for the lines that the transcript does not show: a recogniser that misspells a sentence still knows it when it is told. */

import type { AlignedWord } from "../../speech";
import { fromSeconds, type Span, type Ticks } from "../../time";
import { bestForced } from "../alignments";
import type { PlanSteps } from "../context";
import { pauseBefore } from "../tokens";
import { withinBudget } from "./alignment-budget";
import { fitOf, type LineCandidate, qualityOf, readingsOf } from "./line-candidates";
import { type Match, matchAt } from "./match-lines";
import type { LineTake } from "./path-takes";
import type { Hearing } from "./scripted-input";

const MOST_TRIES = 10;
const PHRASE_PAUSE = fromSeconds(0.14);
/** Speech is usually this fast, in ticks for each letter. */
const USUAL_PACE = 70_000;
const SLOWER = 1.7;
const FASTER = 0.55;

/** What the sound gave for a line that does not fit as a whole: where some of its words are, perhaps. */
export type Trace = { line: number; words: AlignedWord[] };
export type Rescued = { candidates: LineCandidate[]; traces: Trace[] };

/** A candidate is good enough when the sound agrees. */
const found = (row: readonly LineCandidate[] | undefined) => row?.some((candidate) => candidate.accepted) === true;

/** Further candidates: for lines that were not found, and for those that may have been said once more. */
export function* rescueLines(
  takes: readonly (LineTake | null)[],
  candidates: readonly LineCandidate[][],
  hearing: Hearing,
): PlanSteps<Rescued> {
  const { heard, lines } = hearing;
  const pace = usualPace(candidates, hearing);
  const sought = lines.map((_, index) => {
    const stretch = found(candidates[index])
      ? laterStretch(takes, candidates, hearing, index)
      : missedStretch(takes, candidates, hearing, index);
    return { index, stretch, among: `${stretch.from}-${stretch.to}` };
  });
  const crowd = new Map<string, number>();
  for (const { among } of sought) crowd.set(among, (crowd.get(among) ?? 0) + 1);
  // Where few lines are missing each of them is likely to be there.
  const likely = sought.toSorted((a, b) => crowd.get(a.among)! - crowd.get(b.among)!);
  const wanted = likely.flatMap(({ index, stretch }) => {
    const line = lines[index]!;
    const length = pace * line.words.join(" ").length;
    return starts(hearing, stretch.from, stretch.to)
      .filter((start) => heard[stretch.to - 1]!.end - heard[start]!.start >= FASTER * length)
      .slice(-MOST_TRIES)
      .map((start) => {
        let end = start + 1;
        while (end < stretch.to && heard[end]!.end - heard[start]!.start <= length * SLOWER + fromSeconds(0.6)) end++;
        const window = roundWindow(hearing, start, end);
        return { index, start, end, window, requests: readingsOf(line, window) };
      });
  });
  const tries = withinBudget(wanted, hearing.sound.duration).toSorted((a, b) => a.index - b.index);
  const answers = yield tries.flatMap((one) => one.requests);
  const rescued: LineCandidate[] = [];
  const traces: Trace[] = [];
  let at = 0;
  for (const { index, start, end, window, requests } of tries) {
    const forced = bestForced(answers.slice(at, at + requests.length));
    at += requests.length;
    const fit = forced ? fitOf(forced, hearing.sound) : "none";
    if (!forced) continue;
    if (fit === "none") {
      traces.push({ line: index, words: forced.words });
      continue;
    }
    const last = forced.words.at(-1)!.end;
    let to = start + 1;
    while (to < end && (heard[to]!.start + heard[to]!.end) / 2 < last) to++;
    rescued.push({
      ...matched(matchAt(index, lines[index]!, heard, start, to)),
      window: { start: window.start, end: Math.min(window.end, last + fromSeconds(0.15)) },
      forced,
      quality: qualityOf(forced, fit),
      complete: true,
      accepted: true,
    });
  }
  return { candidates: bestApart(rescued), traces };
}

/** When no word is spelled alike, the line's words are spread over the heard ones. */
function matched(match: Match): Match {
  if (match.pairs.some((heard) => heard >= 0)) return match;
  const { from, to } = match;
  const pairs = match.pairs.map((_, k) => from + Math.floor((k * (to - from)) / match.pairs.length));
  return { ...match, pairs };
}

type Stretch = { from: number; to: number };

/** Where a line that was not found may be: between the takes of the lines around it. */
function missedStretch(
  takes: readonly (LineTake | null)[],
  candidates: readonly LineCandidate[][],
  { heard }: Hearing,
  index: number,
): Stretch {
  const from = takes.slice(0, index).findLast((take, i) => take && found(candidates[i]))?.to ?? 0;
  const to = takes.slice(index + 1).find((take, i) => take && found(candidates[index + 1 + i]))?.from ?? heard.length;
  return { from, to };
}

/** Where a line that was found may have been said once more, unrecognisably: after its last take, before anything else that was found. */
function laterStretch(
  takes: readonly (LineTake | null)[],
  candidates: readonly LineCandidate[][],
  { heard }: Hearing,
  index: number,
): Stretch {
  const own = takes[index];
  if (!own) return { from: 0, to: 0 };
  const accepted = candidates.flat().filter((one) => one.accepted);
  const from = Math.max(own.to, ...accepted.filter((one) => one.line === index).map((one) => one.to));
  const next = takes.slice(index + 1).find((take) => take && take.from >= from);
  const to = Math.min(next?.from ?? heard.length, ...accepted.filter((one) => one.from >= from).map((one) => one.from));
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
function starts({ heard }: Hearing, from: number, to: number): number[] {
  const out: number[] = [];
  for (let j = from; j < to; j++) if (j === from || pauseBefore(heard, j) >= PHRASE_PAUSE) out.push(j);
  return out;
}

function roundWindow({ heard, sound }: Hearing, from: number, to: number): Span {
  const before = heard[from - 1]?.end ?? 0;
  const after = heard[to]?.start ?? sound.duration;
  const [start, end] = [heard[from]!.start, heard[to - 1]!.end];
  const pad = fromSeconds(0.15);
  return {
    start: Math.round(Math.max(0, start - Math.min(pad, Math.max(0, start - before) / 2))),
    end: Math.round(Math.min(sound.duration, end + Math.min(pad, Math.max(0, after - end) / 2))),
  };
}

function usualPace(candidates: readonly LineCandidate[][], { heard, lines }: Hearing): Ticks {
  const paces = candidates
    .flat()
    .filter((one) => one.accepted)
    .map((one) => (heard[one.to - 1]!.end - heard[one.from]!.start) / lines[one.line]!.words.join(" ").length)
    .sort((a, b) => a - b);
  return paces[paces.length >> 1] ?? USUAL_PACE;
}
