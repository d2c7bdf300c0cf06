import { type ReadonlySignal, type Signal, useSignal, useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { WordRange } from "../model/words";
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
  /** The words of the selected removed span, which get a ring. */
  openSpan: ReadonlySignal<WordRange | null> | undefined;
  found: readonly WordRange[];
  follow: Follow;
  /** Whether the text must not scroll. */
  isHeld: ReadonlySignal<boolean>;
};

/** Highlights the played word, the selected words and the search matches, and scrolls to the first of them. */
export function useMarks({ page, list, layer, views, follow, isHeld, ...marked }: MarksOptions): void {
  const { played, selection, selected, openSpan, found } = marked;
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
  const ringed = useRef<Element[]>([]);
  useSignalEffect(() => {
    for (const element of ringed.current) element.classList.remove("is-open");
    const range = version.value > 0 && openSpan?.value ? toRange(openSpan.value) : null;
    ringed.current = range === null ? [] : listRemoved(range);
    for (const element of ringed.current) element.classList.add("is-open");
  });
  useEffect(() => {
    const ranges = found.map(toRange).filter((range) => range !== null);
    showHighlights("found", ranges, layer.current);
  }, [found, views]);
  useEffect(() => clearHighlights, []);
}

/** Returns the elements of removed words in a range of the document. */
function listRemoved(range: Range): Element[] {
  const { commonAncestorContainer: common } = range;
  const root = common instanceof Element ? common : common.parentElement!;
  const around = root.closest("s");
  if (around !== null) return [around];
  return [...root.querySelectorAll("s")].filter((element) => range.intersectsNode(element));
}

type HighlightName = "played" | "found" | "selected";

const PRIORITY: Record<HighlightName, number> = { found: 1, selected: 2, played: 3 };
/** Maximum number of boxes, because each is positioned individually. */
const MAX_BOXES = 200;

const isSupported = (): boolean => typeof Highlight === "function" && "highlights" in CSS;

/** Replaces the highlights of one kind. `layer` contains the boxes and is aligned with the top left of the text. */
function showHighlights(name: HighlightName, ranges: readonly Range[], layer: HTMLElement | null): void {
  if (!isSupported()) {
    showBoxes(name, ranges, layer);
    return;
  }
  const key = `transcript-${name}`;
  if (ranges.length === 0) {
    CSS.highlights.delete(key);
    return;
  }
  const highlight = new Highlight(...ranges);
  highlight.priority = PRIORITY[name];
  CSS.highlights.set(key, highlight);
}

/** Removes all marks. CSS highlights belong to the document and outlive the transcript. */
function clearHighlights(): void {
  if (!isSupported()) return;
  for (const name of Object.keys(PRIORITY)) CSS.highlights.delete(`transcript-${name}`);
}

function showBoxes(name: HighlightName, ranges: readonly Range[], layer: HTMLElement | null): void {
  if (!layer) return;
  for (const old of layer.querySelectorAll(`.${name}`)) old.remove();
  const origin = layer.getBoundingClientRect();
  const rects = ranges.slice(0, MAX_BOXES).flatMap((range) => [...range.getClientRects()]);
  layer.append(
    ...rects.slice(0, MAX_BOXES).map((rect) => {
      const box = document.createElement("span");
      box.className = `highlight-box ${name}`;
      box.style.left = `${rect.left - origin.left}px`;
      box.style.top = `${rect.top - origin.top}px`;
      box.style.width = `${rect.width}px`;
      box.style.height = `${rect.height}px`;
      return box;
    }),
  );
}
