/**
 * Lines that the path did not find, because they were recorded elsewhere or in other words, or other words were said.
 */

import { measureWordDistance } from "../../text/normalize";
import type { Ticks } from "../../time";
import { createYieldCounter, type PlanSteps } from "../context";
import { COMMON, RETAKES, SCRIPT } from "../thresholds";
import { pauseBefore, type Token, type TokenRange, UNRECOGNIZED } from "../tokens";
import { type ConfirmedTake, differsFromScript, findOwners } from "./confirm-takes";
import { countWords, isAttached, listNewPhrases, listRanges, type SettledPath } from "./differing-words";
import { type LineCandidate, toLineWindow } from "./line-candidates";
import { toSkippedSpan } from "./path-takes";
import type { PartialAlignment } from "./rescue-lines";
import type { ScriptedRecording, ScriptLine } from "./script-lines";

/**
 * Adds the takes of lines that were recorded out of order, except takes in `retaken`. Returns the indices of the lines.
 * A line whose take in `onPath` has most of its best take is not out of order and stays there.
 */
export function addOutOfOrder(
  takes: (ConfirmedTake | null)[],
  candidates: readonly LineCandidate[][],
  retaken: readonly TokenRange[],
  lines: readonly ScriptLine[],
  onPath: readonly (ConfirmedTake | null)[],
): number[] {
  const added: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (takes[index] || line.words.length <= COMMON.maxSlipWords) continue;
    const isFree = (one: LineCandidate) => {
      const overlaps = (take: TokenRange | null) => take !== null && take.from < one.to && one.from < take.to;
      return !takes.some(overlaps) && !retaken.some(overlaps);
    };
    const free = candidates[index]!.filter((one) => one.complete && isFree(one));
    const best = free.reduce<LineCandidate | null>(
      (a, b) => (!a || b.quality >= a.quality - SCRIPT.maxQualityLoss ? b : a),
      null,
    );
    if (!best) continue;
    const own = onPath[index];
    if (own && countShared(own, best) > COMMON.minSameShare * (best.to - best.from)) {
      takes[index] = own;
      continue;
    }
    const { from, to, pairs, score, window, alignment, quality } = best;
    const match = { line: index, from, to, pairs, score, skipped: [], differs: false, window, mute: [], alignment };
    takes[index] = { ...match, isAligned: alignment !== null, quality, complete: true, review: null };
    added.push(index);
  }
  return added;
}

const countShared = (a: TokenRange, b: TokenRange): number => Math.min(a.to, b.to) - Math.max(a.from, b.from);

/**
 * Adds takes for missing lines from the words spoken in their place, if these are similar. What is said again is not a
 * paraphrase. `isExact`: the other lines are read word for word, so takes of them do not count.
 */
export function addParaphrases(
  takes: (ConfirmedTake | null)[],
  partialAlignments: readonly PartialAlignment[],
  candidates: readonly LineCandidate[][],
  recording: ScriptedRecording,
  repeated: Uint8Array,
  isExact: boolean,
): void {
  const { tokens, activity, lines } = recording;
  const accepted = candidates.map((row) => row.filter((one) => one.accepted));
  const owners = findOwners(tokens.length, accepted, takes);
  for (const [index, line] of lines.entries()) {
    if (takes[index] || line.optional) continue;
    const from = Math.max(0, ...takes.slice(0, index).map((take) => take?.to ?? 0));
    const to = Math.min(tokens.length, ...takes.slice(index + 1).map((take) => take?.from ?? tokens.length));
    const own = partialAlignments.filter((partial) => partial.line === index);
    let best: { range: TokenRange; share: number } | null = null;
    for (const range of listNewSentences(tokens, from, to, repeated)) {
      const share = Math.max(textShare(line, tokens, range), audioShare(line, own, tokens, range));
      if (share < COMMON.minShare || !isAboutAsLong(line, range)) continue;
      const ofOthers = owners.subarray(range.from, range.to).filter((owner) => owner >= 0 && owner !== index).length;
      if (isExact && ofOthers > COMMON.minSameShare * (range.to - range.from)) continue;
      if (!best || share >= best.share - SCRIPT.maxQualityLoss) best = { range, share };
    }
    if (!best) continue;
    takes[index] = {
      line: index,
      ...best.range,
      pairs: new Int32Array(line.words.length).fill(-1),
      score: best.share,
      skipped: [],
      differs: true,
      window: toLineWindow(best.range, tokens, activity),
      mute: [],
      alignment: null,
      isAligned: false,
      quality: best.share / 2,
      complete: true,
      review: differsFromScript(line.text, best.share, null),
    };
  }
}

/** Divides the tokens `[from, to)` at longer pauses. Returns the ranges without repeated tokens at their edges. */
function listNewSentences(tokens: readonly Token[], from: number, to: number, repeated: Uint8Array): TokenRange[] {
  const out: TokenRange[] = [];
  for (let j = from; j < to; j++) {
    const last = out.at(-1);
    if (last && pauseBefore(tokens, j) < SCRIPT.minSentencePause) last.to = j + 1;
    else out.push({ from: j, to: j + 1 });
  }
  for (const range of out) {
    while (range.from < range.to && repeated[range.from]) range.from++;
    while (range.from < range.to && repeated[range.to - 1]) range.to--;
  }
  return out.filter((range) => range.from < range.to);
}

/** Returns the share of the line's longer words in a range; 0 if only one is there. */
function textShare(line: ScriptLine, tokens: readonly Token[], { from, to }: TokenRange): number {
  const long = [...new Set(line.words.filter((word) => word.length >= COMMON.longWordCharacters))];
  const said = tokens.slice(from, to);
  const isSaid = (word: string) =>
    said.some(({ normal }) => measureWordDistance(word, normal) <= RETAKES.maxSameWordDistance);
  const count = long.filter(isSaid).length;
  return count < COMMON.maxSlipWords ? 0 : count / long.length;
}

/** Returns the share of the line's words that alignment finds in a range. */
function audioShare(
  line: ScriptLine,
  partialAlignments: readonly PartialAlignment[],
  tokens: readonly Token[],
  { from, to }: TokenRange,
): number {
  const start = tokens[from]!.start - COMMON.minDuration;
  const end = tokens[to - 1]!.end + COMMON.minDuration;
  const countInside = ({ words }: PartialAlignment) =>
    words.filter((word) => word.logProb > COMMON.clearAlignment && word.start >= start && word.end <= end).length;
  const highest = Math.max(0, ...partialAlignments.map(countInside));
  return highest / line.words.length;
}

function isAboutAsLong(line: ScriptLine, { from, to }: TokenRange): boolean {
  const ratio = (to - from) / line.words.length;
  return ratio >= SCRIPT.minReplacedRatio && ratio <= COMMON.maxSlowerFactor;
}

/** Required lines without a take, between the same takes of other lines, and the tokens `[from, to)` in between. */
type MissingLines = TokenRange & { lines: number[]; isInside: boolean };

/**
 * Adds takes for required lines without one, from the words between the takes of the surrounding lines. `isExact`: the
 * other lines are read word for word, so takes and false starts of them and short remarks are not said in their place.
 */
export function* addReplacedLines(
  takes: (ConfirmedTake | null)[],
  candidates: readonly LineCandidate[][],
  path: SettledPath,
  recording: ScriptedRecording,
  repeated: Uint8Array,
  isExact: boolean,
  pace: Ticks,
): PlanSteps<void> {
  const isYieldDue = createYieldCounter();
  const owners = findOwners(recording.tokens.length, candidates, takes);
  /** Returns whether most of a phrase is in takes and false starts of other lines. */
  const isOfOthers = ({ from, to }: TokenRange, lines: ReadonlySet<number>) => {
    const others = owners.subarray(from, to).filter((line) => line >= 0 && !lines.has(line));
    return others.length > COMMON.minSameShare * (to - from);
  };
  for (const missing of listMissingLines(takes, recording)) {
    const own = new Set(missing.lines);
    const found = yield* listNewPhrases(missing, { ...recording, path, repeated, isYieldDue });
    const phrases = isExact ? found.filter((phrase) => !isOfOthers(phrase, own)) : found;
    const resembling = phrases.filter(createResemblance(missing, candidates, recording));
    // Before the first line and after the last one, anything may be said: what resembles the line, or unclear words.
    const ofLine = resembling.length > 0 ? resembling : phrases.filter((phrase) => isUnclear(phrase, recording));
    const said = missing.isInside ? phrases : ofLine;
    const isProbable = (missing.isInside && !isExact) || resembling.length > 0;
    const minRatio = isProbable ? SCRIPT.minReplacedRatio : COMMON.minLengthRatio;
    const wordCount = missing.lines.reduce((sum, line) => sum + recording.lines[line]!.words.length, 0);
    // The latest phrases are kept, up to the maximum length.
    let left = COMMON.maxSlowerFactor * wordCount;
    const kept = said.reverse().filter((phrase) => {
      left -= countWords(phrase, recording, pace).atLeast;
      return left >= 0;
    });
    const isCounted = ({ normal }: Token) => missing.isInside || normal !== UNRECOGNIZED;
    const counted = kept.flatMap(({ from, to }) => recording.tokens.slice(from, to).filter(isCounted));
    if (
      countWords({ from: 0, to: counted.length }, { ...recording, tokens: counted }, pace).atMost <
      minRatio * wordCount
    )
      continue;
    for (const take of divideAmongLines(kept.reverse(), missing.lines, recording)) takes[take.line] = take;
  }
}

/**
 * Returns the path and the takes with the words that the path keeps for lines that are found elsewhere. Where they go
 * on with another take, they are words of its line that the script lacks.
 */
export function keepLeftWords(
  takes: readonly (ConfirmedTake | null)[],
  path: SettledPath,
  recording: ScriptedRecording,
): { takes: (ConfirmedTake | null)[]; path: SettledPath } {
  const { lines, tokens, activity } = recording;
  const left = path.kept.slice();
  for (const take of takes) if (take) left.fill(0, take.from, take.to);
  const differing = path.differing.slice();
  const extended = takes.slice();
  for (const { from, to } of listRanges(left, 1)) {
    const before = isAttached(recording, from) ? extended.findIndex((take) => take?.to === from) : -1;
    const after = isAttached(recording, to) ? extended.findIndex((take) => take?.from === to) : -1;
    const index = before >= 0 ? before : after;
    const take = extended[index];
    if (!take) continue;
    differing.fill(1, from, to);
    const range = { from: Math.min(from, take.from), to: Math.max(to, take.to) };
    const review = take.review ?? differsFromScript(lines[index]!.text, take.score, take.alignment);
    extended[index] = { ...take, ...range, window: toLineWindow(range, tokens, activity), differs: true, review };
  }
  return { takes: extended, path: { ...path, differing } };
}

function listMissingLines(
  takes: readonly (ConfirmedTake | null)[],
  { lines, tokens }: ScriptedRecording,
): MissingLines[] {
  const ends = new Int32Array(lines.length + 1);
  const starts = new Int32Array(lines.length + 1).fill(tokens.length);
  for (const [i, take] of takes.entries()) ends[i + 1] = Math.max(ends[i]!, take?.to ?? 0);
  for (let i = lines.length - 1; i >= 0; i--) starts[i] = Math.min(starts[i + 1]!, takes[i]?.from ?? tokens.length);
  const out: MissingLines[] = [];
  for (const [i, line] of lines.entries()) {
    if (takes[i] || line.optional) continue;
    const [from, to] = [ends[i]!, starts[i + 1]!];
    const last = out.at(-1);
    if (last && last.from === from && last.to === to) last.lines.push(i);
    else if (from < to) out.push({ from, to, lines: [i], isInside: from > 0 && to < tokens.length });
  }
  return out;
}

/** Returns whether the recognizer was unsure of half of the words of a phrase, or of more. Voice alone has no words. */
const isUnclear = ({ from, to }: TokenRange, { tokens, words }: ScriptedRecording): boolean => {
  const own = tokens.slice(from, to).filter(({ normal }) => normal !== UNRECOGNIZED);
  const sure = own.filter(({ word }) => words[word]!.confidence >= COMMON.sureWordConfidence);
  return own.length > 0 && sure.length <= COMMON.minSameShare * own.length;
};

/** Returns a function that returns whether a phrase is in a candidate of the lines. */
function createResemblance(
  { lines }: MissingLines,
  candidates: readonly LineCandidate[][],
  { tokens }: ScriptedRecording,
): (phrase: TokenRange) => boolean {
  const resembles = new Uint8Array(tokens.length);
  for (const line of lines) for (const { from, to } of candidates[line]!) resembles.fill(1, from, to);
  return ({ from, to }) => resembles.subarray(from, to).includes(1);
}

/** Returns a take for each line, while there are phrases. The last line gets the remaining ones. */
function divideAmongLines(
  phrases: readonly TokenRange[],
  lines: readonly number[],
  recording: ScriptedRecording,
): ConfirmedTake[] {
  const out: ConfirmedTake[] = [];
  let own: TokenRange[] = [];
  for (const [n, phrase] of phrases.entries()) {
    own.push(phrase);
    const line = lines[out.length]!;
    const words = own.reduce((sum, { from, to }) => sum + to - from, 0);
    const isLast = out.length === lines.length - 1;
    const isComplete = !isLast && words >= COMMON.minLengthRatio * recording.lines[line]!.words.length;
    if (!isComplete && n + 1 < phrases.length) continue;
    out.push(toTake(own, line, recording));
    own = [];
  }
  return out;
}

function toTake(phrases: readonly TokenRange[], line: number, recording: ScriptedRecording): ConfirmedTake {
  const { lines, tokens, activity } = recording;
  const range = { from: phrases[0]!.from, to: phrases.at(-1)!.to };
  const skipped = phrases.slice(1).flatMap((phrase, n) => {
    const end = phrases[n]!.to;
    return phrase.from > end ? [{ from: end, to: phrase.from }] : [];
  });
  return {
    line,
    ...range,
    pairs: new Int32Array(lines[line]!.words.length).fill(-1),
    score: 0,
    skipped,
    differs: true,
    window: toLineWindow(range, tokens, activity),
    mute: skipped.map((one) => toSkippedSpan(one, tokens)),
    alignment: null,
    isAligned: false,
    quality: 0,
    complete: true,
    review: differsFromScript(lines[line]!.text, 0, null),
  };
}
