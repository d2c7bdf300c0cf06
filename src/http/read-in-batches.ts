/** Reads lists that are too long for one query. */

const ROWS_PER_BATCH = 500;

/** Yields all rows in batches. `readAfter` returns at most `limit` rows after the ID `afterId`, sorted by ID. */
export async function* readInBatches<Row extends { entry: { id: string } }>(
  readAfter: (page: { afterId: string; limit: number }) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let afterId = "";
  for (;;) {
    const rows = await readAfter({ afterId, limit: ROWS_PER_BATCH });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    afterId = last.entry.id;
  }
}
