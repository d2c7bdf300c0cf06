/** A table of a paged list. It stays fast with 10,000 rows, and on phones its rows become cards. */
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { PagedList } from "../app/pages-of";
import { LoadMore } from "./load-more";
import { ListSkeleton } from "./states";
import { useChunks } from "./use-chunks";

export type Column<Row> = {
  title: string;
  cell(row: Row): ComponentChildren;
  /** A track of the grid, such as `8rem` or `2fr`. Default: `minmax(0, 1fr)`. */
  width?: string;
  /** Aligns digits at the right. */
  isNumber?: boolean;
  /** Its title is for assistive technology only, as for a menu of the row. */
  isTitleHidden?: boolean;
};

type DataTableProps<Row> = {
  /** Names the table for assistive technology. */
  caption: string;
  /** Must be the same array from one drawing to the next (a constant, or `useMemo`): rows are drawn again only when it or the row changes. */
  columns: readonly Column<Row>[];
  list: PagedList<Row>;
  rowKey(row: Row): string;
  /** Shown when the list has no rows. */
  empty: ComponentChildren;
};

const CHUNK_ROWS = 100;
const NO_ROWS: never[] = [];

export function DataTable<Row>({ caption, columns, list, rowKey, empty }: DataTableProps<Row>) {
  const items = list.items.value;
  const chunks = useChunks(items ?? NO_ROWS, CHUNK_ROWS);
  if (items === null && list.error.value === null) return <ListSkeleton />;
  return (
    <>
      {items?.length === 0 && empty}
      {items !== null && items.length > 0 && (
        <table
          // biome-ignore lint/a11y/noRedundantRoles: the rows are grids, and some browsers then drop what the elements mean.
          role="table"
          class="data-table card"
          aria-label={caption}
          style={{ "--columns": columns.map(({ width }) => width ?? "minmax(0, 1fr)").join(" ") }}
        >
          {/* biome-ignore lint/a11y/noRedundantRoles: see above. */}
          <thead role="rowgroup">
            {/* biome-ignore lint/a11y/noRedundantRoles: see above. */}
            <tr role="row">
              {columns.map(({ title, isNumber, isTitleHidden }) => (
                // biome-ignore lint/a11y/noRedundantRoles: see above.
                <th key={title} role="columnheader" scope="col" class={isNumber ? "number" : undefined}>
                  {isTitleHidden ? <span class="visually-hidden">{title}</span> : title}
                </th>
              ))}
            </tr>
          </thead>
          {chunks.map((rows, number) => (
            // By number: a new row at the top moves one row of each chunk, and no chunk.
            <Chunk key={number} rows={rows} columns={columns} rowKey={rowKey} />
          ))}
        </table>
      )}
      <LoadMore list={list} />
    </>
  );
}

type ChunkProps<Row> = { rows: Row[]; columns: readonly Column<Row>[]; rowKey(row: Row): string };

function Chunk<Row>({ rows, columns, rowKey }: ChunkProps<Row>) {
  return useMemo(
    () => (
      // biome-ignore lint/a11y/noRedundantRoles: see `DataTable`.
      <tbody role="rowgroup" style={{ "--rows": rows.length }}>
        {rows.map((row) => (
          // biome-ignore lint/a11y/noRedundantRoles: see `DataTable`.
          <tr key={rowKey(row)} role="row">
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
        ))}
      </tbody>
    ),
    [rows, columns],
  );
}
