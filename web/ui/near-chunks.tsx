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
  /** Called with the range of rows that are near the view, when it changes. */
  onView?: ((first: number, last: number) => void) | undefined;
};

/** Distance from the view in which chunks are in the page. */
const MARGIN = "800px";
/** Chunks of the first frame, before distances are known. */
const FIRST_CHUNKS = 4;

export function NearChunks<Row>({ rows, size, row, as, class: name, onView }: NearChunksProps<Row>) {
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
  return useChunks(rows, size).map((chunk, number) => (
    // Chunks are keyed by number: a new row at the top moves one row per chunk and no chunk.
    <Chunk key={number} rows={chunk} row={row} as={as} name={name} number={number} watch={watch} />
  ));
}

type ChunkProps<Row> = Pick<NearChunksProps<Row>, "rows" | "row" | "as"> & {
  name: string | undefined;
  number: number;
  watch: Watch;
};

function Chunk<Row>({ rows, row, as: Element, name, number, watch }: ChunkProps<Row>) {
  const element = useRef<HTMLElement>(null);
  const [isNear, setIsNear] = useState(number < FIRST_CHUNKS);
  useLayoutEffect(() => watch.add(element.current!, { number, setIsNear }), [number, watch]);
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
      heights.set(number, borderBoxSize[0]!.blockSize);
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
    /** The height of a chunk that is not in the page: its last one, or that of the first chunk. */
    heightOf: (number: number): string => `${heights.get(number) ?? heights.get(0) ?? ESTIMATED_HEIGHT}px`,
    stop: () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      sizes.disconnect();
    },
  };
}

/** Before the first chunk has been measured. */
const ESTIMATED_HEIGHT = 500;
