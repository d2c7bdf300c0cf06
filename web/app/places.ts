/** The places in lists: whoever comes back from what a row leads to finds the list where it was. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";

const here = (): string => location.pathname + location.search;

/** Where each address was scrolled to, in pixels. */
const places = new Map<string, number>();
/** The address from which each path was opened. */
const openers = new Map<string, string>();

/** Returns the address of a page, with its filters if what is shown was opened from there. */
export function toOpener(path: string): string {
  const opener = openers.get(location.pathname);
  return opener?.split("?", 1)[0] === path ? opener : path;
}

/** Scrolls a page that is opened to its top, and to its former place when somebody comes back from what was opened there. */
export function usePlaces(): void {
  const { path } = useLocation();
  const last = useRef({ path, address: here() });
  // Filters have changed.
  if (last.current.path === path) last.current.address = here();
  useLayoutEffect(() => {
    history.scrollRestoration = "manual";
    const onScroll = () => {
      if (here() === last.current.address) places.set(here(), scrollY);
    };
    addEventListener("scroll", onScroll, { passive: true });
    return () => removeEventListener("scroll", onScroll);
  }, []);
  useLayoutEffect(() => {
    const before = last.current;
    const address = here();
    last.current = { path, address };
    const isBack = openers.get(before.path) === address;
    if (!isBack && before.path !== path) openers.set(path, before.address);
    const top = isBack ? places.get(address) : undefined;
    scrollTo(0, 0);
    if (top !== undefined) void import("./return-to-place").then((place) => place.returnToPlace(top, before.path));
  }, [path]);
}
