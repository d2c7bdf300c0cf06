import { type ReadonlySignal, type Signal, useSignal, useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { fitView, isInView, openView, resizeView, reveal, toX, type View, warpView } from "./view";
import { getWarpLength, type Warp } from "./warp";

/** Returns the view and the height of an element. The view follows its width, and the playhead while that is in view. */
export function useView(
  element: RefObject<HTMLElement | null>,
  duration: number,
  playhead: ReadonlySignal<number>,
  isPlaying: ReadonlySignal<boolean> | undefined,
  warp: Warp | null,
): { view: Signal<View>; height: ReadonlySignal<number> } {
  const height = useSignal(0);
  const view = useSignal(fitView(duration, 0));
  useEffect(() => {
    const current = view.peek();
    if (current.warp === warp && (warp || current.duration === duration)) return;
    const x = isInView(current, playhead.peek()) ? toX(current, playhead.peek()) : current.width / 2;
    view.value = warpView(current, warp, warp === null ? duration : getWarpLength(warp), x);
  }, [duration, warp]);
  useEffect(() => {
    const resize = (width: number) => {
      const isFirst = view.peek().width === 0;
      const resized = resizeView(view.peek(), Math.round(width));
      view.value = isFirst && width > 0 ? reveal(openView(resized), playhead.peek(), 0.5) : resized;
    };
    // The observer also reports the first width, with the layout of the first frame. Measuring here would force another
    // layout.
    const observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      height.value = Math.round(entry.contentRect.height);
      resize(entry.contentRect.width);
    });
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
  return { view, height };
}
