/** Which take of each script line is kept: candidates by text, checked against the sound, chosen so that they follow one another. */

import type { AlignedWord, AlignmentRequest, ForcedAlignment } from "../../speech";
import { fromSeconds, type Span, type Ticks } from "../../time";
import { type AudioActivity, findOverlapping, measureClipping, overlapDuration } from "../audio-activity";
import type { Token } from "../tokens";
import type { LineMatch } from "./match-lines";
import type { ScriptLine } from "./script-lines";

/** A stretch that may be a take of a line, and what the sound says about it (`forced` null: it was not, or could not be, held against it). */
export type LineCandidate = LineMatch & {
  window: Span;
  alignment: ForcedAlignment | null;
  /** 0 to 1: how well the stretch fits the line. */
  quality: number;
  /** The line is spoken here, to its end. */
  complete: boolean;
  /** The line, or much of it, is spoken here. */
  accepted: boolean;
};

/** A recogniser takes no more than half a minute at once. */
export const MAX_WINDOW_TICKS = fromSeconds(27);
const PAD = fromSeconds(0.15);
/** Sound this near to a word is still part of it. */
const ATTACHED = fromSeconds(0.2);

const FAR_WORDS = 6;
/** A first word may be said apart: "Hi, I am Dana." */
const FAR_PAUSE = fromSeconds(0.45);

const ACCEPTED_MEAN = -1.9;
const ACCEPTED_TAIL = -7;
const UNSPOKEN_WORD = -6;
/** A last word that does not fit may be one that is pronounced oddly, when the rest fits this well and it sounds long enough. */
const SURE_WORD = -3.5;
const SURE_ENDING = -2;
const ENDING_MEAN = -1.4;
const ENDING_LENGTH = 0.6;
const DOUBTFUL_ENDING = 0.12;
const SQUEEZED = 0.35;
const UNLIKELY_WORD = -2;
/** Text alone that resembles the line this much is believed. */
const SURE_TEXT = 0.85;

/** Heard words `[from, to)`. */
type TokenRange = { from: number; to: number };

/**
 * How far a match may reach: its own words with those that stand where words of the line are missing, and, when that is not at a pause,
 * on to the next pauses: what is heard there may be the line, misspelled.
 */
export function listCandidateRanges(match: LineMatch, tokens: readonly Token[]): TokenRange[] {
  const leading = match.pairs.findIndex((word) => word >= 0);
  const trailing = match.pairs.length - 1 - match.pairs.findLastIndex((word) => word >= 0);
  const nearRange = {
    from: extendToPause(tokens, match.from, -1, leading === 0 ? 0 : leading + 1),
    to: extendToPause(tokens, match.to - 1, 1, trailing === 0 ? 0 : trailing + 1) + 1,
  };
  const farRange = {
    from: leading === 0 ? nearRange.from : extendToPause(tokens, nearRange.from, -1, 2 * leading, FAR_PAUSE),
    to: trailing === 0 ? nearRange.to : extendToPause(tokens, nearRange.to - 1, 1, 2 * trailing, FAR_PAUSE) + 1,
  };
  const wideRange = {
    from: extendToPause(tokens, nearRange.from, -1, FAR_WORDS),
    to: extendToPause(tokens, nearRange.to - 1, 1, FAR_WORDS) + 1,
  };
  const different: TokenRange[] = [nearRange];
  for (const range of [wideRange, farRange]) {
    if (!different.some((one) => one.from === range.from && one.to === range.to)) different.push(range);
  }
  return different;
}

/** The stretch of sound around heard words: with the sounds attached to them, and some of the quiet. */
export function toWindow({ from, to }: TokenRange, tokens: readonly Token[], activity: AudioActivity): Span {
  const before = tokens[from - 1]?.end ?? 0;
  const after = tokens[to]?.start ?? activity.duration;
  let start = tokens[from]!.start;
  let end = Math.max(tokens[from]!.end, tokens[to - 1]!.end);
  for (const region of findOverlapping(activity.speechRegions, {
    start: Math.min(before, start),
    end: start,
  }).reverse()) {
    if (start - region.end < ATTACHED) start = Math.max(region.start, Math.min(before, start));
  }
  for (const region of findOverlapping(activity.speechRegions, { start: end, end: Math.max(after, end) })) {
    if (region.start - end < ATTACHED) end = Math.min(region.end, Math.max(after, end));
  }
  return {
    start: Math.round(Math.max(0, start - Math.min(PAD, Math.max(0, start - before) / 2))),
    end: Math.round(Math.min(activity.duration, end + Math.min(PAD, Math.max(0, after - end) / 2))),
  };
}

/** Goes on over heard words, up to a pause. */
function extendToPause(
  tokens: readonly Token[],
  at: number,
  step: 1 | -1,
  most: number,
  pauseLimit = ATTACHED,
): number {
  let now = at;
  for (let n = 0; n < most; n++) {
    const next = tokens[now + step];
    if (!next) break;
    const pause = step > 0 ? next.start - tokens[now]!.end : tokens[now]!.start - next.end;
    if (pause > pauseLimit) break;
    now += step;
  }
  return now;
}

/** Each reading of a line, to be held against a window of the sound. None when the window is longer than a recogniser takes. */
export function toAlignmentRequests(line: ScriptLine, window: Span, mute: Span[] = []): AlignmentRequest[] {
  if (window.end - window.start > MAX_WINDOW_TICKS || window.end <= window.start) return [];
  return line.spoken.map((text) => ({ window, text, ...(mute.length > 0 ? { mute } : {}) }));
}

/** Whether the sound says that a line is spoken: `ending` when all but its last word surely is, and something is said in that place. */
export type AlignmentFit = "whole" | "ending" | "none";

export function classifyFit(alignment: ForcedAlignment, activity: AudioActivity): AlignmentFit {
  const bad = alignment.words.filter((word) => word.logProb < UNSPOKEN_WORD).length;
  if (alignment.meanLogProb <= ACCEPTED_MEAN || bad > Math.max(1, 0.15 * alignment.words.length)) return "none";
  if (isSqueezed(alignment.words)) return "none";
  const last = alignment.words[alignment.words.length - 1]!;
  if (alignment.tailLogProb > ACCEPTED_TAIL || last.logProb > SURE_ENDING) return "whole";
  const before = alignment.words[alignment.words.length - 2];
  if (!before || before.logProb < SURE_WORD || alignment.meanLogProb < ENDING_MEAN) return "none";
  const tokens = findOverlapping(activity.speechRegions, last).reduce(
    (sum, region) => sum + overlapDuration(region, last),
    0,
  );
  return tokens >= ENDING_LENGTH * usualLength(alignment.words, last.text.length) ? "ending" : "none";
}

/** Whether the last words got hardly any time: what was not spoken is put where the sound ends. */
function isSqueezed(words: readonly AlignedWord[]): boolean {
  if (words.length < 4) return false;
  const last = words.slice(-2);
  const spoken = last.reduce((sum, word) => sum + word.end - word.start, 0);
  const letters = last.reduce((sum, word) => sum + word.text.length, 0);
  return (
    spoken < SQUEEZED * usualLength(words.slice(0, -1), letters) && last.some((word) => word.logProb < UNLIKELY_WORD)
  );
}

/** How long so many letters take at the pace of these words but the last. */
function usualLength(words: readonly AlignedWord[], letters: number): Ticks {
  const rest = words.slice(0, -1);
  const spoken = rest.reduce((sum, word) => sum + word.end - word.start, 0);
  return (spoken / rest.reduce((sum, word) => sum + word.text.length, 0)) * letters;
}

/** 0 to 1. A line whose ending is doubtful is worth less than one that is whole. */
export function rateAlignment(alignment: ForcedAlignment, fit: AlignmentFit): number {
  return Math.min(1, Math.max(0, 1 + alignment.meanLogProb / 4 - (fit === "ending" ? DOUBTFUL_ENDING : 0)));
}

/** What clipping leaves of a take's quality. */
export const discountClipping = (quality: number, activity: AudioActivity, window: Span): number =>
  quality * (1 - measureClipping(activity, window));

/** Judges a stretch by its text and by the sound. */
export function rateCandidate(
  match: LineMatch,
  window: Span,
  alignment: ForcedAlignment | null,
  activity: AudioActivity,
): LineCandidate {
  const first = match.pairs[0]!;
  const last = match.pairs[match.pairs.length - 1]!;
  if (!alignment) {
    const complete = match.score >= 0.6 && last >= 0;
    const quality = discountClipping(0.85 * match.score, activity, window);
    return { ...match, window, alignment, quality, complete, accepted: match.score >= 0.55 };
  }
  const sure = match.score >= SURE_TEXT && first >= 0 && last >= 0;
  const fit = classifyFit(alignment, activity);
  const accepted = sure || fit !== "none";
  const quality = Math.max(rateAlignment(alignment, fit), sure ? 0.8 * match.score : 0);
  return {
    ...match,
    window,
    alignment,
    quality: discountClipping(quality, activity, window),
    complete: accepted,
    accepted,
  };
}
