/** Tells elements that they have come into view. All share one observer, because a list may have thousands. */
import { useEffect, useState } from "preact/hooks";

const MARGIN = "200px";
/** What scrolls past is not loaded. */
const STAYS_MS = 120;

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

/** Returns whether an element has been in view for a moment. Stays true. */
export function useInView(element: { current: Element | null }): boolean {
  const [wasSeen, setWasSeen] = useState(false);
  useEffect(() => {
    if (wasSeen || element.current === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = observe(element.current, (isIn) => {
      clearTimeout(timer);
      if (isIn) timer = setTimeout(() => setWasSeen(true), STAYS_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [wasSeen]);
  return wasSeen;
}
