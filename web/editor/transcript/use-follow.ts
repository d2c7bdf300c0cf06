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
  /** Goes to the played word, and scrolls with it again. */
  resume(): void;
};

/** `scroller` is the text's own, or the page in windows in which the page scrolls. */
type View = { top: number; bottom: number; scroller: Element };

/** Returns the part of the window in which a text is read, in pixels from the top of the window. */
export function findView(text: Element): View {
  const page = document.documentElement;
  if (getComputedStyle(text).overflowY !== "visible") {
    const { top, bottom } = text.getBoundingClientRect();
    return { top, bottom, scroller: text };
  }
  const { scrollPaddingTop, scrollPaddingBottom } = getComputedStyle(page);
  const [top, bottom] = [scrollPaddingTop, scrollPaddingBottom].map((size) => Number.parseFloat(size) || 0);
  return { top: top!, bottom: innerHeight - bottom!, scroller: page };
}

/** Whether scrolling the page would take the timeline away, which somebody may be using. */
function showsTimeline({ top, scroller }: View): boolean {
  const timeline = scroller.querySelector(".timeline-panel");
  if (scroller !== document.documentElement || timeline === null) return false;
  return getComputedStyle(timeline).position !== "sticky" && timeline.getBoundingClientRect().bottom > top;
}

/** What moves or scrolls itself at a wheel or a finger. */
const OWN_MOVES = "canvas, input, dialog, .review-card, .tray";

/** Returns whether a wheel or a finger may scroll the text. With Ctrl, a wheel zooms. */
const mayScroll = (event: Event): boolean =>
  !event.defaultPrevented &&
  !(event instanceof WheelEvent && event.ctrlKey) &&
  event.target instanceof Element &&
  event.target.closest(OWN_MOVES) === null;

/** Scrolls with the played word until the user scrolls, and again once playback starts. */
export function useFollow(
  scroller: RefObject<HTMLElement | null>,
  isPlaying: ReadonlySignal<boolean> | undefined,
): Follow {
  const isOn = useSignal(true);
  const heldUntil = useRef(0);
  const isOpening = useRef(true);
  const stop = () => {
    isOn.value = false;
  };
  useEffect(() => {
    const element = scroller.current!;
    const isInText = ({ target }: Event) => target instanceof Node && element.contains(target);
    let isPage = false;
    const findScroller = () => {
      isPage = findView(element).scroller !== element;
    };
    findScroller();
    const onScroll = (event: Event) => {
      if (isOn.peek() && (isInText(event) || (isPage && element.checkVisibility())) && mayScroll(event)) stop();
    };
    const onKey = ({ key }: KeyboardEvent) => SCROLL_KEYS.test(key) && stop();
    const onPress = (event: PointerEvent) => {
      if (isInText(event)) heldUntil.current = Number.POSITIVE_INFINITY;
      // A press on the scroll bar is to the right of the content.
      const { target, offsetX } = event;
      if (target === (isPage ? document.documentElement : element) && offsetX >= (target as Element).clientWidth)
        stop();
    };
    const onRelease = () => {
      heldUntil.current = Math.min(heldUntil.current, performance.now() + HOLD_MS);
    };
    window.addEventListener("wheel", onScroll, { passive: true });
    window.addEventListener("touchmove", onScroll, { passive: true });
    window.addEventListener("resize", findScroller);
    element.addEventListener("keydown", onKey);
    window.addEventListener("pointerdown", onPress);
    window.addEventListener("pointerup", onRelease);
    window.addEventListener("pointercancel", onRelease);
    let wasPlaying = isPlaying?.peek();
    const unsubscribe = isPlaying?.subscribe((plays) => {
      if (plays && !wasPlaying) isOn.value = true;
      wasPlaying = plays;
    });
    return () => {
      window.removeEventListener("wheel", onScroll);
      window.removeEventListener("touchmove", onScroll);
      window.removeEventListener("resize", findScroller);
      element.removeEventListener("keydown", onKey);
      window.removeEventListener("pointerdown", onPress);
      window.removeEventListener("pointerup", onRelease);
      window.removeEventListener("pointercancel", onRelease);
      unsubscribe?.();
    };
  }, [isPlaying]);
  const reveal = (range: Range) => {
    const element = scroller.current;
    const isFirst = isOpening.current;
    isOpening.current = false;
    if (!element?.checkVisibility() || performance.now() < heldUntil.current) return;
    const isPlayed = isPlaying?.peek() === true;
    const view = findView(element);
    // A page opens at its top, although the cut may start at a later word.
    if (isFirst && !isPlayed && view.scroller !== element) return;
    if (showsTimeline(view)) {
      if (!isPlayed) return;
      if (isFar(view, range.getBoundingClientRect().top - view.bottom)) return stop();
    }
    scrollTo(element, range, isPlayed ? BOTTOM : 1);
  };
  const resume = () => {
    const element = scroller.current!;
    if (showsTimeline(findView(element))) element.scrollIntoView({ behavior: "instant" });
    isOn.value = true;
  };
  return { isOn, reveal, resume };
}

const isFar = ({ top, bottom }: View, distance: number): boolean => Math.abs(distance) > bottom - top;

/**
 * Scrolls a range into view, unless it already is in the upper part. `bottom` is the limit of that part as a share of
 * the height.
 */
export function scrollTo(element: HTMLElement, range: Range, bottom = 1): void {
  // The page stays where it is while another tab is open.
  if (!element.checkVisibility()) return;
  const rect = range.getBoundingClientRect();
  const view = findView(element);
  const height = view.bottom - view.top;
  const top = rect.top - view.top;
  if (top >= 0 && rect.bottom - view.top <= height * bottom) return;
  const distance = top - height * WANTED;
  const isInstant = isFar(view, distance) || prefersCalm();
  view.scroller.scrollBy({ top: distance, behavior: isInstant ? "instant" : "smooth" });
}
