/** Selects words with the keyboard. Pure. */
import type { WordRange } from "../model/words";

/**
 * `at` is the word that moves, `anchor` the other end of a selection of several words. `selected` is the last selection
 * by keyboard.
 */
export type Caret = { at: number; anchor: number | null; selected: WordRange | null };

/**
 * Moves the caret by a word. `extends_` selects the words in between. The first move selects the word at the caret. A
 * selection that was not made by keyboard, such as one by pointer, continues from its end.
 */
export function moveSelection(
  { at, anchor, selected }: Caret,
  chosen: WordRange | null,
  count: number,
  direction: 1 | -1,
  extends_: boolean,
): Caret & { selected: WordRange } {
  const isOwn = chosen !== null && chosen.from === selected?.from && chosen.to === selected.to;
  const [first, last] = chosen === null ? [at, at] : [chosen.from, chosen.to - 1];
  const from = chosen === null || isOwn ? at : direction === 1 ? last : first;
  const next = chosen === null ? from : Math.min(count - 1, Math.max(0, from + direction));
  const fixed = extends_ && chosen !== null ? ((isOwn ? anchor : null) ?? (direction === 1 ? first : last)) : null;
  const other = fixed ?? next;
  return { at: next, anchor: fixed, selected: { from: Math.min(next, other), to: Math.max(next, other) + 1 } };
}
