/** Animates changes of values. */
import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

/** Equals `--calm` of the tokens. */
const GLIDE_MS = 140;

/** Whether the user prefers reduced motion. */
export const prefersCalm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Calls `show` with increasing shares up to 1, once per frame. If the user prefers reduced motion or cannot see the
 * page, calls it only with 1, immediately. Returns a function that stops the animation.
 */
export function glide(show: (share: number) => void): () => void {
  if (document.hidden || prefersCalm()) {
    show(1);
    return () => {};
  }
  // Starts before the first frame: otherwise a value that changes with each frame would never move.
  const start = performance.now();
  let frame = 0;
  const step = (now: number) => {
    const share = Math.min(1, Math.max(0, now - start) / GLIDE_MS);
    if (share < 1) frame = requestAnimationFrame(step);
    show(1 - (1 - share) ** 3);
  };
  frame = requestAnimationFrame(step);
  return () => cancelAnimationFrame(frame);
}

/** Returns a number that glides to each new value. */
export function useGlide(value: number): ReadonlySignal<number> {
  const shown = useSignal(value);
  useLayoutEffect(() => {
    const from = shown.peek();
    if (from === value) return;
    return glide((share) => {
      shown.value = share === 1 ? value : from + (value - from) * share;
    });
  }, [value]);
  return shown;
}
