/** Exports of lists that are too long for one query. */
import { type CsvCell, formatCsvHeader, formatCsvRow } from "../domain/csv";

const ROWS_PER_BATCH = 500;

/**
 * Yields all rows in batches, as `show` shows them. `readAfter` returns at most `limit` rows after the ID `afterId`,
 * sorted by ID.
 */
export async function* readInBatches<Row extends { entry: { id: string } }, Shown>(
  readAfter: (page: { afterId: string; limit: number }) => Promise<Row[]>,
  show: (row: Row) => Shown,
): AsyncGenerator<Shown[]> {
  let afterId = "";
  for (;;) {
    const rows = await readAfter({ afterId, limit: ROWS_PER_BATCH });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(show);
    afterId = last.entry.id;
  }
}

/** User text must go through `escapeFormula`. */
export type CsvColumn<Row> = [title: string, value: (row: Row) => CsvCell];

export async function* formatCsv<Row>(
  columns: CsvColumn<Row>[],
  batches: AsyncGenerator<Row[]>,
): AsyncGenerator<string> {
  yield formatCsvHeader(columns.map(([title]) => title));
  for await (const rows of batches)
    yield rows.map((row) => formatCsvRow(columns.map(([, value]) => value(row)))).join("");
}
