/** Scrolls a list to where it was, which may need pages that have yet to be read. */

/** A list that has not grown for this long has no more rows, or the server does not respond. */
const GIVE_UP_MS = 4_000;
const OWN_ACTIONS = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

/** Scrolls to `top`, and moves the focus to the link to `path`. Ends when the user does anything. */
export function returnToPlace(top: number, path: string): void {
  const { pathname } = location;
  const ended = new AbortController();
  const options = { capture: true, passive: true, signal: ended.signal };
  for (const name of OWN_ACTIONS) addEventListener(name, () => ended.abort(), options);
  let [height, since] = [0, performance.now()];
  const step = () => {
    if (ended.signal.aborted || location.pathname !== pathname) return ended.abort();
    const { scrollHeight } = document.documentElement;
    if (scrollHeight !== height) [height, since] = [scrollHeight, performance.now()];
    // At the end of what has been read, the list reads on.
    scrollTo(0, top);
    if (height - innerHeight >= top && focusLink(path)) return ended.abort();
    if (performance.now() - since < GIVE_UP_MS) requestAnimationFrame(step);
    else ended.abort();
  };
  step();
}

/** Moves the focus to the link in a row, and into view if the row has moved. Returns false without one. */
function focusLink(path: string): boolean {
  const selector = `main :is(li, tr) a:is([href="${CSS.escape(path)}"], [href^="${CSS.escape(path)}?"])`;
  const link = [...document.querySelectorAll<HTMLElement>(selector)].find(({ tabIndex }) => tabIndex >= 0);
  if (link === undefined) return false;
  link.focus({ preventScroll: true });
  const { top, bottom } = link.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) link.scrollIntoView({ block: "center" });
  return true;
}
