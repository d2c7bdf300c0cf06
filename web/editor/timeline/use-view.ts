import { type ReadonlySignal, type Signal, useSignal, useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { fitView, isInView, resizeView, reveal, type View } from "./view";

/** Returns the view. It follows the width of an element, and the playhead while that is in view. */
export function useView(
  element: RefObject<HTMLElement | null>,
  duration: number,
  playhead: ReadonlySignal<number>,
  isPlaying: ReadonlySignal<boolean> | undefined,
): Signal<View> {
  const view = useSignal(fitView(duration, 0));
  useEffect(() => {
    if (view.peek().duration !== duration) view.value = fitView(duration, view.peek().width);
  }, [duration]);
  useEffect(() => {
    const resize = (width: number) => {
      view.value = resizeView(view.peek(), Math.round(width));
    };
    // The observer also reports the first width, with the layout of the first frame. Measuring here would force another
    // layout.
    const observer = new ResizeObserver(([entry]) => entry && resize(entry.contentRect.width));
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);

  const before = useRef(0);
  useSignalEffect(() => {
    const time = playhead.value;
    const plays = isPlaying?.peek() ?? true;
    // If the user has scrolled away during playback, the view stays there.
    const follows = !plays || isInView(view.peek(), before.current);
    if (follows && view.peek().width > 0) view.value = reveal(view.peek(), time, plays ? 0.1 : 0.5);
    before.current = time;
  });
  return view;
}
