/** Which take of each script line is kept: candidates by text, checked against the sound, chosen so that they follow one another. */

import type { AlignedWord, AlignmentRequest, ForcedAlignment } from "../../speech";
import { fromSeconds, type Span, type Ticks } from "../../time";
import { clippedShare, islandsIn, overlap, type Sound } from "../audio-activity";
import type { HeardWord } from "../tokens";
import type { Match } from "./match-lines";
import type { ScriptLine } from "./script-lines";

/** A stretch that may be a take of a line, and what the sound says about it (`forced` null: it was not, or could not be, held against it). */
export type LineCandidate = Match & {
  window: Span;
  forced: ForcedAlignment | null;
  /** 0 to 1: how well the stretch fits the line. */
  quality: number;
  /** The line is spoken here, to its end. */
  complete: boolean;
  /** The line, or much of it, is spoken here. */
  accepted: boolean;
};

/** A recogniser takes no more than half a minute at once. */
export const LONGEST_WINDOW = fromSeconds(27);
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
type Extent = { from: number; to: number };

/**
 * How far a match may reach: its own words with those that stand where words of the line are missing, and, when that is not at a pause,
 * on to the next pauses: what is heard there may be the line, misspelled.
 */
export function extentsOf(match: Match, heard: readonly HeardWord[]): Extent[] {
  const leading = match.pairs.findIndex((word) => word >= 0);
  const trailing = match.pairs.length - 1 - match.pairs.findLastIndex((word) => word >= 0);
  const near = {
    from: reach(heard, match.from, -1, leading === 0 ? 0 : leading + 1),
    to: reach(heard, match.to - 1, 1, trailing === 0 ? 0 : trailing + 1) + 1,
  };
  const far = {
    from: leading === 0 ? near.from : reach(heard, near.from, -1, 2 * leading, FAR_PAUSE),
    to: trailing === 0 ? near.to : reach(heard, near.to - 1, 1, 2 * trailing, FAR_PAUSE) + 1,
  };
  const wide = { from: reach(heard, near.from, -1, FAR_WORDS), to: reach(heard, near.to - 1, 1, FAR_WORDS) + 1 };
  const different: Extent[] = [near];
  for (const extent of [wide, far]) {
    if (!different.some((one) => one.from === extent.from && one.to === extent.to)) different.push(extent);
  }
  return different;
}

/** The stretch of sound around heard words: with the sounds attached to them, and some of the quiet. */
export function windowOf({ from, to }: Extent, heard: readonly HeardWord[], sound: Sound): Span {
  const before = heard[from - 1]?.end ?? 0;
  const after = heard[to]?.start ?? sound.duration;
  let start = heard[from]!.start;
  let end = Math.max(heard[from]!.end, heard[to - 1]!.end);
  for (const island of islandsIn(sound.islands, { start: Math.min(before, start), end: start }).reverse()) {
    if (start - island.end < ATTACHED) start = Math.max(island.start, Math.min(before, start));
  }
  for (const island of islandsIn(sound.islands, { start: end, end: Math.max(after, end) })) {
    if (island.start - end < ATTACHED) end = Math.min(island.end, Math.max(after, end));
  }
  return {
    start: Math.round(Math.max(0, start - Math.min(PAD, Math.max(0, start - before) / 2))),
    end: Math.round(Math.min(sound.duration, end + Math.min(PAD, Math.max(0, after - end) / 2))),
  };
}

/** Goes on over heard words, up to a pause. */
function reach(heard: readonly HeardWord[], at: number, step: 1 | -1, most: number, pauseLimit = ATTACHED): number {
  let now = at;
  for (let n = 0; n < most; n++) {
    const next = heard[now + step];
    if (!next) break;
    const pause = step > 0 ? next.start - heard[now]!.end : heard[now]!.start - next.end;
    if (pause > pauseLimit) break;
    now += step;
  }
  return now;
}

/** Each reading of a line, to be held against a window of the sound. None when the window is longer than a recogniser takes. */
export function readingsOf(line: ScriptLine, window: Span, mute: Span[] = []): AlignmentRequest[] {
  if (window.end - window.start > LONGEST_WINDOW || window.end <= window.start) return [];
  return line.spoken.map((text) => ({ window, text, ...(mute.length > 0 ? { mute } : {}) }));
}

/** Whether the sound says that a line is spoken: `ending` when all but its last word surely is, and something is said in that place. */
export type Fit = "whole" | "ending" | "none";

export function fitOf(forced: ForcedAlignment, sound: Sound): Fit {
  const bad = forced.words.filter((word) => word.logProb < UNSPOKEN_WORD).length;
  if (forced.meanLogProb <= ACCEPTED_MEAN || bad > Math.max(1, 0.15 * forced.words.length)) return "none";
  if (isSqueezed(forced.words)) return "none";
  const last = forced.words[forced.words.length - 1]!;
  if (forced.tailLogProb > ACCEPTED_TAIL || last.logProb > SURE_ENDING) return "whole";
  const before = forced.words[forced.words.length - 2];
  if (!before || before.logProb < SURE_WORD || forced.meanLogProb < ENDING_MEAN) return "none";
  const heard = islandsIn(sound.islands, last).reduce((sum, island) => sum + overlap(island, last), 0);
  return heard >= ENDING_LENGTH * usualLength(forced.words, last.text.length) ? "ending" : "none";
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
export function qualityOf(forced: ForcedAlignment, fit: Fit): number {
  return Math.min(1, Math.max(0, 1 + forced.meanLogProb / 4 - (fit === "ending" ? DOUBTFUL_ENDING : 0)));
}

/** What clipping leaves of a take's quality. */
export const unclipped = (quality: number, sound: Sound, window: Span): number =>
  quality * (1 - clippedShare(sound, window));

/** Judges a stretch by its text and by the sound. */
export function judged(match: Match, window: Span, forced: ForcedAlignment | null, sound: Sound): LineCandidate {
  const first = match.pairs[0]!;
  const last = match.pairs[match.pairs.length - 1]!;
  if (!forced) {
    const complete = match.score >= 0.6 && last >= 0;
    const quality = unclipped(0.85 * match.score, sound, window);
    return { ...match, window, forced, quality, complete, accepted: match.score >= 0.55 };
  }
  const sure = match.score >= SURE_TEXT && first >= 0 && last >= 0;
  const fit = fitOf(forced, sound);
  const accepted = sure || fit !== "none";
  const quality = Math.max(qualityOf(forced, fit), sure ? 0.8 * match.score : 0);
  return { ...match, window, forced, quality: unclipped(quality, sound, window), complete: accepted, accepted };
}
