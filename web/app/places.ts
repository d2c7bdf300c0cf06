/** Positions in lists, which are restored when the user returns from a page that a row has opened. */
import { computed } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { workspace } from "./session";

const here = (): string => location.pathname + location.search;

/** Scroll position of each address, in pixels. */
const places = new Map<string, number>();
/** The address of the list from which each path was opened. */
const openers = new Map<string, string>();

// The same addresses show other lists in another workspace, and to another user.
computed(() => workspace.value?.id).subscribe(() => {
  places.clear();
  openers.clear();
});

/** Returns the address of a page, including its filters if the current page was opened from there. */
export function toOpener(path: string): string {
  const opener = openers.get(location.pathname);
  return opener?.split("?", 1)[0] === path ? opener : path;
}

/**
 * Scrolls a newly opened page to its top, or to its former position when the user returns from a page that one of its
 * rows opened.
 */
export function usePlaces(): void {
  const { path } = useLocation();
  const last = useRef({ path, address: here() });
  /** The path of the row that was clicked last. */
  const clicked = useRef<string | null>(null);
  const isBack = useRef(false);
  // Filters have changed.
  if (last.current.path === path) last.current.address = here();
  useLayoutEffect(() => {
    history.scrollRestoration = "manual";
    const onScroll = () => {
      if (here() === last.current.address) places.set(here(), scrollY);
    };
    const onClick = ({ target, button, ctrlKey, metaKey, shiftKey }: MouseEvent) => {
      // Others open a tab or a window.
      const isPlain = button === 0 && !ctrlKey && !metaKey && !shiftKey;
      const link = isPlain && target instanceof Element ? target.closest("a") : null;
      clicked.current = link?.matches("main :is(li, tr) a") ? link.pathname : null;
      isBack.current = link?.hasAttribute("data-back") ?? false;
    };
    addEventListener("scroll", onScroll, { passive: true });
    // Before the router opens the page.
    addEventListener("click", onClick, true);
    return () => {
      removeEventListener("scroll", onScroll);
      removeEventListener("click", onClick, true);
    };
  }, []);
  useLayoutEffect(() => {
    const before = last.current;
    const address = here();
    const isRow = clicked.current === path;
    last.current = { path, address };
    clicked.current = null;
    if (isRow) openers.set(path, before.address);
    const isOpener = !isRow && openers.get(before.path) === address;
    // A page that was opened from elsewhere also has a row in its list.
    const top = isOpener ? (places.get(address) ?? 0) : isBack.current ? 0 : undefined;
    isBack.current = false;
    scrollTo(0, 0);
    if (top === undefined) return;
    // Without its code, the list stays at its top.
    void import("./return-to-place").then((place) => place.returnToPlace(top, before.path, address)).catch(() => {});
  }, [path]);
}
