/**
 * The takes of each line of a recording without a script, and which one to keep: the last complete one, unless another
 * is better.
 */

import type { Candidate } from "../../plan";
import { joinTexts } from "../../segments";
import type { Word } from "../../speech";
import { measureWordDistance } from "../../text/normalize";
import { alignWords } from "../../text/word-alignment";
import { type AudioActivity, measureClipping } from "../audio-activity";
import type { DecidedWord } from "../decided-spans";
import type { RemovalRule, RuleMatch } from "../rules";
import { rateLogProb } from "../spans";
import { type LineTakes, takeWorth } from "../take-list";
import { COMMON, RETAKES } from "../thresholds";
import { endsSentence, findPhraseStarts, type Token, type TokenRange } from "../tokens";
import { isTake, type Retake } from "./find-retakes";
import { toWindow } from "./repetition-pairs";

/** A line that was said more than once. The last take defines it; earlier takes are in order of time. */
export type RepeatedLine = { last: TokenRange; earlier: TokenRange[] };

/** A take that is repeated from token `retakeStart` on, with the rule that found it. */
export type EarlierTake = TokenRange & { retakeStart: number; match: RuleMatch<RemovalRule> };

/** Groups the retakes by line. */
export function groupTakesByLine(
  words: readonly Word[],
  tokens: readonly Token[],
  retakes: readonly Retake[],
): RepeatedLine[] {
  const { takes, removed } = findEarlierTakes(words, tokens, retakes);
  /** For each token, the token of the last take with the same content, and the take to which it belongs. */
  const lastSaid = Int32Array.from(tokens, (_, i) => (removed[i] ? -1 : i));
  const takeOf = new Int32Array(tokens.length).fill(-1);
  const lineStarts = new Set<number>();
  for (const [n, { from, to, retakeStart }] of takes.entries()) {
    const normals = (a: number, b: number) => tokens.slice(a, b).map((token) => token.normal);
    const retake = normals(retakeStart, retakeStart + to - from + COMMON.manyWords);
    const { pairs } = alignWords(normals(from, to), retake, measureWordDistance, true);
    for (let i = from; i < to; i++) {
      const pair = pairs[i - from]!;
      lastSaid[i] = pair < 0 ? -1 : lastSaid[retakeStart + pair]!;
      takeOf[i] = n;
    }
    lastSaid[from] = lastSaid[retakeStart]!;
    lineStarts.add(lastSaid[retakeStart]!);
  }
  const lines = divideIntoLines(words, tokens, removed, lineStarts);
  const lineAt = new Int32Array(tokens.length).fill(-1);
  for (const [n, line] of lines.entries()) lineAt.fill(n, line.last.from, line.last.to);
  for (const take of divideByLine(takeOf, lastSaid, lineAt)) lines[take.line]!.earlier.push(take);
  return lines
    .filter((line) => line.earlier.length > 0)
    .map(({ last, earlier }) => ({ last, earlier: earlier.map(({ from, to }) => ({ from, to })) }));
}

/** Returns the takes in tokens, last repeated first. `removed[i]`: token i is removed with a take or a remark. */
export function findEarlierTakes(
  words: readonly Word[],
  tokens: readonly Token[],
  retakes: readonly Retake[],
): { takes: EarlierTake[]; removed: Uint8Array } {
  const firstToken = new Int32Array(words.length + 1).fill(tokens.length);
  for (let i = tokens.length - 1; i >= 0; i--) firstToken[tokens[i]!.word] = i;
  for (let w = words.length - 1; w >= 0; w--) firstToken[w] = Math.min(firstToken[w]!, firstToken[w + 1]!);
  const phraseStarts = new Set(findPhraseStarts(words, tokens));
  const removed = new Uint8Array(tokens.length);
  const takes: EarlierTake[] = [];
  for (const retake of retakes) {
    const from = firstToken[retake.from]!;
    const to = firstToken[retake.to]!;
    const retakeStart = firstToken[retake.retakeStart]!;
    removed.fill(1, from, to);
    if (!isTake(retake) || to <= from || retakeStart >= tokens.length) continue;
    if (phraseStarts.has(from) || to - from > COMMON.maxSlipWords)
      takes.push({ from, to, retakeStart, match: retake.match });
  }
  return { takes: takes.sort((a, b) => b.retakeStart - a.retakeStart || a.from - b.from), removed };
}

/** Divides the kept tokens into lines: sentences, and a new line wherever something was repeated. */
function divideIntoLines(
  words: readonly Word[],
  tokens: readonly Token[],
  removed: Uint8Array,
  lineStarts: ReadonlySet<number>,
): RepeatedLine[] {
  const lines: RepeatedLine[] = [];
  let before = -1;
  for (let i = 0; i < tokens.length; i++) {
    if (removed[i]) continue;
    const last = lines.at(-1)?.last;
    const startsLine =
      !last || lineStarts.has(i) || i - last.from >= COMMON.maxComparedWords || endsLine(words, tokens, before, i);
    if (startsLine) lines.push({ last: { from: i, to: i + 1 }, earlier: [] });
    else last.to = i + 1;
    before = i;
  }
  return lines;
}

function endsLine(words: readonly Word[], tokens: readonly Token[], before: number, next: number): boolean {
  const [a, b] = [tokens[before]!, tokens[next]!];
  if (a.word === b.word) return false;
  return endsSentence(words[a.word]!.text) || (next === before + 1 && b.start - a.end >= COMMON.longPause);
}

/** Divides the takes by the lines of their tokens. A token without a line goes with the previous one. */
function divideByLine(takeOf: Int32Array, lastSaid: Int32Array, lineAt: Int32Array): (TokenRange & { line: number })[] {
  const out: (TokenRange & { line: number })[] = [];
  let current = -1;
  for (let i = 0; i < takeOf.length; i++) {
    if (takeOf[i]! < 0) continue;
    const last = out.at(-1);
    const continues = last !== undefined && last.to === i && takeOf[i - 1] === takeOf[i];
    const line = lastSaid[i]! < 0 ? -1 : lineAt[lastSaid[i]!]!;
    if (line >= 0) current = line;
    else if (!continues) current = -1;
    if (current < 0) continue;
    if (continues && last.line === current) last.to = i + 1;
    else out.push({ from: i, to: i + 1, line: current });
  }
  return out;
}

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
  const rated = lines.map(({ last, earlier }) => ({
    text: joinTakeText(input, last),
    takes: [...earlier, last].map((range) => rateTake(range, last, input)),
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
    tokens[token]!.start - tokens[before]!.end < COMMON.minTakePause;
  return lines.filter(({ takes, chosen }) =>
    takes.some(
      ({ from, to, complete }, i) => i !== chosen && complete && (joinsKept(from - 1, from) || joinsKept(to - 1, to)),
    ),
  );
}

function rateTake(range: TokenRange, line: TokenRange, { words, tokens, activity }: TakeInput): RatedTake {
  const take = tokens.slice(range.from, range.to);
  const whole = tokens.slice(line.from, line.to);
  const isLine = range.from === line.from;
  const { pairs, cost } = alignWords(
    take.map((token) => token.normal),
    whole.map((token) => token.normal),
    measureWordDistance,
  );
  const lengthOf = (all: readonly Token[]) => all[all.length - 1]!.end - all[0]!.start;
  const relativeLength = Math.min(1, lengthOf(take) / Math.max(1, lengthOf(whole)));
  const equalShare = Math.max(0, 1 - cost / whole.length);
  const endsAlike =
    measureWordDistance(take[take.length - 1]!.normal, whole[whole.length - 1]!.normal) <= RETAKES.maxSameWordDistance;
  const hasEnding = pairs[pairs.length - 1] === whole.length - 1 && endsAlike;
  const isSpelledAlike = equalShare >= RETAKES.minSimilarShare;
  const logConfidence = take.reduce(
    (sum, token) => sum + Math.log(Math.max(MIN_CONFIDENCE, words[token.word]!.confidence)),
    0,
  );
  const clarity = rateLogProb(logConfidence / take.length);
  const share = isSpelledAlike ? equalShare : Math.max(equalShare, RETAKES.minSimilarShare * relativeLength);
  const clipping = measureClipping(activity, { start: take[0]!.start, end: take[take.length - 1]!.end });
  return {
    ...range,
    ...toWindow(tokens, range.from, range.to, activity.duration),
    score: share * clarity * (1 - clipping),
    complete: isLine || (isSpelledAlike ? hasEnding : relativeLength >= COMMON.minCompleteShare),
  };
}

function joinTakeText({ words, tokens }: TakeInput, { from, to }: TokenRange): string {
  const indices = new Set(tokens.slice(from, to).map((token) => token.word));
  return joinTexts([...indices].map((index) => words[index]!.text));
}

/** Lines, by index, that are chosen together. `attempts` has an index of a take per line; the last takes come last. */
export type Paragraph = { lines: number[]; attempts: number[][] };

/** Groups lines, in order of time, that follow each other both in their last take and in an earlier one. */
export function groupParagraphs(lines: readonly RepeatedLine[]): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  for (const [i, line] of lines.entries()) {
    const takes = [...line.earlier, line.last];
    const current = paragraphs.at(-1);
    const before = current && lines[current.lines.at(-1)!]!;
    const continued =
      current && before ? continueAttempts(current.attempts, [...before.earlier, before.last], takes) : [];
    const isContinued = continued.length > 1 && continued.at(-1)!.at(-1) === takes.length - 1;
    if (current && isContinued) {
      current.lines.push(i);
      current.attempts = continued;
    } else paragraphs.push({ lines: [i], attempts: takes.map((_, take) => [take]) });
  }
  return paragraphs;
}

/** Returns the attempts in which a take of the next line follows, with that take. */
function continueAttempts(
  attempts: readonly number[][],
  before: readonly TokenRange[],
  takes: readonly TokenRange[],
): number[][] {
  return attempts.flatMap((attempt) => {
    let take = takes.findIndex(({ from }) => from === before[attempt.at(-1)!]!.to);
    // A line that is started over inside an attempt is complete in its last take there.
    while (take >= 0 && takes[take + 1]?.from === takes[take]!.to) take++;
    return take < 0 ? [] : [[...attempt, take]];
  });
}

/** Keeps the chosen take, and removes the last one if that is another. */
export function keepChosenTake(
  decided: DecidedWord[],
  tokens: readonly Token[],
  { text, takes, chosen }: RatedLine,
): void {
  const last = takes[takes.length - 1]!;
  const best = takes[chosen]!;
  if (best === last) return;
  const scores = { line: text, quality: last.score, keptQuality: best.score, keptAt: best.start };
  const removal = { rule: "retake.worse_take", scores } as const;
  for (const { word } of tokens.slice(last.from, last.to)) decided[word] = { ...decided[word]!, removal };
  for (const { word } of tokens.slice(best.from, best.to)) decided[word] = { ...decided[word]!, removal: null };
}

/** Marks the kept take of a line that is adjacent to words of another attempt. */
export function markAssembledLine(
  decided: DecidedWord[],
  tokens: readonly Token[],
  { text, takes, chosen }: RatedLine,
): void {
  const { from, to, score } = takes[chosen]!;
  const match = { rule: "review.assembled_takes", scores: { line: text, quality: score } } as const;
  for (const index of new Set(tokens.slice(from, to).map(({ word }) => word)))
    decided[index] = { ...decided[index]!, reviews: [...decided[index]!.reviews, match] };
}

/** Returns the takes of a line, as they are listed. */
export const toLineTakes = ({ text, takes, chosen }: RatedLine): LineTakes => ({
  line: text,
  chosen: toCandidate(takes[chosen]!),
  others: takes.filter((_, i) => i !== chosen).map(toCandidate),
});

const toCandidate = ({ start, end, score, complete }: RatedTake): Candidate => ({ start, end, score, complete });
