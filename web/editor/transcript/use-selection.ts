/** Selects words in the transcript, with the pointer and with the keyboard. */
import type { ReadonlySignal, Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { afterNextFrame } from "../../app/after-next-frame";
import { toUnit, toUnitEnd, type WordRange } from "../model/words";
import { findWordsInRange, type Page, toDocumentRange } from "./places";
import { scrollTo } from "./use-follow";

/**
 * Synchronizes the selected words with the document's selection. Returns a function that restores the selection after
 * nodes were replaced.
 */
export function useSelection(page: RefObject<Page | null>, selection: Signal<WordRange | null>): () => void {
  /** Whether the selection is about to be restored. Until then, browser events refer to nodes that no longer exist. */
  const isDue = useRef(false);
  useEffect(() => {
    const read = () => {
      const chosen = document.getSelection();
      if (isDue.current || !page.current || !chosen || chosen.rangeCount === 0) return;
      const range = chosen.getRangeAt(0);
      // A selection elsewhere, as in a field, does not affect the selected words.
      if (!range.intersectsNode(page.current.list)) return;
      const words = findWordsInRange(page.current, range);
      if (!isSame(words, selection.peek())) selection.value = words;
    };
    document.addEventListener("selectionchange", read);
    // Keeps the document's selection when another cut is opened.
    read();
    const stop = selection.subscribe((words) => {
      if (!page.current || isSame(readSelection(page.current), words)) return;
      if (words) selectWords(page.current, words, true);
      else endSelection();
    });
    return () => {
      document.removeEventListener("selectionchange", read);
      stop();
    };
  }, [selection]);
  const restore = () => {
    isDue.current = false;
    const words = selection.peek();
    const chosen = document.getSelection();
    if (!page.current || !words || !chosen || chosen.rangeCount === 0) return;
    const isHere = chosen.getRangeAt(0).intersectsNode(page.current.list);
    if (isHere && !isSame(readSelection(page.current), words)) selectWords(page.current, words, false);
  };
  return () => {
    if (isDue.current || selection.peek() === null) return;
    isDue.current = true;
    // Selecting forces a layout, so it runs after the frame that shows the edit. That frame already highlights the
    // words.
    afterNextFrame(restore);
  };
}

/**
 * Clears the document's selection. Otherwise a press on it, as on words that were just removed, would drag its text
 * instead of selecting.
 */
export function endSelection(): void {
  const chosen = document.getSelection();
  if (chosen && chosen.rangeCount > 0) chosen.collapseToStart();
}

function readSelection(page: Page): WordRange | null {
  const chosen = document.getSelection();
  return chosen && chosen.rangeCount > 0 ? findWordsInRange(page, chosen.getRangeAt(0)) : null;
}

/** Selects words in the document, which screen readers follow, and scrolls to them. */
function selectWords(page: Page, words: WordRange, scrolls: boolean): void {
  const range = toDocumentRange(page, words);
  if (!range) return;
  if (scrolls && page.list.parentElement) scrollTo(page.list.parentElement, range);
  const active = document.activeElement;
  // A field would lose its own selection.
  if (active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement) return;
  const { startContainer, startOffset, endContainer, endOffset } = range;
  document.getSelection()?.setBaseAndExtent(startContainer, startOffset, endContainer, endOffset);
}

const isSame = (a: WordRange | null, b: WordRange | null): boolean => a?.from === b?.from && a?.to === b?.to;

type KeysOptions = {
  /** The text of each word. */
  texts: readonly string[];
  selection: Signal<WordRange | null>;
  /** The word at the playhead. */
  played: ReadonlySignal<number>;
  onToggle: ((range: WordRange) => void) | undefined;
  onCorrect(range: WordRange): void;
  onSeekWord(word: number): void;
  /** The word after the pause at which the caret is, or null. */
  caretPause: Signal<number | null>;
  /** Whether the caret stops at a pause before a word. */
  hasPauseBefore(word: number): boolean;
  onPickPause(word: number): void;
  /** Opens the details of a pause, or of a removed word. Returns whether there are any. */
  onOpen(word: number, isPause: boolean): boolean;
  onPlay: ((word: number) => void) | undefined;
};

/** The keys of the transcript. Those that it handles do not reach the page's shortcuts. */
export function useKeys({ texts, selection, played, caretPause, ...on }: KeysOptions) {
  const { onToggle, onCorrect, onSeekWord, onPlay } = on;
  const last = useRef<Caret & { played: number }>({ at: 0, anchor: null, selected: null, played: 0 });
  /** Selecting starts at the playhead, or at the last caret if the playhead has not moved since. */
  const getCaret = () => (last.current.played === played.peek() ? last.current.at : Math.max(0, played.peek()));

  const toUnitRange = (word: number) => ({ from: toUnit(texts, word), to: toUnitEnd(texts, toUnit(texts, word)) });

  const move = (direction: 1 | -1, extends_: boolean) => {
    const pause = caretPause.peek();
    caretPause.value = null;
    const leftPause = pause === null ? null : direction === 1 ? pause : Math.max(0, pause - 1);
    const at = leftPause ?? (selection.peek() === null ? getCaret() : last.current.at);
    const caret = { ...last.current, at };
    const moved = moveSelection(caret, selection.peek(), texts, direction, extends_);
    const stop = direction === 1 ? moved.at : toUnit(texts, at);
    if (!extends_ && selection.peek() !== null && moved.at !== at && on.hasPauseBefore(stop)) {
      on.onPickPause(stop);
      selection.value = null;
      caretPause.value = stop;
      last.current = { ...last.current, at: stop, played: played.peek() };
      return;
    }
    last.current = { ...moved, played: played.peek() };
    selection.value = moved.selected;
  };

  const run = (event: KeyboardEvent): boolean => {
    const chosen = selection.peek();
    const { key } = event;
    const isWordKey = event.ctrlKey || event.altKey || event.shiftKey;
    if (isWordKey && (key === "ArrowRight" || key === "ArrowLeft")) move(key === "ArrowRight" ? 1 : -1, event.shiftKey);
    else if ((event.ctrlKey || event.metaKey) && key === "a") selection.value = { from: 0, to: texts.length };
    else if ((key === "Delete" || key === "Backspace") && chosen && onToggle) onToggle(chosen);
    else if (key === "F2") onCorrect(chosen ?? toUnitRange(getCaret()));
    else if (key === "Escape" && chosen) {
      selection.value = null;
      document.getSelection()?.collapseToStart();
    } else if (key === "Enter") {
      const pause = caretPause.peek();
      const word = pause ?? chosen?.from ?? getCaret();
      if (on.onOpen(word, pause !== null)) return true;
      onSeekWord(word);
      // Otherwise the page handles the key.
      if (!onPlay) return false;
      onPlay(word);
    } else return false;
    return true;
  };

  return {
    onKeyDown: (event: KeyboardEvent) => {
      if (texts.length > 0 && run(event)) event.preventDefault();
    },
    /** The selected words, or the word at the caret. */
    getChosen: (): WordRange => selection.peek() ?? toUnitRange(getCaret()),
  };
}

/**
 * `at` is the word that moves, `anchor` the other end of a selection of several words. `selected` is the last selection
 * by keyboard.
 */
type Caret = { at: number; anchor: number | null; selected: WordRange | null };

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
