/**
 * The transcript as tokens (normalized words with their times), the starts of phrases, and word times corrected by the
 * audio.
 */

import type { Word } from "../speech";
import { normalizeWords } from "../text/normalize";
import type { Span, Ticks } from "../time";
import type { AudioActivity } from "./audio-activity";
import { coveredDuration, durationOf, findOverlapping, overlapDuration } from "./spans";
import { ACTIVITY, COMMON } from "./thresholds";

/** A normalized word. `word` indexes the transcript's words: a written "24" becomes two tokens. */
export type Token = { normal: string; word: number; start: Ticks; end: Ticks };

/** Tokens `[from, to)`. */
export type TokenRange = { from: number; to: number };

/** Returns the words sorted by time, without words of zero duration. */
export function sortWords(words: readonly Word[]): Word[] {
  return words.filter((word) => word.end > word.start).sort((a, b) => a.start - b.start || a.end - b.end);
}

/** The token for unrecognized speech. No word is spelled like it. */
export const UNRECOGNIZED = "?";

/**
 * Returns the tokens of a transcript. A word that normalizes to several tokens is divided evenly among them. A word
 * without text becomes one `UNRECOGNIZED` token; a word of only punctuation yields none.
 */
export function tokenize(words: readonly Word[], language: string | null): Token[] {
  const out: Token[] = [];
  for (const [index, word] of words.entries()) {
    const normals = word.text === "" ? [UNRECOGNIZED] : normalizeWords(word.text, language);
    for (const [k, normal] of normals.entries()) {
      const step = (word.end - word.start) / normals.length;
      out.push({
        normal,
        word: index,
        start: Math.round(word.start + k * step),
        end: Math.round(word.start + (k + 1) * step),
      });
    }
  }
  return out;
}

/** Returns the pause before a word; one second before the first. */
export function pauseBefore(words: readonly { start: Ticks; end: Ticks }[], index: number): Ticks {
  const before = words[index - 1];
  return before ? words[index]!.start - before.end : COMMON.longPause;
}

/** Returns whether a word's punctuation ends a sentence. */
export const endsSentence = (text: string): boolean => /[.!?…。！？]["'”’)\]]*$/.test(text);

/** Returns whether a word is followed by any punctuation. */
export const endsPhrase = (text: string): boolean => /[.!?…,;:。！？、，—–-]["'”’)\]]*$/.test(text);

/** Returns the indices of the tokens at which a phrase starts: after a pause or after punctuation. */
export function findPhraseStarts(words: readonly Word[], tokens: readonly Token[]): number[] {
  return tokens.flatMap((token, i) => {
    const before = tokens[i - 1];
    if (!before) return [i];
    if (before.word === token.word) return [];
    return token.start - before.end >= ACTIVITY.minRestartPause || endsPhrase(words[before.word]!.text) ? [i] : [];
  });
}

/** Returns the sounds that a word overlaps, divided at pauses of `minPause`, and how much of each is in the word. */
function divideAtPauses(word: Word, minPause: Ticks, { speechRegions }: AudioActivity): (Span & { loud: Ticks })[] {
  const sides: (Span & { loud: Ticks })[] = [];
  for (const region of findOverlapping(speechRegions, word)) {
    const last = sides.at(-1);
    const loud = overlapDuration(region, word);
    if (last && region.start - last.end < minPause) {
      last.end = region.end;
      last.loud += loud;
    } else sides.push({ start: region.start, end: region.end, loud });
  }
  return sides;
}

/** Trims each word that spans a pause to the side of the pause with most of its audio. */
export function trimWordsAtPauses(words: readonly Word[], activity: AudioActivity): Word[] {
  return words.map((word) => {
    const sides = durationOf(word) > ACTIVITY.maxWord ? [] : divideAtPauses(word, COMMON.minPause, activity);
    if (sides.length < 2) return word;
    const loudest = sides.reduce((best, side) => (side.loud > best.loud ? side : best));
    return { ...word, start: Math.max(word.start, loudest.start), end: Math.min(word.end, loudest.end) };
  });
}

/** Returns the words that duplicate the previous word in the silence after it: they were said only once. */
export function findDuplicatedWords(words: readonly Word[], activity: AudioActivity): Set<Word> {
  const found = new Set<Word>();
  for (const [i, word] of words.entries()) {
    const before = words[i - 1];
    if (!before || word.start - before.end > COMMON.maxFluentGap) continue;
    const loud = coveredDuration(activity.speechRegions, word);
    if (loud <= COMMON.minShare * durationOf(word) && isSameText(before, word)) found.add(word);
  }
  return found;
}

const isSameText = (a: Word, b: Word): boolean => normalizeWords(a.text).join() === normalizeWords(b.text).join();

/**
 * Moves each word that is in silence right after a word that spans a pause to the sound after the pause, in which it
 * was said. The word before then ends at the pause.
 */
export function moveSilentWords(words: readonly Word[], activity: AudioActivity): Word[] {
  const out = words.slice();
  for (let i = 1; i < out.length; i++) {
    const [before, word] = [out[i - 1]!, out[i]!];
    const gap = word.start - before.end;
    if (gap < 0 || gap > COMMON.maxFluentGap || isSameText(before, word)) continue;
    if (coveredDuration(activity.speechRegions, word) >= COMMON.precision) continue;
    // The silent word is evidence of a pause, so a shorter one counts, but not the closure of a consonant.
    const sides = divideAtPauses(before, COMMON.edge, activity);
    const [pauseStart, last] = [sides.at(-2)?.end, sides.at(-1)];
    if (pauseStart === undefined || !last || last.end > word.end || durationOf(last) < COMMON.minDuration) continue;
    out[i - 1] = { ...before, end: pauseStart };
    out[i] = { ...word, start: last.start, end: last.end };
  }
  return out;
}

/** Returns the longest time that words may take which take this long at another pace. */
export const toMaxLength = (length: Ticks): Ticks => COMMON.maxSlowerFactor * length + COMMON.maxLate;

/** Returns whether two lengths may be those of the same words, at two paces. */
export const isAtAnyPace = (a: Ticks, b: Ticks): boolean => Math.max(a, b) <= toMaxLength(Math.min(a, b));
