/** Which take of a line is kept when there is no script: the last complete one, unless it is clearly worse than one before it. */

import type { Candidate } from "../../plan";
import { joinTexts } from "../../segments";
import type { Word } from "../../speech";
import { createDistanceCache } from "../../text/normal";
import { alignWords } from "../../text/word-alignment";
import { type AudioActivity, measureClipping } from "../audio-activity";
import { windowAround } from "../retakes/repetition-pairs";
import type { RepeatedLine, TokenRange } from "../retakes/takes-by-line";
import { takeWorth } from "../take-list";
import type { Token } from "../tokens";

/** A take that is spelled otherwise and yet was heard to be the same line is as complete as it is long. */
const SPELLED_ALIKE = 0.6;
const AS_LONG = 0.8;

export type RatedTake = TokenRange & Candidate;
/** The takes of one line in order of time; `chosen` indexes them, and is the last but when it is clearly worse. */
export type RatedLine = { text: string; takes: RatedTake[]; chosen: number };

type TakeInput = { words: readonly Word[]; tokens: readonly Token[]; activity: AudioActivity };

/** Rates the takes of each line and chooses. `isGone` tells whether a heard word goes, so that no take is put behind what follows it. */
export function chooseTakes(
  lines: readonly RepeatedLine[],
  given: TakeInput,
  isGone: (heardWord: number) => boolean,
): RatedLine[] {
  const distanceBetween = createDistanceCache();
  return lines.map(({ last, earlier }) => {
    const takes = [...earlier, last].map((range) => rated(range, last, given, distanceBetween));
    const only = (from: number, to: number) => {
      for (let i = from; i < to; i++) if (!isGone(i)) return false;
      return true;
    };
    let chosen = takes.length - 1;
    let most = Number.NEGATIVE_INFINITY;
    const complete = takes.filter((take) => take.complete);
    for (const [rank, take] of complete.entries()) {
      const worth = takeWorth(take.score, rank);
      if (worth < most || (take.from !== last.from && !only(take.to, last.from))) continue;
      most = worth;
      chosen = takes.indexOf(take);
    }
    return { text: textOf(given, last), takes, chosen };
  });
}

function rated(
  range: TokenRange,
  line: TokenRange,
  { words, tokens, activity }: TakeInput,
  distanceBetween: (a: string, b: string) => number,
): RatedTake {
  const said = tokens.slice(range.from, range.to);
  const whole = tokens.slice(line.from, line.to);
  const isLine = range.from === line.from;
  const { pairs, cost } = alignWords(
    said.map((word) => word.normal),
    whole.map((word) => word.normal),
    distanceBetween,
  );
  const length = (all: readonly Token[]) => all[all.length - 1]!.end - all[0]!.start;
  const long = Math.min(1, length(said) / Math.max(1, length(whole)));
  const alike = Math.max(0, 1 - cost / whole.length);
  const ended = pairs[pairs.length - 1] === whole.length - 1 && nearly(said, whole, distanceBetween);
  const spelled = alike >= SPELLED_ALIKE;
  const sure = said.reduce((sum, word) => sum + Math.log(Math.max(1e-3, words[word.word]!.confidence)), 0);
  const clear = Math.max(0, 1 + sure / said.length / 4);
  const share = spelled ? alike : Math.max(alike, SPELLED_ALIKE * long);
  return {
    ...range,
    ...windowAround(tokens, range.from, range.to, activity.duration),
    score: share * clear * (1 - measureClipping(activity, { start: said[0]!.start, end: said[said.length - 1]!.end })),
    complete: isLine || (spelled ? ended : long >= AS_LONG),
  };
}

/** Whether both end with the same word, and not one with a part of it. */
const nearly = (said: readonly Token[], whole: readonly Token[], distanceBetween: (a: string, b: string) => number) =>
  distanceBetween(said[said.length - 1]!.normal, whole[whole.length - 1]!.normal) <= 0.3;

function textOf({ words, tokens }: TakeInput, { from, to }: TokenRange): string {
  const indices = new Set(tokens.slice(from, to).map((word) => word.word));
  return joinTexts([...indices].map((index) => words[index]!.text));
}
