/** Whether a row has been near the view for a moment: the pictures of rows that scroll past are not loaded. */
import { useEffect, useState } from "preact/hooks";

const MARGIN = "300px";
const STAYS_MS = 200;
/** While the page scrolls, rows that stay for this long are not scrolled past. */
const SLOW_MS = 800;

const listeners = new WeakMap<Element, (isIn: boolean) => void>();
let observer: IntersectionObserver | null = null;

function observe(element: Element, listener: (isIn: boolean) => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) listeners.get(target)?.(isIntersecting);
    },
    { rootMargin: MARGIN },
  );
  listeners.set(element, listener);
  observer.observe(element);
  return () => {
    listeners.delete(element);
    observer?.unobserve(element);
  };
}

/** When the page scrolled last, in milliseconds since it was opened. */
let scrolledAt = Number.NEGATIVE_INFINITY;
const onScroll = () => {
  scrolledAt = performance.now();
};
addEventListener("scroll", onScroll, { capture: true, passive: true });

/**
 * Returns whether an element has been near the view for a moment. Stays true. `isReady`: it is true at once for an
 * element that comes while nothing scrolls.
 */
export function useSeen(element: { current: Element | null }, isReady: boolean): boolean {
  const [wasSeen, setWasSeen] = useState(() => isReady && performance.now() - scrolledAt > STAYS_MS);
  useEffect(() => {
    if (wasSeen || element.current === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = (waited: number): void => {
      timer = setTimeout(() => {
        const stays = waited + STAYS_MS;
        if (stays >= SLOW_MS || performance.now() - scrolledAt > STAYS_MS) setWasSeen(true);
        else wait(stays);
      }, STAYS_MS);
    };
    const stop = observe(element.current, (isIn) => {
      clearTimeout(timer);
      if (isIn) wait(0);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [wasSeen]);
  return wasSeen;
}
