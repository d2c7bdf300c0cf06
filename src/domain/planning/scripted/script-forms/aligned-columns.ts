/** Tables whose columns are aligned with spaces. */
import { isBlank, type ScriptRow, type ScriptTable } from "./script-row";

const MIN_ROWS = 3;
/** Minimum share of rows with text that starts at a column, and of rows without text across its left edge. */
const MIN_STARTING_SHARE = 0.5;
const MIN_CLEAR_SHARE = 0.9;
/** Without a common column, this number of spaces separates cells. */
const MIN_WIDE_GAP = 3;
/** Wider rows are not table rows. */
const MAX_ROW_CHARACTERS = 2_000;

/** Finds a table aligned with spaces. Evidence: most rows have text at a common column, after two or more spaces. */
export function findAlignedCells(rows: readonly ScriptRow[]): ScriptTable[] {
  const filled = rows.filter((row) => !isBlank(row)).map((row) => row.text.trimEnd());
  if (filled.length < MIN_ROWS || filled.some((text) => text.length > MAX_ROW_CHARACTERS)) return [];
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
  const common = [...starts].filter(([, count]) => count >= Math.max(MIN_ROWS, MIN_STARTING_SHARE * texts.length));
  const isClear = (text: string, at: number) => text.slice(Math.max(0, at - 2), at).trim() === "";
  return common
    .map(([at]) => at)
    .filter((at) => texts.filter((text) => isClear(text, at)).length >= MIN_CLEAR_SHARE * texts.length)
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

function splitAtWideGaps(text: string): string[] {
  const cells: string[] = [];
  let from = 0;
  let spaces = 0;
  const trimmed = text.trim();
  for (let i = 0; i < trimmed.length; i++) {
    if (trimmed[i] === " ") spaces++;
    else {
      if (spaces >= MIN_WIDE_GAP) {
        cells.push(trimmed.slice(from, i).trim());
        from = i;
      }
      spaces = 0;
    }
  }
  return [...cells, trimmed.slice(from).trim()];
}
