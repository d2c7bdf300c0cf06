/** Rows in chunks. Only chunks near the view are in the page, so that a list of thousands scrolls like one of ten. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type ChunkWatch, createChunkWatch, FIRST_CHUNKS } from "./chunk-watch";
import { useChunks } from "./row-list";

type NearChunksProps<Row> = {
  rows: Row[];
  /** Number of rows of a chunk. Chunks with as many rows should have the same height. */
  size: number;
  /**
   * Renders a row with a key. Must stay the same function between renders: a row is rendered again only when it
   * changes.
   */
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
      createChunkWatch(start, setShown, (first, last) =>
        latest.current.onView?.(first * latest.current.size, (last + 1) * latest.current.size - 1),
      ),
    [],
  );
  useLayoutEffect(watch.start, [watch]);
  useKeptFocus(watch);
  const chunks = useChunks(useHeld(rows, watch), size);
  useLayoutEffect(() => watch.afterRender(chunks.length, size));
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

/** Interval of the check whether a menu or dialog is still open. */
const HELD_MS = 100;

/**
 * Returns the rows as they were, while a menu or dialog of one is open: it would go with a row that moves to another
 * chunk.
 */
function useHeld<Row>(rows: Row[], watch: ChunkWatch): Row[] {
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

/** Restores the focus of a control in a row with `data-id` when the row moves to another chunk. */
function useKeptFocus(watch: ChunkWatch): void {
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
  watch: ChunkWatch;
};

function Chunk<Row>({ rows, row, as: Element, name, number, start, count, watch }: ChunkProps<Row>) {
  const element = useRef<HTMLElement>(null);
  useLayoutEffect(() => watch.add(element.current!, number), [number, watch]);
  // Not set as properties of the rows, which would all be rendered again for a row added above them.
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
