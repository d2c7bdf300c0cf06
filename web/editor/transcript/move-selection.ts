/** Selects words with the keyboard. Pure. */
import { toUnit, toUnitEnd, type WordRange } from "../model/words";

/**
 * `at` is the word that moves, `anchor` the other end of a selection of several words. `selected` is the last selection
 * by keyboard.
 */
export type Caret = { at: number; anchor: number | null; selected: WordRange | null };

/** Returns the next word with a text, or the same one at the ends. */
function step(texts: readonly string[], at: number, direction: 1 | -1): number {
  for (let next = at + direction; next >= 0 && next < texts.length; next += direction)
    if (texts[next] !== "") return next;
  return at;
}

/**
 * Moves the caret by a word. `extends_` selects the words in between. The first move selects the word at the caret. A
 * selection that was not made by keyboard, such as one by pointer, continues from its end. Words without text, whose
 * text an earlier word has, are selected with that word.
 */
export function moveSelection(
  { at, anchor, selected }: Caret,
  chosen: WordRange | null,
  texts: readonly string[],
  direction: 1 | -1,
  extends_: boolean,
): Caret & { selected: WordRange } {
  const isOwn = chosen !== null && chosen.from === selected?.from && chosen.to === selected.to;
  const [first, last] = chosen === null ? [at, at] : [chosen.from, chosen.to - 1];
  const from = toUnit(texts, chosen === null || isOwn ? at : direction === 1 ? last : first);
  const next = chosen === null ? from : step(texts, from, direction);
  const fixed =
    extends_ && chosen !== null ? toUnit(texts, (isOwn ? anchor : null) ?? (direction === 1 ? first : last)) : null;
  const other = fixed ?? next;
  const range = { from: Math.min(next, other), to: toUnitEnd(texts, Math.max(next, other)) };
  return { at: next, anchor: fixed, selected: range };
}
