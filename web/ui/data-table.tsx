/** A table for a paged list. It stays fast with 10,000 rows. On phones, rows become cards. */

import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useCallback, useMemo } from "preact/hooks";
import { getId, type PagedList } from "../app/cache";
import { NearChunks } from "./near-chunks";
import { LoadMore, useChunks } from "./row-list";
import { ListSkeleton } from "./states";

export type Column<Row> = {
  title: string;
  cell(row: Row): ComponentChildren;
  /** Width of the grid track, such as `8rem` or `2fr`. Default: `minmax(0, 1fr)`. */
  width?: string;
  /** Whether to align digits on the right. */
  isNumber?: boolean;
  /** Whether to show the title only to assistive technology, as for the column with the row's menu. */
  isTitleHidden?: boolean;
};

type DataTableProps<Row> = {
  /** Names the table for assistive technology. */
  caption: string;
  /**
   * Must stay the same array between renders (a constant, or `useMemo`): a row is rendered again only when this array
   * or the row changes.
   */
  columns: readonly Column<Row>[];
  list: PagedList<Row>;
  /** Returns the class of a row. May read signals. Must stay the same function between renders. */
  rowClass?(row: Row): string;
  /** Shown when the list has no rows. */
  empty: ComponentChildren;
  /**
   * Set for rows with pictures and controls: only those near the view are in the page. Called with their range when it
   * changes.
   */
  onView?(first: number, last: number): void;
  /** Number of all rows if `onView` is set; -1 while it is unknown. */
  count?: number;
};

const CHUNK_ROWS = 100;
/** A frame has time for about as many. */
const NEAR_ROWS = 3;
const NO_ROWS: never[] = [];

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, list, rowClass, empty, onView, count = -1 } = props;
  const items = list.items.value;
  const chunks = useChunks(items ?? NO_ROWS, CHUNK_ROWS);
  const drawRow = useCallback(
    (row: Row) => <TableRow key={getId(row)} row={row} columns={columns} rowClass={rowClass} />,
    [columns, rowClass],
  );
  if (items === null && list.error.value === null) return <ListSkeleton />;
  return (
    <>
      {items?.length === 0 && empty}
      {items !== null && items.length > 0 && (
        <table
          // biome-ignore lint/a11y/noRedundantRoles: some browsers drop the roles of elements in a grid layout.
          role="table"
          class="data-table card"
          aria-label={caption}
          // With the row of titles.
          aria-rowcount={onView && (count < 0 ? -1 : count + 1)}
          style={{ "--columns": columns.map(({ width }) => width ?? "minmax(0, 1fr)").join(" ") }}
        >
          {/* biome-ignore lint/a11y/noRedundantRoles: see above. */}
          <thead role="rowgroup">
            {/* biome-ignore lint/a11y/noRedundantRoles: see above. */}
            <tr role="row" aria-rowindex={onView && 1}>
              {columns.map(({ title, isNumber, isTitleHidden }) => (
                // biome-ignore lint/a11y/noRedundantRoles: see above.
                <th key={title} role="columnheader" scope="col" class={isNumber ? "number" : undefined}>
                  {isTitleHidden ? <span class="visually-hidden">{title}</span> : title}
                </th>
              ))}
            </tr>
          </thead>
          {onView ? (
            <NearChunks as="tbody" rows={items} size={NEAR_ROWS} row={drawRow} count={count} onView={onView} />
          ) : (
            // Chunks are keyed by number: a new row at the top moves one row per chunk and no chunk.
            chunks.map((rows, number) => <Chunk key={number} rows={rows} row={drawRow} />)
          )}
        </table>
      )}
      <LoadMore list={list} />
    </>
  );
}

type ChunkProps<Row> = { rows: Row[]; row(row: Row): ComponentChildren };

const Chunk = <Row,>({ rows, row }: ChunkProps<Row>) =>
  useMemo(
    () => (
      // biome-ignore lint/a11y/noRedundantRoles: see `DataTable`.
      <tbody role="rowgroup" style={{ "--rows": rows.length }}>
        {rows.map(row)}
      </tbody>
    ),
    [rows, row],
  );

type TableRowProps<Row> = Pick<DataTableProps<Row>, "columns"> & {
  row: Row;
  rowClass: DataTableProps<Row>["rowClass"];
};

const TableRow = <Row,>({ row, columns, rowClass }: TableRowProps<Row>) => (
  // biome-ignore lint/a11y/noRedundantRoles: see `DataTable`.
  <tr role="row" class={useComputed(() => rowClass?.(row))}>
    {columns.map(({ title, cell, isNumber, isTitleHidden }) => (
      <td
        key={title}
        // biome-ignore lint/a11y/noRedundantRoles: see `DataTable`.
        role="cell"
        class={isNumber ? "number" : undefined}
        data-title={isTitleHidden ? undefined : title}
      >
        {cell(row)}
      </td>
    ))}
  </tr>
);

/** Returns the column with the buttons or the menu of each row. */
export const createActionsColumn = <Row,>(width: string, cell: Column<Row>["cell"]): Column<Row> => ({
  title: "Actions",
  isTitleHidden: true,
  width,
  cell,
});

type TruncatedProps = { text: string; href?: string; class?: string };

/** A name on one line, which is cut off at its end, with all of it as the tooltip. */
export function Truncated({ text, class: look = "", ...link }: TruncatedProps) {
  const Element = "href" in link ? "a" : "span";
  return (
    <Element {...link} class={`${look} truncate`} title={text} dir="auto">
      {text}
    </Element>
  );
}
