/** A list that stays fast with 10,000 rows. */
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { useChunks } from "./use-chunks";

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
