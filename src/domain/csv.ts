/** Formats CSV as specified in RFC 4180: cells with commas, quotes or line breaks are quoted, lines end with CRLF. */

export type CsvCell = string | number;

/** Formats a line of a CSV file, including its line end. User text must go through `escapeFormula` first. */
export const formatCsvRow = (cells: readonly CsvCell[]): string => `${cells.map(formatCell).join(",")}\r\n`;

const formatCell = (value: CsvCell): string =>
  /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

/** Formats the first line of a CSV file, with the byte order mark by which spreadsheets recognize UTF-8. */
export const formatCsvHeader = (titles: readonly string[]): string => `\uFEFF${formatCsvRow(titles)}`;

/** Prevents a cell from being evaluated as a formula, also with full-width characters: an apostrophe makes it text. */
export const escapeFormula = (text: string): string => text.replace(/^(?=\s*[=+\-@＝＋－＠\t\r])/u, "'");
