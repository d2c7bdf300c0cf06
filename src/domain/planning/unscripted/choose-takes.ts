/** Stage 5: chooses the take of a line to keep: the last complete one, unless an earlier one is clearly better. */
import type { Candidate } from "../../plan";
import { joinTexts } from "../../segments";
import type { Word } from "../../speech";
import { createDistanceCache } from "../../text/normalize";
import { alignWords } from "../../text/word-alignment";
import { fromSeconds } from "../../time";
import { type AudioActivity, measureClipping } from "../audio-activity";
import { MAX_SAME_WORD_DISTANCE } from "../retakes/repetition";
import { toWindow } from "../retakes/repetition-pairs";
import type { RepeatedLine } from "../retakes/takes-by-line";
import { takeWorth } from "../take-list";
import type { Token, TokenRange } from "../tokens";
import { groupParagraphs } from "./attempts";

/** Share of equal words from which the text determines how complete a take is. Below it, the duration does. */
const MIN_EQUAL_SHARE = 0.6;
/** A take with this share of the line's duration is complete. */
const MIN_COMPLETE_SHARE = 0.8;
const MIN_CONFIDENCE = 1e-3;

export type RatedTake = TokenRange & Candidate;
/** The takes of one line in order of time; `chosen` indexes them. */
export type RatedLine = { text: string; takes: RatedTake[]; chosen: number };

type TakeInput = { words: readonly Word[]; tokens: readonly Token[]; activity: AudioActivity };

/**
 * Rates and chooses the takes of each line. Lines that were spoken together are kept from one attempt, so that their
 * tone and order stay. `isRemoved` returns whether a token is removed: a take is never moved behind kept words.
 */
export function chooseTakes(
  lines: readonly RepeatedLine[],
  input: TakeInput,
  isRemoved: (token: number) => boolean,
): RatedLine[] {
  const distanceBetween = createDistanceCache();
  const rated = lines.map(({ last, earlier }) => ({
    text: joinTakeText(input, last),
    takes: [...earlier, last].map((range) => rateTake(range, last, input, distanceBetween)),
    chosen: earlier.length,
  }));
  const areRemoved = (from: number, to: number) => {
    for (let i = from; i < to; i++) if (!isRemoved(i)) return false;
    return true;
  };
  for (const paragraph of groupParagraphs(lines)) {
    const attempts = paragraph.attempts.map((takes) =>
      takes.map((take, n) => rated[paragraph.lines[n]!]!.takes[take]!),
    );
    const attempt = paragraph.attempts[chooseAttempt(attempts, areRemoved)]!;
    for (const [n, line] of paragraph.lines.entries()) rated[line]!.chosen = attempt[n]!;
  }
  return rated;
}

/** Returns the index of the best complete attempt at a paragraph. The last one defines the lines, so it is complete. */
function chooseAttempt(attempts: readonly RatedTake[][], areRemoved: (from: number, to: number) => boolean): number {
  const last = attempts.length - 1;
  let chosen = last;
  let highest = Number.NEGATIVE_INFINITY;
  let rank = 0;
  for (const [i, takes] of attempts.entries()) {
    if (!takes.every((take) => take.complete)) continue;
    const quality = takes.reduce((sum, take) => sum + take.score, 0) / takes.length;
    const worth = takeWorth(quality, rank++);
    if (worth < highest || (i !== last && !areRemoved(takes.at(-1)!.to, attempts[last]![0]!.from))) continue;
    highest = worth;
    chosen = i;
  }
  return chosen;
}

/** Words this close to a take were spoken together with it. */
const MAX_TOGETHER_PAUSE_TICKS = fromSeconds(0.35);

/** Returns the lines whose kept take is next to words of another attempt, with another complete take of the line. */
export function findAssembledLines(
  lines: readonly RatedLine[],
  tokens: readonly Token[],
  isRemoved: (token: number) => boolean,
): RatedLine[] {
  const joinsKept = (before: number, token: number) =>
    token < tokens.length &&
    before >= 0 &&
    isRemoved(before) !== isRemoved(token) &&
    tokens[token]!.start - tokens[before]!.end < MAX_TOGETHER_PAUSE_TICKS;
  return lines.filter(({ takes, chosen }) =>
    takes.some(
      ({ from, to, complete }, i) => i !== chosen && complete && (joinsKept(from - 1, from) || joinsKept(to - 1, to)),
    ),
  );
}

function rateTake(
  range: TokenRange,
  line: TokenRange,
  { words, tokens, activity }: TakeInput,
  distanceBetween: (a: string, b: string) => number,
): RatedTake {
  const take = tokens.slice(range.from, range.to);
  const whole = tokens.slice(line.from, line.to);
  const isLine = range.from === line.from;
  const { pairs, cost } = alignWords(
    take.map((token) => token.normal),
    whole.map((token) => token.normal),
    distanceBetween,
  );
  const lengthOf = (all: readonly Token[]) => all[all.length - 1]!.end - all[0]!.start;
  const relativeLength = Math.min(1, lengthOf(take) / Math.max(1, lengthOf(whole)));
  const equalShare = Math.max(0, 1 - cost / whole.length);
  const endsAlike =
    distanceBetween(take[take.length - 1]!.normal, whole[whole.length - 1]!.normal) <= MAX_SAME_WORD_DISTANCE;
  const hasEnding = pairs[pairs.length - 1] === whole.length - 1 && endsAlike;
  const isSpelledAlike = equalShare >= MIN_EQUAL_SHARE;
  const logConfidence = take.reduce(
    (sum, token) => sum + Math.log(Math.max(MIN_CONFIDENCE, words[token.word]!.confidence)),
    0,
  );
  const clarity = Math.max(0, 1 + logConfidence / take.length / 4);
  const share = isSpelledAlike ? equalShare : Math.max(equalShare, MIN_EQUAL_SHARE * relativeLength);
  const clipping = measureClipping(activity, { start: take[0]!.start, end: take[take.length - 1]!.end });
  return {
    ...range,
    ...toWindow(tokens, range.from, range.to, activity.duration),
    score: share * clarity * (1 - clipping),
    complete: isLine || (isSpelledAlike ? hasEnding : relativeLength >= MIN_COMPLETE_SHARE),
  };
}

function joinTakeText({ words, tokens }: TakeInput, { from, to }: TokenRange): string {
  const indices = new Set(tokens.slice(from, to).map((token) => token.word));
  return joinTexts([...indices].map((index) => words[index]!.text));
}
