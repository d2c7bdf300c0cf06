/** Takes out of a chosen take what is not in its line: hesitations, a cough, a word to oneself. */

import type { CutOptions } from "../../plan";
import type { AlignmentRequest } from "../../speech";
import { fromSeconds, type Span, type Ticks } from "../../time";
import { bestForced, usable } from "../alignments";
import { islandsIn, overlap } from "../audio-activity";
import type { PlanSteps } from "../context";
import { isFillerText } from "../fillers/filler-words";
import type { SpokenLine } from "./confirm-takes";
import { readingsOf } from "./line-candidates";
import type { Hearing } from "./scripted-input";

/** A stretch that was taken out of a take. */
export type Cut = Span & { reason: "filler" | "retake" };
export type RefinedTake = SpokenLine & { cut: Cut[] };

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
export function* excise(takes: readonly SpokenLine[], hearing: Hearing, options: CutOptions): PlanSteps<RefinedTake[]> {
  const trials: { take: number; span: Span; reason: Cut["reason"]; requests: AlignmentRequest[] }[] = [];
  for (const [index, take] of takes.entries()) {
    if (!usable(take.forced)) continue;
    for (const { span, reason } of suspects(take, hearing, options)) {
      const mute = [...take.mute, { start: span.start - MUTE_PAD, end: span.end + MUTE_PAD }];
      trials.push({ take: index, span, reason, requests: readingsOf(hearing.lines[take.line]!, take.window, mute) });
    }
  }
  const answers = yield trials.flatMap((trial) => trial.requests);
  const refined: RefinedTake[] = takes.map((take) => ({ ...take, cut: [] }));
  let at = 0;
  for (const { take, span, reason, requests } of trials) {
    const without = bestForced(answers.slice(at, at + requests.length));
    at += requests.length;
    const before = takes[take]!.forced;
    if (!without || !before || without.meanLogProb < before.meanLogProb - MAY_FALL) continue;
    refined[take]!.cut.push({ ...span, reason });
    if (without.meanLogProb >= refined[take]!.forced!.meanLogProb - MAY_FALL) refined[take]!.forced = without;
  }
  return refined;
}

/** The stretches of a take that it may do without. */
function suspects(take: SpokenLine, hearing: Hearing, options: CutOptions): { span: Span; reason: Cut["reason"] }[] {
  const inside = islandsIn(hearing.sound.islands, take.window).filter(
    (island) => !take.mute.some((span) => overlap(span, island) > 0),
  );
  const fillers = options.remove_fillers ? hesitations(take, inside, hearing) : [];
  const starts = options.remove_retakes ? falseStarts(take, inside) : [];
  return [
    ...fillers.map((span) => ({ span, reason: "filler" as const })),
    ...starts.map((span) => ({ span, reason: "retake" as const })),
  ];
}

/** Islands that stand apart and are short, and in which no more than a word of the line was heard. */
function hesitations(take: SpokenLine, inside: readonly Span[], { heard, words }: Hearing): Span[] {
  const paired = new Set(take.pairs);
  return inside.filter((island, i) => {
    const before = island.start - (inside[i - 1]?.end ?? Number.NEGATIVE_INFINITY);
    const after = (inside[i + 1]?.start ?? Number.POSITIVE_INFINITY) - island.end;
    const length = island.end - island.start;
    if (
      inside.length < 2 ||
      length < SHORTEST_HESITATION ||
      length > LONGEST_HESITATION ||
      Math.min(before, after) < QUIET
    )
      return false;
    let sure = 0;
    for (let k = take.from; k < take.to; k++) {
      const word = heard[k]!;
      const inIsland = overlap(word, island) > (word.end - word.start) / 2;
      if (inIsland && paired.has(k) && !isFillerText(words[word.word]!.text)) sure++;
    }
    return sure <= 1;
  });
}

/** What lies before the first pauses: the line may begin again after one of them, though the transcript has it only once. */
function falseStarts(take: SpokenLine, inside: readonly Span[]): Span[] {
  const start = inside[0]?.start ?? 0;
  const latest = start + 0.65 * (take.window.end - start);
  const ends = inside.flatMap((island, i) => {
    const next = inside[i + 1];
    return next && next.start - island.end >= RESTART_PAUSE && next.start < latest ? [island.end] : [];
  });
  return ends.slice(0, MOST_STARTS).map((end) => ({ start, end }));
}
