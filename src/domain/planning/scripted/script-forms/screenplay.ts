/** Screenplays: scene headings, action, character names above their dialogue, parentheticals, transitions. */
import {
  BLANK_ROW,
  countWords,
  endsSentence,
  isBlank,
  joinSentences,
  MAX_NAME_CHARACTERS,
  MAX_NAME_WORDS,
  MIN_ROWS,
  type ScriptForm,
  type ScriptRow,
} from "./script-row";

const SCENE_HEADING = /^\s*(?:\d{1,4}[a-z]?[.)]?\s{1,9})?(?:INT|EXT|EST|I\/E|INT\.?\/EXT)[.\s]\s{0,9}\S/;
const TRANSITION =
  /^\s*(?:>\s{0,3})?(?:(?:CUT|DISSOLVE|SMASH CUT|MATCH CUT|FADE|JUMP CUT|BACK)[A-Z ]{0,30}(?:TO|IN|OUT|BLACK)[A-Z ]{0,20}[:.]?|THE END|\(?MORE\)?|\(?CONTINUED\)?:?|\(CONT'D\)|\d{1,4}\.?)\s*$/;
const CHARACTER = /^\s*@?\p{Lu}[\p{Lu}\p{N} .'’&#/-]{0,40}(?:\s{0,9}\([^)]{0,30}\)){0,2}\s{0,9}\^?\s*$/u;

/**
 * Keeps the dialogue of a screenplay; action is optional. Evidence: two or more names in capitals above dialogue, and
 * scene headings, a recurring name, or indented names.
 */
export const readScreenplay: ScriptForm = (rows) => {
  const isSpaced = isDoubleSpaced(rows);
  const dialogueAt = rows.map((_, i) => findDialogue(rows, i, isSpaced));
  const names = rows.flatMap((row, i) => (dialogueAt[i] === null ? [] : [toName(row.text)]));
  if (names.length < MIN_ROWS) return rows;
  const hasScenes = rows.some((row) => SCENE_HEADING.test(row.text));
  const returns = new Set(names).size < names.length;
  const indented = rows.filter((row, i) => {
    const dialogue = dialogueAt[i];
    return typeof dialogue === "number" && measureIndent(row.text) > measureIndent(rows[dialogue]!.text);
  }).length;
  if (!hasScenes && !returns && indented < names.length / 2) return rows;

  const out: ScriptRow[] = [];
  for (let i = 0; i < rows.length; ) {
    const row = rows[i]!;
    const dialogue = dialogueAt[i];
    if (typeof dialogue === "number") {
      const end = isSpaced ? findSpacedEnd(rows, dialogue) : findBlank(rows, dialogue);
      out.push(...readDialogue(rows.slice(dialogue, end)));
      i = Math.max(end, i + 1);
      continue;
    }
    const isHidden = SCENE_HEADING.test(row.text) || TRANSITION.test(row.text);
    out.push(isHidden || isBlank(row) ? BLANK_ROW : { ...row, optional: true });
    i++;
  }
  return out;
};

/** Returns where the dialogue below a character's name starts; null if the row is not such a name. */
function findDialogue(rows: readonly ScriptRow[], index: number, isSpaced: boolean): number | null {
  const { text } = rows[index]!;
  const isFree = isBlank(rows[index - 1]) || SCENE_HEADING.test(rows[index - 1]!.text);
  if (!isFree || !isCharacter(text)) return null;
  const at = isSpaced && isBlank(rows[index + 1]) ? index + 2 : index + 1;
  const next = rows[at];
  return !next || isBlank(next) || isCharacter(next.text) || SCENE_HEADING.test(next.text) ? null : at;
}

function isCharacter(text: string): boolean {
  if (text.length > MAX_NAME_CHARACTERS || !CHARACTER.test(text) || SCENE_HEADING.test(text) || TRANSITION.test(text))
    return false;
  return /\p{Lu}{2}/u.test(text) && !endsSentence(toName(text)) && countWords(toName(text)) <= MAX_NAME_WORDS;
}

const toName = (text: string) => text.replace(/\([^)]{0,30}\)|[@^]/g, "").trim();
const measureIndent = (text: string) => text.length - text.trimStart().length;
const isParenthetical = (text: string) => /^\s*\(.*\)\s*$/.test(text);

/** Returns whether an empty row follows each row. */
const isDoubleSpaced = (rows: readonly ScriptRow[]) =>
  rows.every((row, i) => isBlank(row) || isBlank(rows[i + 1])) && rows.some((row) => !isBlank(row));

function findBlank(rows: readonly ScriptRow[], from: number): number {
  let end = from;
  while (!isBlank(rows[end])) end++;
  return end;
}

/** If empty rows are everywhere, dialogue is one row, after those in parentheses. */
function findSpacedEnd(rows: readonly ScriptRow[], from: number): number {
  let end = from;
  while (rows[end + 2] && !isBlank(rows[end + 2]) && isParenthetical(rows[end]!.text)) end += 2;
  return end + 1;
}

function readDialogue(rows: readonly ScriptRow[]): ScriptRow[] {
  const spoken: string[] = [];
  let inParentheses = false;
  for (const { text } of rows) {
    const row = text.trim();
    if (row.startsWith("(")) inParentheses = true;
    if (!inParentheses) spoken.push(row);
    else if (row.includes(")")) {
      inParentheses = false;
      spoken.push(row.slice(row.lastIndexOf(")") + 1));
    }
  }
  // A parenthesis that never closes is not a parenthetical.
  const texts = inParentheses ? rows.map(({ text }) => text.trim()) : spoken;
  const joined = joinSentences(texts).filter((text) => text !== "");
  return joined.flatMap((text) => [{ text, optional: false }, BLANK_ROW]);
}
