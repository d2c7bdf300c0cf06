import { useEffect, useState } from "preact/hooks";

/** Delay that lets the first screen become complete and responsive before the rest is rendered. */
const SETTLE_MS = 150;

/**
 * Returns how many of `count` items to render: `first` in the first frame and, after a delay, `more` with each frame.
 */
export function useGrowing(count: number, first: number, more: number): number {
  const [shown, setShown] = useState(first);
  useEffect(() => {
    if (shown >= count) return;
    let frame = 0;
    const grow = () => {
      frame = requestAnimationFrame(() => setShown(shown + more));
    };
    const timer = shown === first ? setTimeout(grow, SETTLE_MS) : undefined;
    if (timer === undefined) grow();
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    };
  }, [shown, count]);
  return Math.min(shown, count);
}
