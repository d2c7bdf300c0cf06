/** Parses a vocabulary file: a text file with a term a line, or a CSV file. Pure. */
import {
  cleanTerm,
  listVocabularyProblems,
  MAX_VOCABULARY_CHARACTERS,
  toFormKey,
  type VocabularyEntry,
} from "./entries";

type ParsedVocabulary = { entries: VocabularyEntry[]; problem: null } | { entries: null; problem: LineProblem };
/** `line`: null for a problem of the whole file, whose message follows its name. */
export type LineProblem = { line: number | null; message: string };

type FileRow = { line: number; fields: string[] };
/** `lines` are those of the term and of each spoken form, `forms` are the keys of the latter. */
type FileEntry = { entry: VocabularyEntry; lines: number[]; forms: Set<string> };

/** Maximum length of a file: terms, and as much again for separators and notes. A longer one is not parsed. */
export const MAX_FILE_CHARACTERS = 2 * MAX_VOCABULARY_CHARACTERS;
/** Replacement character of decoders for bytes that are not Unicode. */
const UNREADABLE = "\ufffd";

/** Names of the first column in the head of a CSV file. */
const HEADS = new Set(["term", "terms", "text", "name", "word", "vocabulary"]);

/**
 * Returns the entries of a file, at least one, or its first problem. A line of a text file is `Term` or `Term = spoken
 * form, other form`; empty lines and lines that start with # are skipped. In a CSV file with commas, semicolons or
 * tabs, the first column has the terms and the others spoken forms. A term that is repeated gets the spoken forms of
 * all its lines.
 */
export function parseVocabularyFile(text: string): ParsedVocabulary {
  if (text.length > MAX_FILE_CHARACTERS)
    return { entries: null, problem: { line: null, message: `must have at most ${MAX_FILE_CHARACTERS} characters` } };
  // Terms are written into transcripts: a guess at the encoding could be wrong in each of them.
  const unreadable = splitRows(text).find((row) => row.text.includes(UNREADABLE));
  if (unreadable)
    return {
      entries: null,
      problem: { line: unreadable.line, message: "the text is not UTF-8: save the file as UTF-8" },
    };
  const rows = isCsv(text) ? readCsv(text) : readLines(text);
  if (!Array.isArray(rows)) return { entries: null, problem: rows };
  if (rows.length === 0) return { entries: null, problem: { line: null, message: describeEmpty(text) } };
  const byKey = new Map<string, FileEntry>();
  for (const { line, fields } of rows) {
    const [term = "", ...forms] = fields.map(cleanTerm);
    if (term === "") return { entries: null, problem: { line, message: "the term is missing" } };
    const key = toFormKey(term);
    const known = byKey.get(key) ?? { entry: { text: term, spoken_as: [] }, lines: [line], forms: new Set() };
    byKey.set(key, known);
    for (const form of forms) {
      const formKey = toFormKey(form);
      if (form === "" || known.forms.has(formKey)) continue;
      known.forms.add(formKey);
      known.entry.spoken_as.push(form);
      known.lines.push(line);
    }
  }
  const found = [...byKey.values()];
  const entries = found.map(({ entry }) => entry);
  const [problem] = listVocabularyProblems(entries);
  if (!problem) return { entries, problem: null };
  const { entry, spoken, message } = problem;
  const form = entries[entry]?.spoken_as[spoken ?? -1] ?? entries[entry]?.text ?? "";
  const line = found[entry]?.lines[spoken === null ? 0 : spoken + 1] ?? 1;
  return { entries: null, problem: { line, message: `"${form.slice(0, 80)}" ${message}` } };
}

const describeEmpty = (text: string): string =>
  /^[ \t]*#/m.test(text) ? "has no terms: lines that start with # are notes" : "has no terms";

/** Returns whether the file is CSV: no line has an equals sign, and one has a quoted field or a separator. */
const isCsv = (text: string): boolean => {
  const rows = splitRows(text);
  return rows.every((row) => !row.text.includes("=")) && rows.some((row) => /[;,\t"]/.test(row.text));
};

function readLines(text: string): FileRow[] {
  return splitRows(text).flatMap(({ line, text: row }) => {
    const at = row.indexOf("=");
    return [{ line, fields: at < 0 ? [row] : [row.slice(0, at), ...row.slice(at + 1).split(",")] }];
  });
}

const splitRows = (text: string): { line: number; text: string }[] =>
  text
    .replace(/^\ufeff/, "")
    .split(/\r\n|\r|\n/)
    .map((row, i) => ({ line: i + 1, text: row.trim() }))
    .filter((row) => row.text !== "" && !row.text.startsWith("#"));

function readCsv(text: string): FileRow[] | LineProblem {
  const lines = splitRows(text);
  const separator = [";", "\t", ","].find((one) => lines.some((row) => row.text.includes(one))) ?? ",";
  const rows: FileRow[] = [];
  for (const { line, text: row } of lines) {
    const fields = splitFields(row, separator);
    if (fields === null) return { line, message: "a quotation mark is not closed" };
    if (rows.length === 0 && line === lines[0]!.line && HEADS.has(fields[0]!.trim().toLowerCase())) continue;
    rows.push({ line, fields });
  }
  return rows;
}

/** Returns the fields of a line; null if a quotation mark is not closed. */
function splitFields(row: string, separator: string): string[] | null {
  const fields: string[] = [];
  let field = "";
  let isQuoted = false;
  for (let i = 0; i < row.length; i++) {
    const character = row[i]!;
    if (isQuoted && character === '"' && row[i + 1] === '"') field += row[++i];
    else if (character === '"' && (isQuoted || field.trim() === "")) isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) {
      fields.push(field);
      field = "";
    } else field += character;
  }
  return isQuoted ? null : [...fields, field];
}
