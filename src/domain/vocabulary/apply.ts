/** Puts terms in the place of recognized words. Pure. */
import type { Take } from "../plan";
import type { PlanBasis } from "../planning/basis";
import type { Word } from "../speech";
import type { Replacement } from "./candidates";

/**
 * Returns the words with the replacements, which are in order and disjoint. A term takes the time from the first to the
 * last word that it replaces.
 */
export function replaceWords(words: readonly Word[], replacements: readonly Replacement[]): Word[] {
  const parts: Word[][] = [];
  let next = 0;
  for (const { from, to, texts } of replacements) {
    parts.push(words.slice(next, from), placeTexts(words.slice(from, to), texts));
    next = to;
  }
  return [...parts, words.slice(next)].flat();
}

/**
 * Returns a word for each text. As many texts as words keep their times; others share the whole time by their lengths.
 */
function placeTexts(words: readonly Word[], texts: readonly string[]): Word[] {
  if (words.length === texts.length) return words.map((word, i) => ({ ...word, text: texts[i]! }));
  const [start, end] = [words[0]!.start, words.at(-1)!.end];
  const confidence = Math.min(...words.map((word) => word.confidence));
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  let done = 0;
  return texts.map((text) => {
    const from = start + Math.round(((end - start) * done) / length);
    done += text.length;
    return { text, start: from, end: start + Math.round(((end - start) * done) / length), confidence };
  });
}

const middleOf = ({ start, end }: Word): number => (start + end) / 2;

/**
 * Returns a basis whose texts have the replacements. `words` are those of the transcript from which it was planned. A
 * replacement is in the span with the middle of its first word; it is left out if the span does not have its words,
 * because the recording's script has others there.
 */
export function replaceInBasis<Basis extends Pick<PlanBasis, "spans">>(
  basis: Basis,
  words: readonly Word[],
  replacements: readonly Replacement[],
): Basis {
  if (replacements.length === 0) return basis;
  let next = 0;
  const spans = basis.spans.map((span) => {
    const inside: Replacement[] = [];
    for (; next < replacements.length; next++) {
      const middle = middleOf(words[replacements[next]!.from]!);
      if (middle >= span.end) break;
      if (middle >= span.start) inside.push(replacements[next]!);
    }
    return inside.length === 0 ? span : { ...span, text: replaceInText(span.text, words, inside) };
  });
  return { ...basis, spans };
}

/** Returns takes whose lines, which are the words of one of them, have the replacements. */
export const replaceInTakes = (
  takes: readonly Take[],
  words: readonly Word[],
  replacements: readonly Replacement[],
): Take[] =>
  takes.map((take) => {
    const inside = replacements.filter(({ from }) =>
      take.candidates.some(({ start, end }) => middleOf(words[from]!) >= start && middleOf(words[from]!) < end),
    );
    return { ...take, line: replaceInText(take.line, words, inside) };
  });

/** Returns a text with the replacements, which are in order. Those whose words it does not have are left out. */
function replaceInText(text: string, words: readonly Word[], replacements: readonly Replacement[]): string {
  const texts = text.split(" ");
  let next = 0;
  for (const { from, to, texts: wanted } of replacements) {
    const old = words.slice(from, to).map((word) => word.text.trim());
    const place = findSequence(texts, old, next);
    if (place < 0) continue;
    texts.splice(place, old.length, ...wanted);
    next = place + wanted.length;
  }
  return texts.join(" ");
}

/** Returns where a sequence is in the texts, from `start` on; -1 if it is nowhere. */
function findSequence(texts: readonly string[], wanted: readonly string[], start: number): number {
  for (let at = start; at + wanted.length <= texts.length; at++)
    if (wanted.every((text, i) => texts[at + i] === text)) return at;
  return -1;
}
