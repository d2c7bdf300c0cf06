/** The rows of a script, as the forms process them. */

/** A row of a script. `optional`: it may be spoken or not. A row without text separates paragraphs. */
export type ScriptRow = { text: string; optional: boolean };

/** Removes unspoken text from a script of one form. Returns the rows unchanged if the document has another form. */
export type ScriptForm = (rows: readonly ScriptRow[]) => readonly ScriptRow[];

/** Rows `[from, to)` of a script that form a table, with its cells. `header`: the first row names the columns. */
export type ScriptTable = { from: number; to: number; cells: string[][]; header: boolean };

/** Number of rows, words and steps that are evidence of a form. A single one may be a coincidence. */
export const MIN_ROWS = 2;
export const FEW = 3;
/** Shares of the rows of a document or a table, or of the cells of a column. */
export const [SOME, MANY, MOST, NEARLY_ALL, ALMOST_ALL] = [0.1, 0.4, 0.6, 0.75, 0.9];
/** Longer headers are sentences. */
export const MAX_NAME_WORDS = 4;
export const MAX_NAME_CHARACTERS = 100;
/** Front matter and quoted cells have fewer rows. */
export const MAX_BLOCK_ROWS = 40;

export const BLANK_ROW: ScriptRow = { text: "", optional: false };

export const isBlank = (row: ScriptRow | undefined): boolean => !row || row.text.trim() === "";

/** Sentences are recognized by their last characters. */
const ENDING_CHARACTERS = 8;

export const endsSentence = (text: string): boolean =>
  /[.!?…。！？]["'”’)\]*_]{0,4}$/.test(text.slice(-ENDING_CHARACTERS).trimEnd());

/** Counts words that are separated by spaces. */
export function countWords(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(/\S+/g)) count++;
  return count;
}

/** Times in a script: `0:12`, `00:12`, `00:00:12`, `00:00:12:05`, `00:00:12.500`. */
export const TIMECODE = String.raw`(?:\d{1,2}:)?\d{1,3}:[0-5]\d(?:[:;.,]\d{1,3})?`;

/** Maximum length of sentences. Text with fewer ends has no punctuation. */
export const MAX_SENTENCE_WORDS = 30;

/** Returns whether sentences end in punctuation, so that a text without it continues in the next one. */
export function isPunctuated(texts: readonly string[]): boolean {
  let words = 0;
  let ends = 0;
  for (const text of texts) {
    words += countWords(text);
    for (const _ of text.matchAll(/[.!?…。！？](?=\s|$|["'”’)])/g)) ends++;
  }
  return ends > 0 && ends * MAX_SENTENCE_WORDS >= words;
}

/**
 * Joins cells or cues across which a sentence continues. Returns a text for each input, empty if it was joined to the
 * previous one. Texts without sentence punctuation are not joined.
 */
export function joinSentences(texts: readonly string[]): string[] {
  const out = texts.map((text) => text.trim());
  if (!isPunctuated(out)) return out;
  const parts: string[][] = out.map((text) => (text === "" ? [] : [text]));
  let open: string[] | null = null;
  for (const [i, text] of out.entries()) {
    if (text === "") continue;
    const own = parts[i]!;
    if (open && !startsParagraph(text) && !isTitleBefore(open, text)) {
      open.push(text);
      parts[i] = [];
    } else open = own;
    if ((endsSentence(text) && !ABBREVIATED.test(text.slice(-ENDING_CHARACTERS))) || /^[[(].*[\])]$/.test(text))
      open = null;
  }
  return parts.map((part) => part.join(" "));
}

const ABBREVIATED = /(?:^|[\s("'])(?:mr|mrs|ms|dr|prof|st|vs)\.$/i;

/** Returns whether the text so far is a few words without an end before a text that starts like a sentence. */
const isTitleBefore = (open: readonly string[], text: string) =>
  open.length === 1 && countWords(open[0]!) <= FEW && !endsSentence(open[0]!) && /^["'“(]?\p{Lu}/u.test(text);

const startsParagraph = (text: string) => /^(?:[-–—•*]\s|[[(]|\p{Lu}[\p{L}\p{N} .'-]{0,30}:\s)/u.test(text);
