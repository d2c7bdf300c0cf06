import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { prefersCalm } from "../../ui/glide";

/** Keys that scroll. */
const SCROLL_KEYS = /^(PageUp|PageDown)$/;
/** A played word below `BOTTOM` is scrolled to `WANTED`, both as shares of the height. */
const [BOTTOM, WANTED] = [0.8, 0.3];
/** Time after a press during which the text does not scroll, so that a second click hits the same word. */
const HOLD_MS = 600;

export type Follow = {
  isOn: Signal<boolean>;
  /** Scrolls if the range is out of view or at the bottom. */
  reveal(range: Range): void;
};

/** Scrolls with the played word until the user scrolls, and again once playback starts. */
export function useFollow(
  scroller: RefObject<HTMLElement | null>,
  isPlaying: ReadonlySignal<boolean> | undefined,
): Follow {
  const isOn = useSignal(true);
  const heldUntil = useRef(0);
  useEffect(() => {
    const element = scroller.current!;
    const stop = () => {
      isOn.value = false;
    };
    const onKey = ({ key }: KeyboardEvent) => SCROLL_KEYS.test(key) && stop();
    // A press on the scroll bar is to the right of the content.
    const onPress = (event: PointerEvent) => {
      heldUntil.current = Number.POSITIVE_INFINITY;
      if (event.target === element && event.offsetX >= element.clientWidth) stop();
    };
    const onRelease = () => {
      heldUntil.current = Math.min(heldUntil.current, performance.now() + HOLD_MS);
    };
    element.addEventListener("wheel", stop, { passive: true });
    element.addEventListener("touchmove", stop, { passive: true });
    element.addEventListener("keydown", onKey);
    element.addEventListener("pointerdown", onPress);
    window.addEventListener("pointerup", onRelease);
    window.addEventListener("pointercancel", onRelease);
    let wasPlaying = isPlaying?.peek();
    const unsubscribe = isPlaying?.subscribe((plays) => {
      if (plays && !wasPlaying) isOn.value = true;
      wasPlaying = plays;
    });
    return () => {
      element.removeEventListener("wheel", stop);
      element.removeEventListener("touchmove", stop);
      element.removeEventListener("keydown", onKey);
      element.removeEventListener("pointerdown", onPress);
      window.removeEventListener("pointerup", onRelease);
      window.removeEventListener("pointercancel", onRelease);
      unsubscribe?.();
    };
  }, [isPlaying]);
  const reveal = (range: Range) => {
    if (!scroller.current || performance.now() < heldUntil.current) return;
    scrollTo(scroller.current, range, isPlaying?.peek() ? BOTTOM : 1);
  };
  return { isOn, reveal };
}

/**
 * Scrolls a range into view, unless it already is in the upper part. `bottom` is the limit of that part as a share of
 * the height.
 */
export function scrollTo(element: HTMLElement, range: Range, bottom = 1): void {
  const rect = range.getBoundingClientRect();
  const box = element.getBoundingClientRect();
  const top = rect.top - box.top;
  if (top >= 0 && rect.bottom - box.top <= box.height * bottom) return;
  const distance = top - box.height * WANTED;
  const isFar = Math.abs(distance) > box.height;
  const isCalm = prefersCalm();
  element.scrollBy({ top: distance, behavior: isFar || isCalm ? "instant" : "smooth" });
}
