/** Scripts in tables: Markdown, columns with `|`, cells with tabs (as from spreadsheets), columns aligned by spaces. */

import {
  ALMOST_ALL,
  BLANK_ROW,
  countWords,
  endsSentence,
  FEW,
  isBlank,
  joinSentences,
  MAX_BLOCK_ROWS,
  MAX_NAME_CHARACTERS,
  MAX_NAME_WORDS,
  MIN_ROWS,
  MOST,
  NEARLY_ALL,
  type ScriptForm,
  type ScriptRow,
  type ScriptTable,
  TIMECODE,
} from "./script-row";

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

export type ColumnRole = "spoken" | "optional" | "hidden";

const SPOKEN_HEADERS = new Set(
  "audio,voice over,voiceover,vo,v o,narration,narrator,dialogue,dialog,spoken,spoken text,speech,say,what to say,script,voice,commentary,speaker text,spoken words,talk track,sprechertext,gesprochen,ton,off text,voix off,voix,dialogue audio,audio dialogue,audio vo,locucion,narracion,voz en off,voz".split(
    ",",
  ),
);
const TEXT_HEADERS = new Set(
  "text,line,lines,words,copy,content,sentence,transcript,sound,texte,texto,son,sonido".split(","),
);
const HIDDEN_HEADERS = new Set(
  "video,visual,visuals,picture,image,images,shot,shots,shot type,scene,scene description,camera,camera angle,action,actions,b roll,broll,graphic,graphics,gfx,on screen,onscreen,on screen text,text on screen,screen,screen text,super,supers,title,titles,time,times,timecode,time code,tc,tc in,tc out,start,end,in,out,from,to,duration,length,dur,sec,secs,seconds,no,nr,nº,number,cue,slide,slides,note,notes,direction,directions,stage directions,speaker,character,who,name,role,status,take,music,music sfx,sfx,effects,sound effects,comment,comments,remarks,location,props,wardrobe,section,part,id,page,bild,zeit,dauer,sprecher,rolle,szene,kamera,regie,anmerkung,musik,plan,temps,duree,minutage,personnage,locuteur,imagen,tiempo,duracion,hablante,personaje,escena".split(
    ",",
  ),
);
const MARK = new RegExp(
  String.raw`^(?:[[(]?${TIMECODE}(?:\s{0,3}(?:[-–—~]|-->|to)\s{0,3}${TIMECODE})?[\])]?|#?[a-z]{0,3}[-.]?\d{1,5}[a-z]?[.):]?|\d{1,4}(?:[.,]\d{1,2})?\s?(?:s|sec|secs|seconds?|min|mins|minutes?|m|f|frames?)\.?|[-–—x✓✔✗☐☑.·]{1,3}|tbd|n\/a)$`,
  "i",
);

/** Returns the role of the column with a normalized header; null if the header is unknown. */
function findHeaderRole(header: string): "spoken" | "text" | "hidden" | null {
  const key = header
    .slice(0, MAX_NAME_CHARACTERS)
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}#]+/gu, " ")
    .trim();
  if (SPOKEN_HEADERS.has(key)) return "spoken";
  if (TEXT_HEADERS.has(key)) return "text";
  return HIDDEN_HEADERS.has(key) || key === "#" ? "hidden" : null;
}

export const isHeader = (cell: string): boolean => countWords(cell) <= MAX_NAME_WORDS && findHeaderRole(cell) !== null;

/** Returns whether a row of cells names the columns: most of its cells are known headers. */
export function isHeaderRow(cells: readonly string[]): boolean {
  const named = cells.filter((cell) => cell.trim() !== "");
  if (named.length < 2 || named.some((cell) => countWords(cell) > MAX_NAME_WORDS)) return false;
  return named.filter((cell) => findHeaderRole(cell) !== null).length * 2 >= named.length;
}

/** Returns the role of each column. `header` is null if the table has none. */
export function classifyColumns(header: readonly string[] | null, body: readonly (readonly string[])[]): ColumnRole[] {
  const width = body.reduce((max, row) => Math.max(max, row.length), header?.length ?? 0);
  const columns = Array.from({ length: width }, (_, c) => body.map((row) => (row[c] ?? "").trim()).filter(Boolean));
  const named = columns.map((_, c) => findHeaderRole(header?.[c] ?? ""));
  for (const kind of ["spoken", "text"] as const) {
    if (named.includes(kind)) return named.map((role) => (role === kind ? "spoken" : "hidden"));
  }
  const prose = columns.map((cells, c) => (named[c] === "hidden" ? 0 : measureProse(cells)));
  const most = Math.max(0, ...prose);
  const best = prose.indexOf(most);
  return prose.map((amount, c) => {
    if (most === 0)
      return columns[c]!.every((cell) => MARK.test(cell.slice(0, MAX_NAME_CHARACTERS))) ? "hidden" : "optional";
    if (c === best) return "spoken";
    // A column with less than half of the prose of the wordiest one is a description.
    return 2 * amount > most ? "optional" : "hidden";
  });
}

/** Returns how much of a column is prose: its words, fewer without sentence ends, 0 for numbers or names. */
function measureProse(cells: readonly string[]): number {
  if (cells.length === 0) return 0;
  const marks = cells.filter((cell) => cell.length < MAX_NAME_CHARACTERS && MARK.test(cell)).length;
  if (marks >= NEARLY_ALL * cells.length || areNames(cells)) return 0;
  const words = cells.reduce((sum, cell) => sum + countWords(cell), 0);
  const sentences = cells.filter((cell) => endsSentence(cell)).length / cells.length;
  const directions = cells.filter((cell) => /^(?:\[.*\]|\(.*\)|<.*>)$/.test(cell)).length / cells.length;
  return words * (0.25 + sentences) * (1 - directions);
}

/** Returns whether cells are speaker names: short, and recurring, in capitals, or with a colon. */
function areNames(cells: readonly string[]): boolean {
  const isShort = (cell: string) => countWords(cell) <= FEW && !endsSentence(cell);
  const short = cells.filter(isShort);
  if (short.length < ALMOST_ALL * cells.length) return false;
  const distinct = new Set(short.map((cell) => cell.toLowerCase())).size;
  const isLabel = (cell: string) => cell.endsWith(":") || (cell === cell.toUpperCase() && /\p{Lu}/u.test(cell));
  return (cells.length >= FEW && distinct <= MOST * cells.length) || short.every(isLabel);
}

/** Wider rows are not table rows. */
const MAX_ROW_CHARACTERS = 2_000;

/** Finds a table aligned with spaces. Evidence: most rows have text at a common column, after two or more spaces. */
export function findAlignedCells(rows: readonly ScriptRow[]): ScriptTable[] {
  const filled = rows.filter((row) => !isBlank(row)).map((row) => row.text.trimEnd());
  if (filled.length < FEW || filled.some((text) => text.length > MAX_ROW_CHARACTERS)) return [];
  const edges = findEdges(filled);
  if (edges.length > 0) {
    const cells = filled.map((text) => cutAt(text, edges));
    return [{ from: 0, to: rows.length, cells, header: false }];
  }
  const gapped = filled.map(splitAtWideGaps);
  const width = gapped[0]!.length;
  const isRegular = width > 1 && gapped.every((cells) => cells.length === width);
  return isRegular ? [{ from: 0, to: rows.length, cells: gapped, header: false }] : [];
}

/** Returns the positions at which columns start, except for the first. */
function findEdges(texts: readonly string[]): number[] {
  const starts = new Map<number, number>();
  for (const text of texts) {
    for (const at of listCellStarts(text)) starts.set(at, (starts.get(at) ?? 0) + 1);
  }
  const common = [...starts].filter(([, count]) => count >= Math.max(FEW, texts.length / 2));
  const isClear = (text: string, at: number) => text.slice(Math.max(0, at - 2), at).trim() === "";
  return common
    .map(([at]) => at)
    .filter((at) => texts.filter((text) => isClear(text, at)).length >= ALMOST_ALL * texts.length)
    .filter((at) => texts.filter((text) => text.slice(0, at).trim() !== "").length >= 2)
    .sort((a, b) => a - b);
}

/** Returns where text starts after two or more spaces. */
function listCellStarts(text: string): number[] {
  const out: number[] = [];
  let spaces = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === " ") spaces++;
    else {
      if (spaces >= 2) out.push(i);
      spaces = 0;
    }
  }
  return out;
}

function cutAt(text: string, edges: readonly number[]): string[] {
  const bounds = [0, ...edges, text.length];
  return bounds.slice(1).map((to, c) => text.slice(bounds[c], Math.max(bounds[c]!, to)).trim());
}

/** Without a common column, a few spaces separate cells. */
const splitAtWideGaps = (text: string): string[] => text.trim().split(/ {3,}/);
