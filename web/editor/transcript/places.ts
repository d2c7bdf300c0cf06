/** Maps between positions in the document, character offsets in paragraphs, and words. */
import type { WordRange, Words } from "../model/words";
import { findParagraph, type ParagraphView } from "./paragraphs";
import { findView } from "./use-follow";

/** Number of paragraphs in a section. */
export const SECTION = 12;

/** The element that contains the sections, and the paragraphs in them. Not every paragraph has been rendered yet. */
export type Page = { list: HTMLElement; views: readonly ParagraphView[] };

/** Returns the paragraph around a node, and the number of characters before an offset in the node. */
function toOffset({ list, views }: Page, node: Node, offset: number): { view: ParagraphView; offset: number } | null {
  if (node === list || node.parentNode === list) {
    const section = node === list ? offset : [...list.children].indexOf(node as Element);
    const view = views[section * SECTION + (node === list ? 0 : offset)];
    if (view) return { view, offset: 0 };
    const last = views.at(-1);
    return last ? { view: last, offset: Number.POSITIVE_INFINITY } : null;
  }
  let element: Node | null = node;
  while (element && element.parentNode?.parentNode !== list) element = element.parentNode;
  if (!(element instanceof HTMLElement)) return null;
  const view = views[Number(element.dataset.index)];
  if (!view) return null;
  const before = document.createRange();
  before.setStart(element, 0);
  before.setEnd(node, offset);
  return { view, offset: before.toString().length };
}

/** Returns the word at a position in the document; null outside of the transcript. */
function findWordAtPlace(page: Page, node: Node, offset: number): number | null {
  const place = page.list.contains(node) ? toOffset(page, node, offset) : null;
  return place && findWordAtOffset(place.view, place.offset);
}

/** Returns the word at a point of the window, or null. */
export function findWordAtPoint(page: Page, x: number, y: number): number | null {
  const position = document.caretPositionFromPoint?.(x, y);
  if (position) return findWordAtPlace(page, position.offsetNode, position.offset);
  const range = document.caretRangeFromPoint?.(x, y);
  return range ? findWordAtPlace(page, range.startContainer, range.startOffset) : null;
}

/** Returns the words that a range of the document touches, or null. */
export function findWordsInRange(page: Page, range: Range): WordRange | null {
  const { list, views } = page;
  if (range.collapsed || !range.intersectsNode(list)) return null;
  const first = list.contains(range.startContainer) ? toOffset(page, range.startContainer, range.startOffset) : null;
  const last = list.contains(range.endContainer) ? toOffset(page, range.endContainer, range.endOffset) : null;
  const from = first ? findFirstWord(first.view, first.offset) : 0;
  const to = last ? findWordsEnd(last.view, last.offset) : (views.at(-1)?.to ?? 0);
  return to > from ? { from, to } : null;
}

/** Returns the document range of words; null if they are not rendered. */
export function toDocumentRange(page: Page, words: WordRange): Range | null {
  const { list, views } = page;
  if (words.to <= words.from || views.length === 0) return null;
  const [first, last] = [findParagraph(views, words.from), findParagraph(views, words.to - 1)];
  const [start, end] = [findParagraphElement(list, first), findParagraphElement(list, last)];
  if (!start || !end) return null;
  const range = document.createRange();
  const from = findText(start, toCharacters(views[first]!, words).start, true);
  const to = findText(end, toCharacters(views[last]!, words).end, false);
  if (!from || !to) return null;
  range.setStart(from.node, from.offset);
  range.setEnd(to.node, to.offset);
  return range;
}

const findParagraphElement = (list: HTMLElement, index: number): Element | undefined =>
  list.children[Math.floor(index / SECTION)]?.children[index % SECTION];

/** Returns the text node at a character offset. `isStart` chooses the second node at a border between two. */
function findText(paragraph: Element, offset: number, isStart: boolean): { node: Text; offset: number } | null {
  const walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
  let rest = offset;
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    if (isStart ? rest < node.length : rest <= node.length) return { node, offset: rest };
    rest -= node.length;
  }
  return null;
}

/**
 * The place that is being read when the words are replaced. `time`: start of the first visible word. `offset`: of its
 * line, in pixels as `getOffset` measures it. Both are missing at the start of the text.
 */
export type ReadingPlace = { time?: number; offset?: number; hasFocus?: boolean };

/** Returns the place of the first visible line; null at the start of the text. */
export function findPlace({ list, views }: Page, words: Words, scroller: HTMLElement): ReadingPlace | null {
  const { top } = findView(scroller);
  const isVisible = (box: Element | Range): boolean => box.getBoundingClientRect().bottom > top;
  const section = [...list.children].find(isVisible);
  const paragraph = section && [...section.children].find(isVisible);
  const view = paragraph && views[Number((paragraph as HTMLElement).dataset.index)];
  if (list.getBoundingClientRect().top >= top || !view) return null;
  for (let word = view.from; word < view.to; word++) {
    const range = toDocumentRange({ list, views }, { from: word, to: word + 1 });
    if (range !== null && isVisible(range)) return { time: words.start[word]!, offset: getOffset(range, scroller) };
  }
  return null;
}

/**
 * Returns the distance from the top of the panel, because the content above the text may change its height, or from the
 * top of the window if the page scrolls.
 */
function getOffset(range: Range, scroller: HTMLElement): number {
  const { top } = range.getBoundingClientRect();
  const isPage = findView(scroller).scroller !== scroller;
  return isPage ? top : top - scroller.closest("section")!.getBoundingClientRect().top;
}

/** Scrolls to a place. Only paragraphs that are rendered are found. */
export function scrollToPlace(page: Page, words: Words, scroller: HTMLElement, { time, offset }: ReadingPlace): void {
  const word = time === undefined ? -1 : words.end.findIndex((end) => end > time);
  const range = word === -1 ? null : toDocumentRange(page, { from: word, to: word + 1 });
  if (range === null || !scroller.checkVisibility()) return;
  const top = getOffset(range, scroller) - offset!;
  findView(scroller).scroller.scrollBy({ top, behavior: "instant" });
}

/** Start and end offset of each word in a paragraph's text. A word without text is at the end of the previous one. */
type Offsets = { start: Uint32Array; end: Uint32Array };

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
