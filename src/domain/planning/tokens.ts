/** The transcript as the planner reads it: normal words with their times, and where phrases begin. */
import type { Word } from "../speech";
import { normalWords } from "../text/normal";
import type { Ticks } from "../time";

/** One normal word; `word` indexes the transcript's words (a written "24" gives two of them). */
export type Token = { normal: string; word: number; start: Ticks; end: Ticks };

/** Words sorted by time, without those of no length. */
export function sortWords(words: readonly Word[]): Word[] {
  return words.filter((word) => word.end > word.start).sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Stands for a sound that was not understood; no word is spelled like it. */
export const UNRECOGNIZED = "?";

/**
 * The normal words of a transcript. A word that is written as several is divided evenly among them; one without text is `UNHEARD`, one
 * of nothing but marks gives none.
 */
export function tokenize(words: readonly Word[], language: string | null): Token[] {
  const out: Token[] = [];
  for (const [index, word] of words.entries()) {
    const normals = word.text === "" ? [UNRECOGNIZED] : normalWords(word.text, language);
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

/** The pause in front of a word; a second in front of the first. */
export function pauseBefore(words: readonly { start: Ticks; end: Ticks }[], index: number): Ticks {
  const before = words[index - 1];
  return before ? words[index]!.start - before.end : 1_000_000;
}

/** Whether a word ends a sentence by its punctuation. */
export const endsSentence = (text: string): boolean => /[.!?…。！？]["'”’)\]]*$/.test(text);

/** Whether any punctuation follows the word. */
export const endsPhrase = (text: string): boolean => /[.!?…,;:。！？、，—–-]["'”’)\]]*$/.test(text);

/** A pause at which somebody may begin again. */
export const MIN_RESTART_PAUSE: Ticks = 140_000;

/** The indices at which a phrase begins: after a pause or a mark. */
export function findPhraseStarts(words: readonly Word[], tokens: readonly Token[]): number[] {
  return tokens.flatMap((word, i) => {
    const before = tokens[i - 1];
    if (!before) return [i];
    if (before.word === word.word) return [];
    return word.start - before.end >= MIN_RESTART_PAUSE || endsPhrase(words[before.word]!.text) ? [i] : [];
  });
}
