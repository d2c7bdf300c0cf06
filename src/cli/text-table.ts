/** Tables of text on the terminal. */

import { escapeControls } from "../lib/control-characters";

/** Formats rows of cells as aligned columns, the first `numbers` ones to the right, without control characters. */
export function formatTextTable(texts: readonly (readonly string[])[], numbers = 0): string {
  const rows = texts.map((cells) => cells.map(escapeControls));
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const pad = (cell: string, column: number) =>
    column < numbers ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  return rows.map((row) => `${row.map(pad).join("  ").trimEnd()}\n`).join("");
}

/** Formats a time as UTC, to the minute. */
export const formatMinute = (time: string | null): string => (time === null ? "never" : `${time.slice(0, 16)}Z`);
