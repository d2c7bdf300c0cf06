/** Scripts in tables: Markdown, columns with `|`, cells with tabs (as from spreadsheets), columns aligned by spaces. */
import {
  BLANK_ROW,
  FEW,
  isBlank,
  joinSentences,
  MAX_BLOCK_ROWS,
  MIN_ROWS,
  MOST,
  NEARLY_ALL,
  type ScriptForm,
  type ScriptRow,
  type ScriptTable,
} from "./script-row";
import { classifyColumns, findAlignedCells, isHeader, isHeaderRow } from "./table-columns";

const BORDER = /^[\s|+:=_─━│┃┌┐└┘├┤┬┴┼═║╔╗╚╝╠╣╦╩╬-]+$/;

/** Keeps the spoken columns of tables. Evidence: rows with equal numbers of cells, with a border or everywhere. */
export const readTables: ScriptForm = (rows) => {
  for (const find of [findPipeTables, findTabTable, findAlignedCells, findListedCells]) {
    const tables = find(rows);
    if (tables.length > 0) return replaceTables(rows, tables);
  }
  return rows;
};

function replaceTables(rows: readonly ScriptRow[], tables: readonly ScriptTable[]): ScriptRow[] {
  const inside = tables.map(readTable);
  const spoken = inside.flat().filter((row) => !row.optional).length;
  const covered = tables.reduce((sum, table) => sum + rows.slice(table.from, table.to).filter(isText).length, 0);
  // If the script is in the table, the text around it is about the script.
  const isAbout = spoken > 0 && covered * 2 > rows.filter(isText).length;
  const out: ScriptRow[] = [];
  let at = 0;
  const copyUntil = (to: number) => {
    for (; at < to; at++) out.push(isAbout ? { ...rows[at]!, optional: true } : rows[at]!);
  };
  for (const [i, table] of tables.entries()) {
    copyUntil(table.from);
    out.push(BLANK_ROW, ...inside[i]!.flatMap((row) => [row, BLANK_ROW]));
    at = table.to;
  }
  copyUntil(rows.length);
  return out;
}

const isText = (row: ScriptRow) => !isBlank(row);

function readTable(table: ScriptTable): ScriptRow[] {
  const hasHeader = table.cells.length > 1 && (table.header || isHeaderRow(table.cells[0]!));
  const body = hasHeader ? table.cells.slice(1) : table.cells;
  const roles = classifyColumns(hasHeader ? table.cells[0]! : null, body);
  const columns = roles.map((role, c) => {
    const texts = body.map((cells) => (cells[c] ?? "").replace(/<br\s{0,3}\/?>/gi, " "));
    return role === "spoken" ? joinSentences(texts) : texts;
  });
  return body.flatMap((_, r) =>
    roles.flatMap((role, c) => {
      const text = columns[c]![r]!.trim();
      return role === "hidden" || text === "" ? [] : [{ text, optional: role === "optional" }];
    }),
  );
}

/** Finds stretches of rows with vertical bars. */
function findPipeTables(rows: readonly ScriptRow[]): ScriptTable[] {
  const tables: ScriptTable[] = [];
  for (let from = 0; from < rows.length; from++) {
    if (!hasBar(rows[from]!.text)) continue;
    let to = from + 1;
    for (let next = to; next < rows.length; next++) {
      const { text } = rows[next]!;
      if (hasBar(text) || (BORDER.test(text) && text.trim() !== "")) to = next + 1;
      else if (text.trim() !== "") break;
    }
    const table = toPipeTable(rows, from, to);
    if (table) tables.push(table);
    from = to;
  }
  return tables;
}

const hasBar = (text: string) => /[|│┃║]/.test(text);

function toPipeTable(rows: readonly ScriptRow[], from: number, to: number): ScriptTable | null {
  const texts = rows.slice(from, to).map((row) => row.text.trim());
  const lines = texts.filter((text) => text !== "");
  const content = lines.filter((text) => !BORDER.test(text));
  const cells = content.map(splitAtBars);
  const width = findWidth(cells);
  const isRegular = cells.filter((row) => row.length === width).length >= NEARLY_ALL * cells.length;
  if (width < 2 || !isRegular) return null;
  const borderAt = lines.findIndex((text) => BORDER.test(text) && /[-=─═]{2}/.test(text));
  const isBordered = borderAt >= 0 || content.every((text) => hasBar(text[0]!) && hasBar(text.at(-1)!));
  const isThroughout = content.length >= MOST * rows.filter(isText).length;
  if (content.length < (isBordered ? MIN_ROWS : FEW) || !(isBordered || isThroughout)) return null;
  const isMarkdown = /^[\s|:-]+$/.test(lines[borderAt] ?? "+") && borderAt === 1;
  return { from, to, cells: cells.map((row) => toWidth(row, width, " ")), header: isMarkdown };
}

/** Splits a row at its vertical bars. Bars at both ends are borders. */
function splitAtBars(text: string): string[] {
  const cells = text
    .replaceAll("\\|", "\u0000")
    .split(/[|│┃║]/)
    .map((cell) => cell.replaceAll("\u0000", "|").trim());
  if (cells[0] === "") cells.shift();
  if (cells.at(-1) === "" && hasBar(text.at(-1)!)) cells.pop();
  return cells;
}

/** Returns the number of cells that most rows have. */
function findWidth(cells: readonly (readonly string[])[]): number {
  const counts = new Map<number, number>();
  for (const row of cells) counts.set(row.length, (counts.get(row.length) ?? 0) + 1);
  let width = 0;
  for (const [length, count] of counts) if (count > (counts.get(width) ?? 0)) width = length;
  return width;
}

/** Joins surplus cells to the last one. */
function toWidth(row: readonly string[], width: number, separator: string): string[] {
  return row.length <= width ? [...row] : [...row.slice(0, width - 1), row.slice(width - 1).join(separator)];
}

/** Finds a table with tabs. A cell may have several rows: the last one without a tab, or in quotation marks. */
function findTabTable(rows: readonly ScriptRow[]): ScriptTable[] {
  const tabbed = rows.map((row) => row.text.trim().includes("\t"));
  const count = tabbed.filter(Boolean).length;
  if (count < MIN_ROWS || count * 2 < rows.filter(isText).length) {
    const isSpread = count >= FEW && rows.some((row, i) => tabbed[i] && isHeaderRow(row.text.split("\t")));
    if (!isSpread) return [];
  }
  const from = tabbed.indexOf(true);
  const physical = joinQuoted(rows.slice(from).map((row) => row.text));
  const width = findWidth(
    physical.filter((text) => text.trim().includes("\t")).map((text) => text.trimEnd().split("\t")),
  );
  if (width < 2) return [];
  const cells: string[][] = [];
  for (const text of physical) {
    if (text.trim() === "") continue;
    const parts = text.trimEnd().split("\t").map(unquote);
    const last = cells.at(-1);
    const continues = last && (parts.length === 1 || (last.length < width && last.length + parts.length - 1 <= width));
    if (last && continues) last.push(`${last.pop()} ${parts[0]}`.trim(), ...parts.slice(1));
    else cells.push(parts);
  }
  return [{ from, to: rows.length, cells: cells.map((row) => toWidth(row, width, " ")), header: false }];
}

/** Joins the rows of a quoted cell. */
function joinQuoted(texts: readonly string[]): string[] {
  const out: string[] = [];
  for (let i = 0; i < texts.length; i++) {
    let joined = texts[i]!;
    if (/(?:^|\t)"/.test(joined) && hasOpenQuote(joined)) {
      const rest = texts.slice(i + 1, i + MAX_BLOCK_ROWS);
      const close = rest.findIndex(hasOpenQuote);
      if (close >= 0) {
        joined = [joined, ...rest.slice(0, close + 1)].join(" ");
        i += close + 1;
      }
    }
    out.push(joined);
  }
  return out;
}

const hasOpenQuote = (text: string) => (text.split('"').length - 1) % 2 === 1;

function unquote(cell: string): string {
  const text = cell.trim();
  return /^".*"$/.test(text) && text.length > 1 && !hasOpenQuote(text) && text.includes(" ")
    ? text.slice(1, -1).replaceAll('""', '"')
    : text;
}

const MAX_WIDTH = 6;

/** Finds a table with one cell per row. Evidence: the first rows are column names, and every table row is complete. */
export function findListedCells(rows: readonly ScriptRow[]): ScriptTable[] {
  const filled = rows.filter((row) => !isBlank(row)).map((row) => row.text.trim());
  for (let width = MAX_WIDTH; width >= 2; width--) {
    const header = filled.slice(0, width);
    const isComplete = filled.length % width === 0 && filled.length >= (MIN_ROWS + 1) * width;
    if (!isComplete || !header.every(isHeader)) continue;
    const cells = Array.from({ length: filled.length / width }, (_, r) => filled.slice(r * width, (r + 1) * width));
    return [{ from: 0, to: rows.length, cells, header: true }];
  }
  return [];
}
