import type { Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { afterNextFrame } from "../../app/after-next-frame";
import type { WordRange } from "../model/words";
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
