/** CSV as specified in RFC 4180: cells with commas, quotes or line breaks are quoted, lines end with CRLF. */

export type CsvCell = string | number;

/** Returns a line of a CSV file with its line end. Texts of users need `escapeFormula` first. */
export const formatCsvRow = (cells: readonly CsvCell[]): string => `${cells.map(formatCell).join(",")}\r\n`;

const formatCell = (value: CsvCell): string =>
  /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

/** Returns the first line of a CSV file with a byte order mark before it, by which spreadsheets recognize UTF-8. */
export const formatCsvHeader = (titles: readonly string[]): string => `\uFEFF${formatCsvRow(titles)}`;

/** Spreadsheets evaluate a cell that starts like a formula, some of them also with full-width characters. An apostrophe makes it text. */
export const escapeFormula = (text: string): string => text.replace(/^(?=\s*[=+\-@＝＋－＠\t\r])/u, "'");
