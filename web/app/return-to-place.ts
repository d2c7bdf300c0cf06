/** Scrolls a list to where it was, which may need pages that have yet to be read. */

/** A list that has not grown for this long has no more rows, or the server does not respond. */
const GIVE_UP_MS = 4_000;
/** Frames without growth after which the rows at the place are in the page. */
const SETTLED_FRAMES = 60;
const OWN_ACTIONS = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

/**
 * Scrolls the list at an address to `top`, or to its end if it has become shorter, and moves the focus to the link to
 * `path`. Ends when the user does anything.
 */
export function returnToPlace(top: number, path: string, address: string): void {
  const ended = new AbortController();
  const options = { capture: true, passive: true, signal: ended.signal };
  for (const name of OWN_ACTIONS) addEventListener(name, () => ended.abort(), options);
  let [height, since, frames] = [0, performance.now(), 0];
  let link: HTMLElement | undefined;
  const step = () => {
    // Assistive technology scrolls without events of its own.
    const isScrolled = top === 0 && frames > 0 && scrollY > 0;
    if (ended.signal.aborted || isScrolled || location.pathname + location.search !== address) return ended.abort();
    const { scrollHeight } = document.documentElement;
    if (scrollHeight !== height) [height, since, frames] = [scrollHeight, performance.now(), 0];
    frames++;
    // At the end of the loaded rows, the list loads more.
    scrollTo(0, top);
    if (!link?.isConnected) link = focusLink(path);
    const isReached = height - innerHeight >= top;
    const isIdle = isReached && top > 0 ? frames > SETTLED_FRAMES : performance.now() - since > GIVE_UP_MS;
    if (!isIdle && !(isReached && link)) return void requestAnimationFrame(step);
    ended.abort();
    const box = link?.getBoundingClientRect();
    // The row has moved.
    if (box && (box.top < 0 || box.bottom > innerHeight)) link?.scrollIntoView({ block: "center" });
  };
  step();
}

/** Moves the focus to the link in a row, which it returns. */
function focusLink(path: string): HTMLElement | undefined {
  const selector = `main :is(li, tr) a:is([href="${CSS.escape(path)}"], [href^="${CSS.escape(path)}?"])`;
  const link = [...document.querySelectorAll<HTMLElement>(selector)].find(({ tabIndex }) => tabIndex >= 0);
  link?.focus({ preventScroll: true });
  return link;
}
