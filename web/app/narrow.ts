/** Media queries that components need beside their style sheets. */
import { type ReadonlySignal, signal } from "@preact/signals";

/** The windows in which `@media (--narrow)` of style sheets applies. */
export const narrow = matchMedia("(max-width: 43.74rem)");
/** The windows in which `@media (--compact)` of style sheets applies. */
export const compact = matchMedia("(max-width: 68.74rem)");
/** Devices that are operated with fingers. Most have no keyboard. */
export const touch = matchMedia("(pointer: coarse)");

/** Returns whether a media query matches, as a signal. It is watched until the page is closed. */
export function watchMedia(query: MediaQueryList): ReadonlySignal<boolean> {
  const isMatch = signal(query.matches);
  query.addEventListener("change", () => {
    isMatch.value = query.matches;
  });
  return isMatch;
}
