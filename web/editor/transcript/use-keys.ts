import type { Signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { WordRange } from "../model/words";
import { type Caret, moveSelection } from "./move-selection";

type KeysOptions = {
  count: number;
  selection: Signal<WordRange | null>;
  /** The word of the last click, where selecting with the keyboard begins. */
  caret: { current: number };
  onToggle: ((range: WordRange) => void) | undefined;
  onCorrect(range: WordRange): void;
  onSeekWord(word: number): void;
  onPlay: ((word: number) => void) | undefined;
};

/** Returns the handler of the keys of the transcript. What it handles does not reach the shortcuts of the page. */
export function useKeys({ count, selection, caret, onToggle, onCorrect, onSeekWord, onPlay }: KeysOptions) {
  const last = useRef<Pick<Caret, "anchor" | "selected">>({ anchor: null, selected: null });

  const move = (direction: 1 | -1, extends_: boolean) => {
    const moved = moveSelection({ at: caret.current, ...last.current }, selection.peek(), count, direction, extends_);
    last.current = moved;
    caret.current = moved.at;
    selection.value = moved.selected;
  };

  const run = (event: KeyboardEvent): boolean => {
    const chosen = selection.peek();
    const { key } = event;
    const isWordKey = event.ctrlKey || event.altKey;
    if (isWordKey && (key === "ArrowRight" || key === "ArrowLeft")) move(key === "ArrowRight" ? 1 : -1, event.shiftKey);
    else if ((event.ctrlKey || event.metaKey) && key === "a") selection.value = { from: 0, to: count };
    else if ((key === "Delete" || key === "Backspace") && chosen && onToggle) onToggle(chosen);
    else if (key === "F2") onCorrect(chosen ?? { from: caret.current, to: caret.current + 1 });
    else if (key === "Escape" && chosen) {
      selection.value = null;
      document.getSelection()?.collapseToStart();
    } else if (key === "Enter") {
      onSeekWord(chosen?.from ?? caret.current);
      // Else the page plays from there.
      if (!onPlay) return false;
      onPlay(chosen?.from ?? caret.current);
    } else return false;
    return true;
  };

  return (event: KeyboardEvent) => {
    if (count > 0 && run(event)) event.preventDefault();
  };
}
