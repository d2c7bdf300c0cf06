/**
 * The columns of tables: where those that are aligned with spaces are, and which columns are spoken, by their headers,
 * otherwise by the content of their cells.
 */
import {
  ALMOST_ALL,
  countWords,
  endsSentence,
  FEW,
  isBlank,
  MAX_NAME_CHARACTERS,
  MAX_NAME_WORDS,
  MOST,
  NEARLY_ALL,
  type ScriptRow,
  type ScriptTable,
  TIMECODE,
} from "./script-row";

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
  const isShort = (cell: string) => countWords(cell) <= MAX_NAME_WORDS && !endsSentence(cell);
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
function splitAtWideGaps(text: string): string[] {
  const cells: string[] = [];
  let from = 0;
  let spaces = 0;
  const trimmed = text.trim();
  for (let i = 0; i < trimmed.length; i++) {
    if (trimmed[i] === " ") spaces++;
    else {
      if (spaces >= FEW) {
        cells.push(trimmed.slice(from, i).trim());
        from = i;
      }
      spaces = 0;
    }
  }
  return [...cells, trimmed.slice(from).trim()];
}
