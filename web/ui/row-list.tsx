/** A list that stays fast with 10,000 rows. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { toMessage } from "../app/api";
import type { PagedList } from "../app/cache";
import { ErrorPanel } from "./states";

type DrawRow<Row> = (row: Row) => ComponentChildren;

type RowListProps<Row> = {
  items: Row[];
  /**
   * Renders a row as a `li` with a key. Must stay the same function between renders: a row is rendered again only when
   * this function or the row changes.
   */
  row: DrawRow<Row>;
};

/** Number of rows that are laid out together when they come into view. */
const CHUNK_ROWS = 25;

export function RowList<Row>({ items, row }: RowListProps<Row>) {
  return (
    <div class="rows card">
      {useChunks(items, CHUNK_ROWS).map((rows, number) => (
        // Chunks are keyed by number: a new row at the top moves one row per chunk and no chunk.
        <Chunk key={number} rows={rows} row={row} />
      ))}
    </div>
  );
}

const Chunk = <Row,>({ rows, row }: { rows: Row[]; row: DrawRow<Row> }) =>
  useMemo(
    () => (
      <ul class="row-chunk" style={{ "--rows": rows.length }}>
        {rows.map(row)}
      </ul>
    ),
    [rows, row],
  );

/** Splits rows into chunks of `size`. An unchanged chunk stays the same array. */
export function useChunks<Row>(rows: Row[], size: number): Row[][] {
  const before = useRef<Row[][]>([]);
  return useMemo(() => {
    const chunks = Array.from({ length: Math.ceil(rows.length / size) }, (_, index) => {
      const chunk = rows.slice(index * size, (index + 1) * size);
      const last = before.current[index];
      return last?.length === chunk.length && last.every((row, at) => row === chunk[at]) ? last : chunk;
    });
    before.current = chunks;
    return chunks;
  }, [rows, size]);
}

/** Delay after which the rest is rendered, so that the first screen is complete and responsive sooner. */
const SETTLE_MS = 150;

/**
 * Returns how many of `count` items to render: `first` in the first frame and, after a delay, `more` with each frame.
 */
export function useGrowing(count: number, first: number, more: number): number {
  const [shown, setShown] = useState(first);
  useEffect(() => {
    if (shown >= count) return;
    let frame = 0;
    const grow = () => {
      frame = requestAnimationFrame(() => setShown(shown + more));
    };
    const timer = shown === first ? setTimeout(grow, SETTLE_MS) : undefined;
    if (timer === undefined) grow();
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    };
  }, [shown, count]);
  return Math.min(shown, count);
}

/** Loads the next page when the end of the list is near. */
export function LoadMore<Item>({ list }: { list: PagedList<Item> }) {
  const end = useRef<HTMLDivElement>(null);
  const count = list.items.value?.length ?? 0;
  const hasFailed = list.error.value !== null;
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) =>
        // After an error, only the user retries, so that a failing server is not flooded with requests.
        entries.some((entry) => entry.isIntersecting) && list.error.value === null && list.loadMore(),
      {
        rootMargin: "600px",
      },
    );
    observer.observe(end.current!);
    return () => observer.disconnect();
  }, [list, count, hasFailed]);
  return (
    <div ref={end} class="list-end">
      {list.error.value !== null && (
        <ErrorPanel
          // A next page may fail because its cursor is outdated. Trying again starts with the first page.
          error={list.items.value === null ? list.error.value : null}
          message={toMessage(list.error.value)}
          onRetry={() => void list.reload()}
        />
      )}
    </div>
  );
}
