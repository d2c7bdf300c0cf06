/** Candidates for the takes of a script line: stretches that resemble it, rated by forced alignment within a budget. */

import type { AlignedWord, AlignmentRequest, AudioMatch, ForcedAlignment } from "../../speech";
import type { Span, Ticks } from "../../time";
import { type AudioActivity, measureClipping } from "../audio-activity";
import { findBestAlignment, type PlanSteps, requestAlignmentsOf, requestAudioMatches } from "../context";
import { toAudioPair } from "../retakes/alike-takes";
import { hasDifferentWords, isSaidAgain } from "../retakes/repetition";
import { findOverlapping, rateLogProb } from "../spans";
import { COMMON, RETAKES, SCRIPT } from "../thresholds";
import type { Token, TokenRange } from "../tokens";
import type { LineMatch } from "./match-lines";
import type { ScriptedRecording, ScriptLine } from "./script-lines";

/** A stretch that may be a take of a line. `alignment` is null if the line was not aligned with it. */
export type LineCandidate = LineMatch & {
  window: Span;
  alignment: ForcedAlignment | null;
  /** How well the stretch matches the line, 0 to 1. */
  quality: number;
  /** How similar the words are to those of the line, here or in an earlier take that says the same, 0 to 1. */
  similarity: number;
  /** The line is spoken here to its end. */
  complete: boolean;
  /** The line, or much of it, is spoken here. */
  accepted: boolean;
};

/**
 * Returns the ranges that a match may cover: its own tokens with those in place of missing words of the line and, if it
 * does not end at a pause, those up to the next pauses, which may be misrecognized words of the line.
 */
export function listCandidateRanges(match: LineMatch, tokens: readonly Token[]): TokenRange[] {
  const leading = match.pairs.findIndex((token) => token >= 0);
  const trailing = match.pairs.length - 1 - match.pairs.findLastIndex((token) => token >= 0);
  const extend = (at: number, step: 1 | -1, maxWords: number, maxPause?: Ticks) =>
    extendToPause(tokens, at, step, maxWords, maxPause);
  const near = {
    from: extend(match.from, -1, leading === 0 ? 0 : leading + 1),
    to: extend(match.to - 1, 1, trailing === 0 ? 0 : trailing + 1) + 1,
  };
  const far = {
    from: leading === 0 ? near.from : extend(near.from, -1, 2 * leading, COMMON.minSentencePause),
    to: trailing === 0 ? near.to : extend(near.to - 1, 1, 2 * trailing, COMMON.minSentencePause) + 1,
  };
  const wide = {
    from: extend(near.from, -1, COMMON.manyWords),
    to: extend(near.to - 1, 1, COMMON.manyWords) + 1,
  };
  const different: TokenRange[] = [near];
  for (const range of [wide, far]) {
    if (!different.some((one) => one.from === range.from && one.to === range.to)) different.push(range);
  }
  return different;
}

/** Returns the span of audio around tokens, with the attached regions and some of the silence. */
export function toLineWindow({ from, to }: TokenRange, tokens: readonly Token[], activity: AudioActivity): Span {
  const before = tokens[from - 1]?.end ?? 0;
  const after = tokens[to]?.start ?? activity.duration;
  let start = tokens[from]!.start;
  let end = Math.max(tokens[from]!.end, tokens[to - 1]!.end);
  const preceding = findOverlapping(activity.speechRegions, { start: Math.min(before, start), end: start });
  for (const region of preceding.reverse()) {
    if (start - region.end < COMMON.minPause) start = Math.max(region.start, Math.min(before, start));
  }
  for (const region of findOverlapping(activity.speechRegions, { start: end, end: Math.max(after, end) })) {
    if (region.start - end < COMMON.minPause) end = Math.min(region.end, Math.max(after, end));
  }
  return padWindow({ start, end }, before, after, activity.duration);
}

/** Pads a span of audio with at most half of the silence up to the adjacent tokens. */
export function padWindow({ start, end }: Span, before: Ticks, after: Ticks, duration: Ticks): Span {
  return {
    start: Math.round(Math.max(0, start - Math.min(COMMON.padding, Math.max(0, start - before) / 2))),
    end: Math.round(Math.min(duration, end + Math.min(COMMON.padding, Math.max(0, after - end) / 2))),
  };
}

/** Returns the token up to which `maxWords` tokens follow without a longer pause. */
function extendToPause(
  tokens: readonly Token[],
  at: number,
  step: 1 | -1,
  maxWords: number,
  maxPause = COMMON.minPause,
): number {
  let current = at;
  for (let n = 0; n < maxWords; n++) {
    const next = tokens[current + step];
    if (!next) break;
    const pause = step > 0 ? next.start - tokens[current]!.end : tokens[current]!.start - next.end;
    if (pause > maxPause) break;
    current += step;
  }
  return current;
}

/** Returns a request for each reading of a line; none if the window is longer than a recognizer accepts. */
export function toAlignmentRequests(line: ScriptLine, window: Span, mute: Span[] = []): AlignmentRequest[] {
  if (window.end - window.start > SCRIPT.maxWindow || window.end <= window.start) return [];
  return line.spoken.map((text) => (mute.length > 0 ? { window, text, mute } : { window, text }));
}

/** Returns whether an alignment shows that its line is spoken. */
export function isSpokenLine({ words, meanLogProb }: ForcedAlignment): boolean {
  const unspoken = words.filter((word) => word.logProb < COMMON.maxMisfit).length;
  if (meanLogProb <= COMMON.minAlignment || unspoken > Math.max(1, SCRIPT.maxUnspokenShare * words.length))
    return false;
  return !isSqueezed(words);
}

/** Returns whether the last words have hardly any duration: unspoken words align with the end of the audio. */
function isSqueezed(words: readonly AlignedWord[]): boolean {
  const last = words.slice(-2);
  const duration = last.reduce((sum, word) => sum + word.end - word.start, 0);
  const characters = last.reduce((sum, word) => sum + word.text.length, 0);
  return duration < SCRIPT.maxSqueezedShare * usualDuration(words.slice(0, -1), characters);
}

/** Returns the duration of `characters` at the pace of all words except the last. */
function usualDuration(words: readonly AlignedWord[], characters: number): Ticks {
  const rest = words.slice(0, -1);
  const duration = rest.reduce((sum, word) => sum + word.end - word.start, 0);
  return (duration / rest.reduce((sum, word) => sum + word.text.length, 0)) * characters;
}

/** Returns the quality of an aligned line, 0 to 1. */
export const rateAlignment = ({ meanLogProb }: ForcedAlignment): number => rateLogProb(meanLogProb);

/** Lowers a quality by the share of the take that is clipped. */
export const discountClipping = (quality: number, activity: AudioActivity, window: Span): number =>
  quality * (1 - measureClipping(activity, window));

/** Rates a stretch by its text and its alignment. */
export function rateCandidate(
  match: LineMatch,
  window: Span,
  alignment: ForcedAlignment | null,
  activity: AudioActivity,
): LineCandidate {
  const first = match.pairs[0]!;
  const last = match.pairs[match.pairs.length - 1]!;
  if (!alignment) {
    const accepted = match.score >= COMMON.minSameShare;
    const quality = discountClipping(match.score, activity, window);
    const complete = accepted && last >= 0;
    return { ...match, window, alignment, similarity: match.score, quality, complete, accepted };
  }
  const isSure = match.score >= COMMON.minCompleteShare && first >= 0 && last >= 0;
  const accepted = isSure || isSpokenLine(alignment);
  const quality = Math.max(rateAlignment(alignment), isSure ? COMMON.minCompleteShare * match.score : 0);
  return {
    ...match,
    window,
    alignment,
    similarity: match.score,
    quality: discountClipping(quality, activity, window),
    complete: accepted,
    accepted,
  };
}

/** Returns the rated candidates of each line. */
export function* checkMatches(
  matches: readonly LineMatch[][],
  recording: ScriptedRecording,
): PlanSteps<LineCandidate[][]> {
  const { tokens, activity, lines } = recording;
  const all = matches.flat().map((match) => {
    const trials = listCandidateRanges(match, tokens).map((range) => {
      const window = toLineWindow(range, tokens, activity);
      return { match, range, window, requests: toAlignmentRequests(lines[match.line]!, window) };
    });
    return { match, trials, requests: trials.flatMap(({ requests }) => requests) };
  });
  // If the budget is exceeded, the most similar matches are aligned, and the others count as not found.
  const byScore = all.toSorted((a, b) => b.match.score - a.match.score);
  const trials = fitToBudget(byScore, activity.duration).flatMap((one) => one.trials);
  const results = yield* requestAlignmentsOf(trials);
  const best = new Map<LineMatch, LineCandidate>();
  for (const [i, { match, range, window }] of trials.entries()) {
    const alignment = findBestAlignment(results[i]!);
    const candidate = rateCandidate({ ...match, ...range }, window, alignment, activity);
    const known = best.get(match)?.alignment;
    const isBetter = !known || (alignment !== null && alignment.meanLogProb > known.meanLogProb);
    if (!best.has(match) || isBetter) best.set(match, candidate);
  }
  const pairs: CandidatePair[] = [];
  const rows = matches.map((row) => {
    const rated = row.flatMap((match) => best.get(match) ?? []);
    const alignments = rated.flatMap(({ alignment }) => alignment ?? []);
    const corrected = rated.map((one) => {
      const { alignment } = one;
      if (!alignment) return one;
      return { ...rateCandidate(one, one.window, withoutWrongWords(alignment, alignments), activity), alignment };
    });
    const isExact =
      rated.some(({ score }) => score === 1) ||
      alignments.some(({ words }) => words.every(({ logProb }) => logProb >= COMMON.maxMisfit));
    if (!isExact) pairs.push(...listRetakePairs(corrected, tokens));
    return corrected;
  });
  return yield* rateRetakesAlike(rows, pairs, recording);
}

/** A candidate of a line, and a later one that may say the same. */
type CandidatePair = { take: LineCandidate; retake: LineCandidate };

/** Returns whether a take may be rated higher than its retake. */
const isBetter = (take: LineCandidate, retake: LineCandidate): boolean =>
  take.quality > retake.quality || take.similarity > retake.similarity;

/**
 * Returns the candidates that may say the same as a later one that is rated lower, or as one between both. Each is
 * compared with the last ones before it. Those that are too long to align are not compared.
 */
export function listRetakePairs(row: readonly LineCandidate[], tokens: readonly Token[]): CandidatePair[] {
  const short = row.filter(({ from, to }) => tokens[to - 1]!.end - tokens[from]!.start <= SCRIPT.maxWindow);
  return short.flatMap((retake, i) => {
    const earlier = short.slice(0, i).filter(({ to }) => to <= retake.from);
    if (!earlier.some((take) => isBetter(take, retake))) return [];
    const near = earlier.filter(({ window }) => retake.window.start - window.end <= RETAKES.maxDistance);
    return near.slice(-RETAKES.maxEarlierStarts).map((take) => ({ take, retake }));
  });
}

/**
 * Returns the candidates of each line. One that says the same as an earlier, better one is rated like it: where the
 * same was said, wrong words of the script or misrecognized ones make the difference.
 */
function* rateRetakesAlike(
  rows: readonly LineCandidate[][],
  pairs: readonly CandidatePair[],
  recording: ScriptedRecording,
): PlanSteps<LineCandidate[][]> {
  const alike = Map.groupBy(yield* findAlikePairs(pairs, recording), ({ retake }) => retake);
  return rows.map((row) => {
    const rated = new Map<LineCandidate, LineCandidate>();
    for (const one of row) {
      const takes = (alike.get(one) ?? []).map(({ take }) => rated.get(take)!).filter((take) => isBetter(take, one));
      const qualities = takes.map(({ quality }) => discountClipping(quality, recording.activity, one.window));
      rated.set(one, {
        ...one,
        similarity: Math.max(one.similarity, ...takes.map(({ similarity }) => similarity)),
        quality: Math.max(one.quality, ...qualities),
        accepted: one.accepted || takes.some(({ accepted }) => accepted),
        complete: one.complete || takes.some(({ complete }) => complete),
      });
    }
    return [...rated.values()];
  });
}

/** Returns the pairs of which the retake has the words of the take, or sounds like it and has no other clear word. */
function* findAlikePairs(pairs: readonly CandidatePair[], recording: ScriptedRecording): PlanSteps<CandidatePair[]> {
  const { tokens, activity } = recording;
  const spelledAlike = new Set(pairs.filter(({ take, retake }) => isInLater(take, retake, recording)));
  const others = pairs.filter((pair) => !spelledAlike.has(pair) && !hasOtherWords(pair, recording));
  const matches = yield* requestAudioMatches(
    others.map(({ take: { from, to }, retake }) =>
      toAudioPair(
        { start: tokens[from]!.start, end: tokens[to - 1]!.end },
        tokens[retake.from]!.start,
        activity.duration,
      ),
    ),
  );
  const isAlike = (match: AudioMatch | null | undefined) =>
    match != null && match.distance <= RETAKES.maxAudioDistance && match.worst <= RETAKES.maxWorstAudioDistance;
  return [...spelledAlike, ...others.filter((_, i) => isAlike(matches[i]))];
}

const hasOtherWords = ({ take, retake }: CandidatePair, recording: ScriptedRecording): boolean =>
  hasDifferentWords(recording, {
    from: take.from,
    end: take.to,
    retakeStart: retake.from,
    matched: retake.to - retake.from,
    confirmedByAudio: false,
  });

/** Returns whether the phrases of a later range have the words of those of a range. */
function isInLater(one: TokenRange, later: TokenRange, { tokens, words, lexicon }: ScriptedRecording): boolean {
  const toPhrases = (range: TokenRange) => {
    const { from, to } = extendToPhrases(range, tokens);
    return tokens.slice(from, to);
  };
  const [take, retake] = [toPhrases(one), toPhrases(later)];
  if (Math.max(take.length, retake.length) > COMMON.maxComparedWords) return false;
  return isSaidAgain(take, retake, COMMON.minCompleteShare, { words, lexicon });
}

/** Returns a range of tokens with those up to the next pauses. */
export const extendToPhrases = ({ from, to }: TokenRange, tokens: readonly Token[]): TokenRange => ({
  from: extendToPause(tokens, from, -1, COMMON.maxComparedWords),
  to: extendToPause(tokens, to - 1, 1, COMMON.maxComparedWords) + 1,
});

/**
 * Returns an alignment of a line without the words that align in none of its takes, `alignments`, although a later word
 * does: those are mistakes of the script, and do not show which take is better. Returns all of it if too few words
 * remain to identify the line, or if takes were aligned with different readings.
 */
export function withoutWrongWords(alignment: ForcedAlignment, alignments: readonly ForcedAlignment[]): ForcedAlignment {
  const count = alignment.words.length;
  const toText = ({ words }: ForcedAlignment) => words.map((word) => word.text).join(" ");
  if (alignments.some((one) => toText(one) !== toText(alignment))) return alignment;
  const isSaid = alignment.words.map((_, k) => alignments.some((one) => one.words[k]!.logProb >= RETAKES.spokenWord));
  const end = isSaid.lastIndexOf(true);
  // Words at the end may be those of a take that was broken off.
  const words = alignment.words.filter((_, k) => isSaid[k] || k > end);
  const minWords = Math.max(COMMON.maxSlipWords + 1, COMMON.minSameShare * count);
  if (words.length === count || words.length < minWords) return alignment;
  return { ...alignment, words, meanLogProb: words.reduce((sum, { logProb }) => sum + logProb, 0) / words.length };
}

/** Returns the first of `items` whose requests together fit the budget for a recording of this duration. */
export function fitToBudget<T extends { requests: readonly AlignmentRequest[] }>(
  items: readonly T[],
  duration: Ticks,
): T[] {
  let left = SCRIPT.minBudget + SCRIPT.maxTimesDuration * duration;
  return items.filter(({ requests }) => {
    left -= requests.reduce((sum, { window }) => sum + window.end - window.start, 0);
    return left >= 0;
  });
}
