/** Rows in chunks, of which only those near the view are in the page: a list of thousands scrolls like one of ten. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useChunks } from "./row-list";

type NearChunksProps<Row> = {
  rows: Row[];
  /** Number of rows of a chunk. Chunks with as many rows should have the same height. */
  size: number;
  /** Renders a row with a key. Must stay the same function between renders: a row is rendered again only when it changes. */
  row(row: Row): ComponentChildren;
  as: "ul" | "tbody";
  class?: string;
  /** Number of all rows of the list, also of those that have not been read; -1 if it is unknown. */
  count: number;
  /** Called with the range of rows that are near the view, when it changes. */
  onView?: ((first: number, last: number) => void) | undefined;
};

export function NearChunks<Row>({ rows, size, row, as, class: name, count, onView }: NearChunksProps<Row>) {
  const latest = useRef({ size, onView });
  latest.current = { size, onView };
  const [shown, setShown] = useState<readonly number[]>(FIRST_CHUNKS);
  const start = useRef<HTMLElement>(null);
  const watch = useMemo(
    () =>
      createWatch(start, setShown, (first, last) =>
        latest.current.onView?.(first * latest.current.size, (last + 1) * latest.current.size - 1),
      ),
    [],
  );
  useLayoutEffect(watch.start, [watch]);
  useKeptFocus(watch);
  const chunks = useChunks(useHeld(rows, watch), size);
  useLayoutEffect(() => watch.setCount(chunks.length), [watch, chunks.length]);
  const parts: ComponentChildren[] = [];
  let end = 0;
  // One element in place of all chunks between two: hundreds of them would cost time in each frame.
  const skipTo = (number: number) => {
    const isFirst = end === 0;
    const key = isFirst ? "above" : number === chunks.length ? "below" : `from ${end}`;
    if (number > end || isFirst)
      parts.push(<Gap key={key} as={as} place={isFirst ? start : null} height={watch.addHeights(end, number)} />);
    end = number;
  };
  for (const number of shown.filter((one) => one < chunks.length)) {
    skipTo(number);
    // Chunks are keyed by number: a new row at the top moves one row per chunk and no chunk.
    const place = { number, start: number * size, count };
    parts.push(<Chunk key={number} rows={chunks[number]!} row={row} as={as} name={name} watch={watch} {...place} />);
    end = number + 1;
  }
  skipTo(chunks.length);
  return <>{parts}</>;
}

type GapProps = { as: "ul" | "tbody"; place: { current: HTMLElement | null } | null; height: number };

const Gap = ({ as, place, height }: GapProps) => {
  const Element = as === "tbody" ? "tbody" : "div";
  return <Element ref={place as never} role="presentation" aria-hidden="true" style={{ height: `${height}px` }} />;
};

/** How often to look whether a menu or dialog is still open. */
const HELD_MS = 100;

/** Returns the rows as they were, while a menu or dialog of one is open: it would go with a row that moves to another chunk. */
function useHeld<Row>(rows: Row[], watch: Watch): Row[] {
  const shown = useRef(rows);
  const [, setChecks] = useState(0);
  const isBusy = () => watch.find("[role=menu], dialog") !== null;
  const isHeld = shown.current !== rows && isBusy();
  if (!isHeld) shown.current = rows;
  useEffect(() => {
    if (!isHeld) return;
    const timer = setInterval(() => !isBusy() && setChecks((count) => count + 1), HELD_MS);
    return () => clearInterval(timer);
  }, [isHeld]);
  return shown.current;
}

const CONTROLS = "a, button, input";

/** Gives the focus back to a control of a row, which has `data-id`, when the row moves to another chunk. */
function useKeptFocus(watch: Watch): void {
  const { activeElement: focused } = document;
  const row = focused?.closest("li, tr");
  const id = (row?.closest("[data-id]") ?? row?.querySelector("[data-id]"))?.getAttribute("data-id");
  const place = focused && row ? [...row.querySelectorAll(CONTROLS)].indexOf(focused) : -1;
  useLayoutEffect(() => {
    if (id == null || place < 0 || focused!.isConnected) return;
    const moved = watch.find(`[data-id="${CSS.escape(id)}"]`)?.closest("li, tr");
    moved?.querySelectorAll<HTMLElement>(CONTROLS)[place]?.focus({ preventScroll: true });
  });
}

type ChunkProps<Row> = Pick<NearChunksProps<Row>, "rows" | "row" | "as" | "count"> & {
  name: string | undefined;
  number: number;
  /** Number of rows above. */
  start: number;
  watch: Watch;
};

function Chunk<Row>({ rows, row, as: Element, name, number, start, count, watch }: ChunkProps<Row>) {
  const element = useRef<HTMLElement>(null);
  useLayoutEffect(() => watch.add(element.current!, number), [number, watch]);
  // Not as properties of the rows: each would be rendered again for one that is added above.
  useLayoutEffect(() => {
    for (const [index, child] of [...element.current!.children].entries()) {
      const place = start + index + 1;
      // The first row of a table has the titles.
      if (Element === "tbody") child.ariaRowIndex = String(place + 1);
      else Object.assign(child, { ariaPosInSet: String(place), ariaSetSize: String(count) });
    }
  }, [rows, start, count]);
  return useMemo(
    () => (
      <Element ref={element as never} class={name} role={Element === "tbody" ? "rowgroup" : undefined}>
        {rows.map(row)}
      </Element>
    ),
    [rows, row],
  );
}

/** Distance from the view in which chunks are in the page. */
const MARGIN_PIXELS = 800;
/** Chunks of the first frame, before heights are known. */
const FIRST_CHUNKS = [0, 1, 2, 3, 4, 5, 6, 7];
/** Before the first chunk has been measured. */
const ESTIMATED_HEIGHT = 250;
/** A frame has time to change one chunk, unless more than this wait. */
const MAX_WAITING = 4;

type Watch = ReturnType<typeof createWatch>;

/** Decides which chunks are in the page. `top` is the element above the first one; `onView` gets the numbers of the first and last one near the view. */
function createWatch(
  top: { current: HTMLElement | null },
  show: (numbers: readonly number[]) => void,
  onView: (first: number, last: number) => void,
) {
  const elements = new Map<number, Element>();
  const numbers = new Map<Element, number>();
  /** By number, as it was last in the page. */
  const heights = new Map<number, number>();
  const shown = new Set(FIRST_CHUNKS);
  let near: readonly number[] = [];
  let count = 0;
  let width = 0;
  let frame = 0;

  const heightOf = (number: number): number => heights.get(number) ?? heights.get(0) ?? ESTIMATED_HEIGHT;
  const isFocused = (number: number) => elements.get(number)?.contains(document.activeElement) === true;
  const listComing = () => near.filter((number) => !shown.has(number));
  /** A menu or dialog of a row must not go. */
  const listGoing = () => [...shown].filter((number) => !near.includes(number) && !isFocused(number));

  const changeNext = () => {
    const due = [...listComing(), ...listGoing()];
    for (const number of due.slice(0, Math.ceil(due.length / MAX_WAITING)))
      if (!shown.delete(number)) shown.add(number);
    show([...shown].sort((a, b) => a - b));
    frame = due.length > 1 ? requestAnimationFrame(changeNext) : 0;
  };
  const update = () => {
    if (top.current === null) return;
    const before = `${near[0]} ${near.at(-1)}`;
    const found: number[] = [];
    let hasNew = false;
    let end = top.current.getBoundingClientRect().top;
    for (let number = 0; number < count && end < innerHeight + MARGIN_PIXELS; number++) {
      const start = end;
      end += heightOf(number);
      if (end < -MARGIN_PIXELS) continue;
      found.push(number);
      // After a jump, what is in view comes at once.
      if (end < 0 || start > innerHeight || shown.has(number)) continue;
      shown.add(number);
      hasNew = true;
    }
    near = found;
    if (hasNew) show([...shown].sort((a, b) => a - b));
    if (frame === 0 && listComing().length + listGoing().length > 0) frame = requestAnimationFrame(changeNext);
    const first = near[0];
    if (first !== undefined && before !== `${first} ${near.at(-1)}`) onView(first, near.at(-1)!);
  };
  const sizes = new ResizeObserver((changes) => {
    for (const { target, contentRect, borderBoxSize } of changes) {
      const number = numbers.get(target);
      if (number === undefined) continue;
      if (contentRect.width !== width) heights.clear();
      width = contentRect.width;
      heights.set(number, borderBoxSize[0]!.blockSize);
    }
    update();
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
    setCount: (number: number) => {
      count = number;
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
    /** Returns what a selector finds in the list. */
    find: (selector: string): Element | null => top.current?.parentElement?.querySelector(selector) ?? null,
    /** Returns the height of the chunks from a number up to another one: that of each when it was last in the page, else that of the first one. */
    addHeights: (from: number, to: number): number => {
      let sum = 0;
      for (let number = from; number < to; number++) sum += heightOf(number);
      return sum;
    },
  };
}
