import { type ReadonlySignal, type Signal, useSignal, useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { WordRange } from "../model/words";
import { clearHighlights, showHighlights } from "./highlights";
import { type Page, toDocumentRange } from "./places";
import type { Follow } from "./use-follow";
import { useSelection } from "./use-selection";

type MarksOptions = {
  page: RefObject<Page | null>;
  list: RefObject<HTMLElement | null>;
  layer: RefObject<HTMLElement | null>;
  views: Page["views"];
  /** The word at the playhead. */
  played: ReadonlySignal<number>;
  selection: Signal<WordRange | null>;
  /** The words that are selected in any way. */
  selected: ReadonlySignal<WordRange | null>;
  found: readonly WordRange[];
  follow: Follow;
  /** Whether the text must not scroll. */
  isHeld: ReadonlySignal<boolean>;
};

/** Highlights the played word, the selected words and the search matches, and scrolls to the first of them. */
export function useMarks({ page, list, layer, views, follow, isHeld, ...marked }: MarksOptions): void {
  const { played, selection, selected, found } = marked;
  /** Changes with the document, so that ranges are created again. */
  const version = useSignal(0);
  const revealed = useRef<number | null>(null);
  const toRange = (range: WordRange) => page.current && toDocumentRange(page.current, range);

  const restoreSelection = useSelection(page, selection);
  // A layout effect runs before the browser reports that the selection has changed with its nodes.
  useLayoutEffect(() => {
    page.current = list.current && { list: list.current, views };
    version.value++;
    restoreSelection();
  }, [views]);

  useSignalEffect(() => {
    const word = played.value;
    const range = version.value > 0 && word >= 0 ? toRange({ from: word, to: word + 1 }) : null;
    showHighlights("played", range ? [range] : [], layer.current);
    const isFollowing = follow.isOn.value;
    if (!isFollowing) revealed.current = null;
    // Runs once per word: an edit elsewhere does not move the text, so no layout is needed.
    if (!range || !isFollowing || isHeld.peek() || revealed.current === word) return;
    revealed.current = word;
    follow.reveal(range);
  });
  useSignalEffect(() => {
    const range = version.value > 0 && selected.value ? toRange(selected.value) : null;
    showHighlights("selected", range ? [range] : [], layer.current);
  });
  useEffect(() => {
    const ranges = found.map(toRange).filter((range) => range !== null);
    showHighlights("found", ranges, layer.current);
  }, [found, views]);
  useEffect(() => clearHighlights, []);
}
