/** Headings without markup, and the front matter of a document. */
import { BLANK_ROW, countWords, endsSentence, isBlank, type ScriptForm, type ScriptRow } from "./script-row";

const MAX_HEADING_WORDS = 8;
const MAX_HEADING_CHARACTERS = 80;
const MAX_FRONT_MATTER_ROWS = 40;
/** Minimum share of longer paragraphs that end like sentences for a row without an end to be a heading. */
const MIN_ENDING_SHARE = 0.8;
const MIN_PARAGRAPHS = 2;

/** Removes the front matter between `---` at the start. Evidence: rows are key-value pairs, list items or indented. */
export const removeFrontMatter: ScriptForm = (rows) => {
  if (rows[0]?.text.trim() !== "---") return rows;
  const end = rows.slice(1, MAX_FRONT_MATTER_ROWS).findIndex((row) => row.text.trim() === "---") + 1;
  const isField = (text: string) => /^(?:[\w-]{1,40}\s{0,3}:(?:\s|$)|\s|-\s|#)/.test(text);
  if (end <= 1 || !rows.slice(1, end).every((row) => isBlank(row) || isField(row.text))) return rows;
  return rows.map((row, i) => (i <= end ? BLANK_ROW : row));
};

/** Matches a row such as `Part 2` or `Introduction`, regardless of the other rows. */
const NAMED =
  /^(?:(?:part|chapter|section|act|lesson|module|unit|teil|kapitel|partie|chapitre|parte|cap[ií]tulo)\s(?:\d{1,3}|[ivx]{1,5}|one|two|three|four|five|six|seven|eight|nine|ten)|intro(?:duction)?|outro|conclusion|summary|recap|hook|teaser|call to action|cta)\s?:?$/i;

/**
 * Makes headings optional. Evidence: the paragraphs end like sentences, and a short separate row does not; or, without
 * punctuation, the other paragraphs have several rows; or the row is the name of a part.
 */
export const markHeadings: ScriptForm = (rows) => {
  const isUnderlined = rows.map(
    (row, i) => isShort(row.text) && /^\s*(?:={3,}|-{3,})\s*$/.test(rows[i + 1]?.text ?? ""),
  );
  const lastRows = rows.filter((row, i) => !isBlank(row) && isBlank(rows[i + 1]) && !isShort(row.text));
  const ending = lastRows.filter((row) => endsSentence(row.text)).length;
  const isPunctuated = lastRows.length >= MIN_PARAGRAPHS && ending >= MIN_ENDING_SHARE * lastRows.length;
  const isDivided = isPunctuated || hasLongParagraphs(rows);
  const isHeading = rows.map((row, i) => {
    if (!isShort(row.text)) return false;
    if (NAMED.test(row.text.trim())) return true;
    if (!isBlank(rows[i - 1])) return false;
    if (isUnderlined[i]) return true;
    if (!isBlank(rows[i + 1])) return isPunctuated && isCapitals(row.text);
    return isDivided && rows.slice(i + 1, i + 4).some((next) => !isBlank(next));
  });
  if (!isHeading.includes(true)) return rows;
  return rows.flatMap((row, i) => (isHeading[i] ? [{ ...row, optional: true }, BLANK_ROW] : [row]));
};

/** Returns whether the paragraphs other than short rows have several rows each. */
function hasLongParagraphs(rows: readonly ScriptRow[]): boolean {
  const starts = rows.flatMap((row, i) => (!isBlank(row) && isBlank(rows[i - 1]) ? [i] : []));
  const long = starts.filter((i) => !isBlank(rows[i + 1])).length;
  const single = starts.filter((i) => isBlank(rows[i + 1]) && !isShort(rows[i]!.text)).length;
  return long >= MIN_PARAGRAPHS && single === 0;
}

/** Returns whether a row can be a heading: a few words that do not end like a sentence or a clause. */
function isShort(text: string): boolean {
  const row = text.trim();
  if (row === "" || row.length > MAX_HEADING_CHARACTERS || countWords(row) > MAX_HEADING_WORDS) return false;
  return !endsSentence(row) && !/[,;:–—-]$/.test(row.replace(/:$/, "")) && /\p{L}/u.test(row);
}

const isCapitals = (text: string) => text === text.toUpperCase() && /\p{Lu}{2}/u.test(text);
