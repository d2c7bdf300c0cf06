/** Maps between character offsets in a paragraph and its words. Pure. */
import type { WordRange } from "../model/words";
import type { ParagraphView } from "./paragraphs";

/** Start and end offset of each word in a paragraph's text. A word without text is at the end of the previous one. */
export type Offsets = { start: Uint32Array; end: Uint32Array };

const measured = new WeakMap<ParagraphView, Offsets>();

export function measureParagraph(view: ParagraphView): Offsets {
  const known = measured.get(view);
  if (known) return known;
  const count = view.to - view.from;
  const offsets: Offsets = { start: new Uint32Array(count), end: new Uint32Array(count) };
  let at = 0;
  let isFirst = true;
  for (let index = 0; index < count; index++) {
    const { length } = view.texts[view.from + index]!;
    if (length > 0 && !isFirst) at++;
    offsets.start[index] = at;
    at += length;
    offsets.end[index] = at;
    if (length > 0) isFirst = false;
  }
  measured.set(view, offsets);
  return offsets;
}

/**
 * Returns the word at an offset between characters: the one that starts there, otherwise the one around or before it.
 */
export function findWordAtOffset(view: ParagraphView, offset: number): number {
  const { start, end } = measureParagraph(view);
  let found = 0;
  for (let index = 0; index < start.length; index++) {
    if (start[index]! > offset) break;
    if (end[index]! > start[index]!) found = index;
  }
  return view.from + found;
}

/** Returns the first word that ends after an offset. */
export function findFirstWord(view: ParagraphView, offset: number): number {
  const { end } = measureParagraph(view);
  const index = end.findIndex((place) => place > offset);
  return index === -1 ? view.to : view.from + index;
}

/** Returns the index after the last word that starts before an offset, including the other words of its correction. */
export function findWordsEnd(view: ParagraphView, offset: number): number {
  const { start, end } = measureParagraph(view);
  let last = 0;
  for (let index = 0; index < start.length; index++) {
    const isEmpty = end[index] === start[index];
    if (isEmpty ? last === index : start[index]! < offset) last = index + 1;
  }
  return view.from + last;
}

/** Returns the character range of words within a paragraph. */
export function toCharacters(view: ParagraphView, { from, to }: WordRange): { start: number; end: number } {
  const { start, end } = measureParagraph(view);
  const first = Math.max(from, view.from) - view.from;
  const last = Math.min(to, view.to) - view.from - 1;
  return { start: start[first]!, end: end[last]! };
}
