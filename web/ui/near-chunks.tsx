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

/** Distance from the view in which chunks are in the page. */
const MARGIN = "800px";
/** Chunks of the first frame, before distances are known. */
const FIRST_CHUNKS = 4;

export function NearChunks<Row>({ rows, size, row, as, class: name, count, onView }: NearChunksProps<Row>) {
  const latest = useRef({ size, onView });
  latest.current = { size, onView };
  const watch = useMemo(
    () =>
      createWatch((first, last) =>
        latest.current.onView?.(first * latest.current.size, (last + 1) * latest.current.size - 1),
      ),
    [],
  );
  useEffect(() => watch.stop, [watch]);
  useKeptFocus(watch);
  return useChunks(useHeld(rows, watch), size).map((chunk, number) => (
    // Chunks are keyed by number: a new row at the top moves one row per chunk and no chunk.
    <Chunk
      key={number}
      rows={chunk}
      row={row}
      as={as}
      name={name}
      number={number}
      start={number * size}
      count={count}
      watch={watch}
    />
  ));
}

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
  const [isNear, setIsNear] = useState(number < FIRST_CHUNKS);
  useLayoutEffect(() => watch.add(element.current!, { number, setIsNear }), [number, watch]);
  // Not as properties of the rows: each would be rendered again for one that is added above.
  useLayoutEffect(() => {
    for (const [index, child] of [...element.current!.children].entries()) {
      const place = start + index + 1;
      // The first row of a table has the titles.
      if (Element === "tbody") child.ariaRowIndex = String(place + 1);
      else Object.assign(child, { ariaPosInSet: String(place), ariaSetSize: String(count) });
    }
  }, [rows, isNear, start, count]);
  return useMemo(
    () => (
      <Element
        ref={element as never}
        class={name}
        role={Element === "tbody" ? "rowgroup" : undefined}
        aria-hidden={isNear ? undefined : true}
        style={{ height: isNear ? "" : watch.heightOf(number) }}
      >
        {isNear && rows.map(row)}
      </Element>
    ),
    [rows, row, isNear],
  );
}

type Entry = { number: number; setIsNear(isNear: boolean): void };
type Watch = ReturnType<typeof createWatch>;

/** Tells chunks whether they are near the view. `onView` gets the numbers of the first and last one that are. */
function createWatch(onView: (first: number, last: number) => void) {
  const entries = new Map<Element, Entry>();
  const near = new Set<Element>();
  /** By number, as it was last in the page. */
  const heights = new Map<number, number>();
  let width = 0;
  /** Chunks to change, one in a frame. */
  const due = new Map<Element, boolean>();
  let frame = 0;

  const apply = (element: Element, isNear: boolean) => {
    // A menu or dialog of a row must not go.
    if (!isNear && element.contains(document.activeElement)) return;
    entries.get(element)?.setIsNear(isNear);
  };
  const changeNext = () => {
    frame = 0;
    const [next] = due;
    if (next === undefined) return;
    due.delete(next[0]);
    apply(...next);
    if (due.size > 0) frame = requestAnimationFrame(changeNext);
  };
  const observer = new IntersectionObserver(
    (changes) => {
      for (const { target, isIntersecting, boundingClientRect: box } of changes) {
        near[isIntersecting ? "add" : "delete"](target);
        due.delete(target);
        // After a jump, what is in view comes at once.
        if (isIntersecting && box.bottom > 0 && box.top < innerHeight) apply(target, true);
        else due.set(target, isIntersecting);
      }
      if (due.size > 0 && frame === 0) frame = requestAnimationFrame(changeNext);
      const numbers = [...near].flatMap((element) => entries.get(element)?.number ?? []);
      if (numbers.length > 0) onView(Math.min(...numbers), Math.max(...numbers));
    },
    { rootMargin: `${MARGIN} 0px` },
  );
  const sizes = new ResizeObserver((changes) => {
    for (const { target, contentRect, borderBoxSize } of changes) {
      const number = entries.get(target)?.number;
      if (number === undefined || target.childElementCount === 0) continue;
      if (contentRect.width !== width) heights.clear();
      width = contentRect.width;
      const height = borderBoxSize[0]!.blockSize;
      heights.set(number, height);
      if (number === 0) target.parentElement!.style.setProperty("--chunk-height", `${height}px`);
    }
  });
  return {
    add: (element: Element, entry: Entry) => {
      entries.set(element, entry);
      observer.observe(element);
      sizes.observe(element);
      return () => {
        entries.delete(element);
        near.delete(element);
        due.delete(element);
        observer.unobserve(element);
        sizes.unobserve(element);
      };
    },
    /** Returns what a selector finds in the chunks. */
    find: (selector: string): Element | null => {
      for (const element of entries.keys()) {
        const found = element.querySelector(selector);
        if (found !== null) return found;
      }
      return null;
    },
    /** The height of a chunk that is not in the page: its last one, or that of the first chunk. */
    heightOf: (number: number): string =>
      heights.has(number) ? `${heights.get(number)}px` : `var(--chunk-height, ${ESTIMATED_HEIGHT}px)`,
    stop: () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      sizes.disconnect();
    },
  };
}

/** Before the first chunk has been measured. */
const ESTIMATED_HEIGHT = 500;
