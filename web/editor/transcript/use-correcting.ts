import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import type { WordRange } from "../model/words";
import { type Page, toDocumentRange } from "./places";

/** Space in pixels that the correction field needs to the right of its left edge. */
const FIELD_WIDTH = 330;

type CorrectingOptions = {
  page: RefObject<Page | null>;
  scroller: RefObject<HTMLElement | null>;
  list: RefObject<HTMLElement | null>;
  /** Aligned with the top left of the text. */
  layer: RefObject<HTMLElement | null>;
};

/** The words that are being corrected, and the position of the field in pixels. */
type Place = { range: WordRange; left: number; top: number };

type Correcting = {
  place: ReadonlySignal<Place | null>;
  isOpen: ReadonlySignal<boolean>;
  /** Opens the field below the words. */
  open(range: WordRange): void;
  /** Closes the field and returns the focus to the text. */
  close(): void;
  /** Closes the field and leaves the focus where it is. */
  hide(): void;
};

export function useCorrecting({ page, scroller, list, layer }: CorrectingOptions): Correcting {
  const place = useSignal<Place | null>(null);
  const isOpen = useComputed(() => place.value !== null);
  const open = (range: WordRange) => {
    const box = page.current && toDocumentRange(page.current, range)?.getBoundingClientRect();
    const origin = layer.current?.getBoundingClientRect();
    if (!box || !origin || !scroller.current) return;
    const left = Math.min(box.left - origin.left, Math.max(0, scroller.current.clientWidth - FIELD_WIDTH));
    place.value = { range, left, top: box.bottom - origin.top };
  };
  const hide = () => {
    place.value = null;
  };
  const close = () => {
    hide();
    list.current?.focus({ preventScroll: true });
  };
  return { place, isOpen, open, close, hide };
}
