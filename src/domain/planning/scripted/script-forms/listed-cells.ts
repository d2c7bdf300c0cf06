/** Tables with one cell per row, as when a table is pasted as plain text. */
import { isBlank, type ScriptRow, type ScriptTable } from "./script-row";
import { isHeader } from "./table-columns";

const MAX_WIDTH = 6;
const MIN_BODY_ROWS = 2;

/** Finds a table with one cell per row. Evidence: the first rows are column names, and every table row is complete. */
export function findListedCells(rows: readonly ScriptRow[]): ScriptTable[] {
  const filled = rows.filter((row) => !isBlank(row)).map((row) => row.text.trim());
  for (let width = MAX_WIDTH; width >= 2; width--) {
    const header = filled.slice(0, width);
    const isComplete = filled.length % width === 0 && filled.length >= (MIN_BODY_ROWS + 1) * width;
    if (!isComplete || !header.every(isHeader)) continue;
    const cells = Array.from({ length: filled.length / width }, (_, r) => filled.slice(r * width, (r + 1) * width));
    return [{ from: 0, to: rows.length, cells, header: true }];
  }
  return [];
}
