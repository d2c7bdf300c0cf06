/**
 * Decides which chunks of a long list are in the page, and keeps the place in the list when the width of the window
 * changes.
 */

/** Distance from the view in which chunks are in the page. */
const MARGIN_PIXELS = 600;
/** Chunks that are rendered before heights are known. The first frame also has what else fills the view. */
export const FIRST_CHUNKS = [0, 1, 2, 3];
/** Before a chunk has been measured. */
const ESTIMATED_HEIGHT = 250;
/** A frame has time to add one chunk and to remove one, unless more than this wait. */
const MAX_WAITING = 4;
/** Maximum number of chunks outside of the view that a frame adds. */
const MAX_ADDED = 2;

/**
 * Decides which chunks are in the page. `top` is the element above the first one; `onView` gets the numbers of the
 * first and last one near the view.
 */
export function createChunkWatch(
  top: { current: HTMLElement | null },
  show: (numbers: readonly number[]) => void,
  onView: (first: number, last: number) => void,
) {
  const elements = new Map<number, Element>();
  const numbers = new Map<Element, number>();
  /** Heights by chunk number, from when the chunk was last in the page. */
  const heights = new Map<number, number>();
  /** Estimated height of chunks that have not been measured at this width. */
  let estimate = ESTIMATED_HEIGHT;
  const shown = new Set(FIRST_CHUNKS);
  let near: readonly number[] = [];
  let count = 0;
  let size = 0;
  let width = 0;
  let frame = 0;
  /**
   * The chunk at the top of the window: its first row, and its distance from there in pixels. Null if the list starts
   * below.
   */
  let place: { row: number; top: number } | null = null;
  /** Whether gaps have yet to be rendered with new heights. */
  let isMoving = false;

  const heightOf = (number: number): number => heights.get(number) ?? estimate;
  const addHeights = (from: number, to: number): number => {
    let sum = 0;
    for (let number = from; number < to; number++) sum += heightOf(number);
    return sum;
  };
  const isFocused = (number: number) => elements.get(number)?.contains(document.activeElement) === true;
  const listComing = () => near.filter((number) => !shown.has(number));
  /** A menu or dialog of a row must not go. */
  const listGoing = () => [...shown].filter((number) => !near.includes(number) && !isFocused(number));

  const showAll = () => show([...shown].sort((a, b) => a - b));
  const renderGaps = () => {
    isMoving = true;
    showAll();
  };
  /** Measures the chunks again that are in the page: all others have the heights of another width or number of rows. */
  const measure = () => {
    width = top.current!.getBoundingClientRect().width;
    heights.clear();
    for (const [number, element] of elements) heights.set(number, element.getBoundingClientRect().height);
    // The last chunk may have fewer rows.
    const whole = [0, ...heights.keys()].find((number) => heights.has(number) && number < Math.max(count - 1, 1));
    if (whole !== undefined) estimate = heights.get(whole)!;
    renderGaps();
  };

  const changeNext = () => {
    const coming = listComing();
    const going = listGoing();
    const countDue = (due: number[]) => Math.ceil(due.length / MAX_WAITING);
    for (const number of coming.slice(0, Math.min(MAX_ADDED, countDue(coming)))) shown.add(number);
    // Without a maximum: fast scrolling adds any number of chunks, which would collect.
    for (const number of going.slice(0, countDue(going))) shown.delete(number);
    showAll();
    frame = coming.length > 1 || going.length > 1 ? requestAnimationFrame(changeNext) : 0;
  };
  const update = () => {
    if (top.current === null || isMoving) return;
    const first = top.current.getBoundingClientRect();
    if (first.width !== width) return measure();
    const before = `${near[0]} ${near.at(-1)}`;
    const found: number[] = [];
    let hasNew = false;
    let end = first.top;
    place = null;
    for (let number = 0; number < count && end < innerHeight + MARGIN_PIXELS; number++) {
      const start = end;
      end += heightOf(number);
      if (start <= 0 && end > 0) place = { row: number * size, top: start };
      if (end < -MARGIN_PIXELS) continue;
      found.push(number);
      // After a jump, the chunks in view are rendered immediately.
      if (end < 0 || start > innerHeight || shown.has(number)) continue;
      shown.add(number);
      hasNew = true;
    }
    near = found;
    if (hasNew) showAll();
    if (frame === 0 && listComing().length + listGoing().length > 0) frame = requestAnimationFrame(changeNext);
    const [nearest] = near;
    if (nearest !== undefined && before !== `${nearest} ${near.at(-1)}`) onView(nearest, near.at(-1)!);
  };
  const sizes = new ResizeObserver((changes) => {
    for (const { target, borderBoxSize } of changes) {
      const number = numbers.get(target);
      if (number !== undefined) heights.set(number, borderBoxSize[0]!.blockSize);
    }
    update();
    const first = heights.get(0) ?? estimate;
    if (Math.abs(first - estimate) < 1) return;
    estimate = first;
    renderGaps();
  });
  return {
    start: () => {
      // A scrolling element around the list does not report to the window otherwise.
      addEventListener("scroll", update, { capture: true, passive: true });
      addEventListener("resize", update);
      return () => {
        removeEventListener("scroll", update, { capture: true });
        removeEventListener("resize", update);
        cancelAnimationFrame(frame);
        sizes.disconnect();
      };
    },
    /**
     * Keeps the visible rows in place when heights have changed. Call it after each render. `rows`: number of rows of a
     * chunk.
     */
    afterRender: (chunks: number, rows: number) => {
      const isSame = chunks === count;
      count = chunks;
      if (rows !== size) {
        size = rows;
        return measure();
      }
      if (isSame && !isMoving) return;
      if (isMoving && place !== null) {
        const start = top.current!.getBoundingClientRect().top + addHeights(0, Math.floor(place.row / size));
        scrollBy(0, start - place.top);
      }
      isMoving = false;
      update();
    },
    add: (element: Element, number: number) => {
      elements.set(number, element);
      numbers.set(element, number);
      sizes.observe(element);
      return () => {
        if (elements.get(number) === element) elements.delete(number);
        numbers.delete(element);
        sizes.unobserve(element);
      };
    },
    /** Returns the element that a selector finds in the list. */
    find: (selector: string): Element | null => top.current?.parentElement?.querySelector(selector) ?? null,
    /**
     * Returns the height of the chunks from a number up to another one: its height when it was last in the page,
     * otherwise an estimate.
     */
    addHeights,
  };
}

export type ChunkWatch = ReturnType<typeof createChunkWatch>;
