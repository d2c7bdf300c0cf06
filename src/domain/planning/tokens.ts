/** The transcript as tokens: normalized words with their times, and the starts of phrases. */
import type { Word } from "../speech";
import { normalizeWords } from "../text/normalize";
import type { Ticks } from "../time";

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

const PAUSE_BEFORE_FIRST_TICKS: Ticks = 1_000_000;

/** Returns the pause before a word; one second before the first. */
export function pauseBefore(words: readonly { start: Ticks; end: Ticks }[], index: number): Ticks {
  const before = words[index - 1];
  return before ? words[index]!.start - before.end : PAUSE_BEFORE_FIRST_TICKS;
}

/** Returns whether a word's punctuation ends a sentence. */
export const endsSentence = (text: string): boolean => /[.!?…。！？]["'”’)\]]*$/.test(text);

/** Returns whether a word is followed by any punctuation. */
export const endsPhrase = (text: string): boolean => /[.!?…,;:。！？、，—–-]["'”’)\]]*$/.test(text);

/** Minimum pause at which a speaker restarts. */
export const MIN_RESTART_PAUSE_TICKS: Ticks = 140_000;

/** Returns the indices of the tokens at which a phrase starts: after a pause or after punctuation. */
export function findPhraseStarts(words: readonly Word[], tokens: readonly Token[]): number[] {
  return tokens.flatMap((token, i) => {
    const before = tokens[i - 1];
    if (!before) return [i];
    if (before.word === token.word) return [];
    return token.start - before.end >= MIN_RESTART_PAUSE_TICKS || endsPhrase(words[before.word]!.text) ? [i] : [];
  });
}
