/** Polls data that has no live events. */
import { effect, untracked } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { connection } from "./connection";

/**
 * Calls `refresh` when the page becomes visible, when the server responds again, and at an interval while the page is
 * visible and the server responds.
 */
export function useRefresh(refresh: () => void, intervalMs: number): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    const run = () => {
      if (!document.hidden && connection.value === "online") latest.current();
    };
    const timer = setInterval(run, intervalMs);
    document.addEventListener("visibilitychange", run);
    addEventListener("focus", run);
    let wasOnline = true;
    const stopWatching = effect(() => {
      const isOnline = connection.value === "online";
      if (isOnline && !wasOnline) untracked(run);
      wasOnline = isOnline;
    });
    return () => {
      stopWatching();
      clearInterval(timer);
      document.removeEventListener("visibilitychange", run);
      removeEventListener("focus", run);
    };
  }, [intervalMs]);
}
