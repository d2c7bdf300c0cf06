/** Candidates for the takes of a script line: found by text, rated by forced alignment. */
import type { AlignedWord, AlignmentRequest, ForcedAlignment } from "../../speech";
import { fromSeconds, type Span, type Ticks } from "../../time";
import { type AudioActivity, measureClipping } from "../audio-activity";
import { coveredDuration, findOverlapping } from "../spans";
import type { Token, TokenRange } from "../tokens";
import type { LineMatch } from "./match-lines";
import type { ScriptLine } from "./script-lines";

/** A stretch that may be a take of a line. `alignment` is null if the line was not aligned with it. */
export type LineCandidate = LineMatch & {
  window: Span;
  alignment: ForcedAlignment | null;
  /** How well the stretch matches the line, 0 to 1. */
  quality: number;
  /** The line is spoken here to its end. */
  complete: boolean;
  /** The line, or much of it, is spoken here. */
  accepted: boolean;
};

/** A recognizer accepts at most half a minute per call. */
export const MAX_WINDOW_TICKS = fromSeconds(27);
const PADDING_TICKS = fromSeconds(0.15);
/** A region this close to a word is part of it. */
const MAX_ATTACHED_PAUSE_TICKS = fromSeconds(0.2);

const MAX_EXTENSION_WORDS = 6;
/** A first word may be isolated: "Hi, I am Dana." */
const MAX_FIRST_WORD_PAUSE_TICKS = fromSeconds(0.45);

/** Minimum mean log probability of a spoken line, and minimum log probability of its last tokens. */
const MIN_MEAN = -1.9;
const MIN_TAIL = -7;
/** A word below this log probability is not spoken. One such word, or this share of the words, is allowed. */
const MIN_WORD = -6;
const MAX_UNSPOKEN_SHARE = 0.15;
/** A last word may be pronounced unusually if the rest of a long enough line aligns at least this well. */
const MIN_SURE_WORD = -3.5;
const MIN_SURE_ENDING = -2;
const MIN_MEAN_BEFORE_ENDING = -1.4;
const MIN_ENDING_DURATION_SHARE = 0.6;
const UNCERTAIN_ENDING_PENALTY = 0.12;
/** Last words with less than this share of their usual duration are squeezed, if one of them is unlikely. */
const MAX_SQUEEZED_SHARE = 0.35;
const MAX_UNLIKELY_WORD = -2;
const MIN_SQUEEZED_LINE_WORDS = 4;
/** A text with this similarity is accepted regardless of the alignment. */
const SURE_SIMILARITY = 0.85;
/** Minimum similarities of a complete and of an accepted line if only the text is known. */
const MIN_COMPLETE_SIMILARITY = 0.6;
const MIN_ACCEPTED_SIMILARITY = 0.55;
/** Weights of the similarity in the quality, without an alignment and with one. */
export const SIMILARITY_WEIGHT = 0.85;
const SURE_SIMILARITY_WEIGHT = 0.8;

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
    from: leading === 0 ? near.from : extend(near.from, -1, 2 * leading, MAX_FIRST_WORD_PAUSE_TICKS),
    to: trailing === 0 ? near.to : extend(near.to - 1, 1, 2 * trailing, MAX_FIRST_WORD_PAUSE_TICKS) + 1,
  };
  const wide = {
    from: extend(near.from, -1, MAX_EXTENSION_WORDS),
    to: extend(near.to - 1, 1, MAX_EXTENSION_WORDS) + 1,
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
    if (start - region.end < MAX_ATTACHED_PAUSE_TICKS) start = Math.max(region.start, Math.min(before, start));
  }
  for (const region of findOverlapping(activity.speechRegions, { start: end, end: Math.max(after, end) })) {
    if (region.start - end < MAX_ATTACHED_PAUSE_TICKS) end = Math.min(region.end, Math.max(after, end));
  }
  return padWindow({ start, end }, before, after, activity.duration);
}

/** Pads a span of audio with at most half of the silence up to the adjacent tokens. */
export function padWindow({ start, end }: Span, before: Ticks, after: Ticks, duration: Ticks): Span {
  return {
    start: Math.round(Math.max(0, start - Math.min(PADDING_TICKS, Math.max(0, start - before) / 2))),
    end: Math.round(Math.min(duration, end + Math.min(PADDING_TICKS, Math.max(0, after - end) / 2))),
  };
}

/** Returns the token up to which `maxWords` tokens follow without a longer pause. */
function extendToPause(
  tokens: readonly Token[],
  at: number,
  step: 1 | -1,
  maxWords: number,
  maxPause = MAX_ATTACHED_PAUSE_TICKS,
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
  if (window.end - window.start > MAX_WINDOW_TICKS || window.end <= window.start) return [];
  return line.spoken.map((text) => (mute.length > 0 ? { window, text, mute } : { window, text }));
}

/** `whole`: the line is spoken. `ending`: all but its last word certainly is, and something is said in its place. */
export type AlignmentFit = "whole" | "ending" | "none";

/** Returns whether an alignment shows that its line is spoken. */
export function classifyFit(alignment: ForcedAlignment, activity: AudioActivity): AlignmentFit {
  const { words, meanLogProb, tailLogProb } = alignment;
  const unspoken = words.filter((word) => word.logProb < MIN_WORD).length;
  if (meanLogProb <= MIN_MEAN || unspoken > Math.max(1, MAX_UNSPOKEN_SHARE * words.length)) return "none";
  if (isSqueezed(words)) return "none";
  const last = words[words.length - 1]!;
  if (tailLogProb > MIN_TAIL || last.logProb > MIN_SURE_ENDING) return "whole";
  const before = words[words.length - 2];
  if (!before || before.logProb < MIN_SURE_WORD || meanLogProb < MIN_MEAN_BEFORE_ENDING) return "none";
  const spoken = coveredDuration(activity.speechRegions, last);
  return spoken >= MIN_ENDING_DURATION_SHARE * usualDuration(words, last.text.length) ? "ending" : "none";
}

/** Returns whether the last words have hardly any duration: unspoken words align with the end of the audio. */
function isSqueezed(words: readonly AlignedWord[]): boolean {
  if (words.length < MIN_SQUEEZED_LINE_WORDS) return false;
  const last = words.slice(-2);
  const duration = last.reduce((sum, word) => sum + word.end - word.start, 0);
  const characters = last.reduce((sum, word) => sum + word.text.length, 0);
  const isShort = duration < MAX_SQUEEZED_SHARE * usualDuration(words.slice(0, -1), characters);
  return isShort && last.some((word) => word.logProb < MAX_UNLIKELY_WORD);
}

/** Returns the duration of `characters` at the pace of all words except the last. */
function usualDuration(words: readonly AlignedWord[], characters: number): Ticks {
  const rest = words.slice(0, -1);
  const duration = rest.reduce((sum, word) => sum + word.end - word.start, 0);
  return (duration / rest.reduce((sum, word) => sum + word.text.length, 0)) * characters;
}

/** Returns the quality of an aligned line, 0 to 1. An uncertain ending lowers it. */
export function rateAlignment(alignment: ForcedAlignment, fit: AlignmentFit): number {
  const penalty = fit === "ending" ? UNCERTAIN_ENDING_PENALTY : 0;
  return Math.min(1, Math.max(0, 1 + alignment.meanLogProb / 4 - penalty));
}

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
    const complete = match.score >= MIN_COMPLETE_SIMILARITY && last >= 0;
    const quality = discountClipping(SIMILARITY_WEIGHT * match.score, activity, window);
    return { ...match, window, alignment, quality, complete, accepted: match.score >= MIN_ACCEPTED_SIMILARITY };
  }
  const isSure = match.score >= SURE_SIMILARITY && first >= 0 && last >= 0;
  const fit = classifyFit(alignment, activity);
  const accepted = isSure || fit !== "none";
  const quality = Math.max(rateAlignment(alignment, fit), isSure ? SURE_SIMILARITY_WEIGHT * match.score : 0);
  return {
    ...match,
    window,
    alignment,
    quality: discountClipping(quality, activity, window),
    complete: accepted,
    accepted,
  };
}
