/** Labels in front of lines: the speaker, a visual, a sound effect. */
import {
  BLANK_ROW,
  countWords,
  endsSentence,
  FEW,
  isBlank,
  MANY,
  MAX_BLOCK_ROWS,
  MAX_NAME_CHARACTERS,
  MIN_ROWS,
  NEARLY_ALL,
  type ScriptForm,
  type ScriptRow,
} from "./script-row";

/** Returns the length of a speaker label such as `ANNA:`, `Host 2:` or `Dr. Smith (V.O.):`, or 0. */
export function measureSpeakerLabel(text: string): number {
  const match = /^([\p{Lu}][\p{L}\p{N}.'-]*(?:\s+[\p{Lu}\d][\p{L}\p{N}.'-]*){0,2})(?:\s*\([^)]*\))?\s*:\s+/u.exec(text);
  if (!match) return 0;
  const name = match[1]!;
  const capitals = name === name.toUpperCase() && /\p{L}{2}/u.test(name);
  const role = /^(?:host|guest|speaker|narrator|interviewer|presenter|anchor|voice ?over|moderator|caller)\b/i.test(
    name,
  );
  return capitals || role ? match[0].length : 0;
}

/** A name of up to four words with a colon, possibly in bold and with a direction in parentheses. */
const NAME =
  /^\s*(?:[-*•]\s{1,3})?[*_[]{0,3}(\p{Lu}[\p{L}\p{N}.'’&/-]{0,30}(?:\s[\p{L}\p{N}.'’&/-]{1,30}){0,3})[\]*_]{0,3}\s{0,3}(?:[([][^)\]]{0,60}[)\]])?\s{0,3}[*_]{0,3}:[*_]{0,3}(?=\s|$)\s*(?:[([][^)\]]{0,120}[)\]]\s*)?/u;
const SPOKEN_LABELS =
  /^(?:audio|vo|v\.o\.?|voice ?-?over|narration|narrator|dialog(?:ue)?|say|spoken|script|voice|host|presenter|sprecher|voix off)\b/i;
const HIDDEN_LABELS =
  /^(?:sfx|fx|sound effects?|sound|music|visuals?|video|picture|image|b-?roll|graphics?|gfx|on[ -]?screen(?: text)?|text on screen|screen|lower third|super|title card|chyron|camera|shot|cut to|cut|fade in|fade out|transition|location|setting|duration|length|runtime|run time|time|timing|title|subtitle|date|author|writer|version|client|project|producer|director|episode|draft|format|scene|action|props?|wardrobe|lighting|notes?|directions?|slides?|bild|musik|ton|image|musique|status)$/i;
/** Words with a colon that start sentences, and are read aloud. */
const SPOKEN_WORDS =
  /^(?:tip|warning|step|question|answer|example|remember|rule|fact|myth|problem|solution|first|second|third|finally|result|reason|bonus|hint|important|summary|chapter|part|day|week|lesson|number|option|so|but|and|also|next|then|plus|now|today|here|again|point)\b/i;

/** Removes visuals, notes about the script, and speaker names in any case. Evidence: several rows have such labels. */
export const removeLabels: ScriptForm = (rows) => {
  const names = rows.map((row) => NAME.exec(row.text)?.[1] ?? null);
  const hidden = findHiddenRows(rows, names);
  const areSpeakers = hasSpeakers(rows, names, hidden);
  if (!areSpeakers && !hidden.includes(true)) return rows;
  const hasDirections = hidden.includes(true);
  return rows.flatMap((row, i): ScriptRow[] => {
    if (hidden[i]) return [BLANK_ROW];
    const name = names[i];
    if (!name || SPOKEN_WORDS.test(name)) return [row];
    const isSpeaker = areSpeakers || (hasDirections && SPOKEN_LABELS.test(name)) || isCapitals(name);
    return isSpeaker ? [BLANK_ROW, { ...row, text: row.text.replace(NAME, "") }] : [row];
  });
};

const isCapitals = (name: string) => name === name.toUpperCase() && /\p{Lu}{2}/u.test(name);

/** Returns which rows have the label of something that is only visible, or of a fact about the script. */
function findHiddenRows(rows: readonly ScriptRow[], names: readonly (string | null)[]): boolean[] {
  const labeled = names.map((name) => name !== null && HIDDEN_LABELS.test(name));
  const filled = rows.flatMap((row, i) => (isBlank(row) ? [] : [i]));
  let metadata = 0;
  while (labeled[filled[metadata]!]) metadata++;
  const count = labeled.filter(Boolean).length;
  const hasSpoken = names.some((name) => name !== null && SPOKEN_LABELS.test(name));
  const isProduction = count > 0 && (hasSpoken || names.some((name, i) => labeled[i] && isCapitals(name!)));
  // Prose does not have several of them in a row.
  if (isProduction || (count >= MIN_ROWS && count >= MANY * filled.length)) return labeled;
  const head = new Set(metadata >= MIN_ROWS ? filled.slice(0, metadata) : []);
  return labeled.map((_, i) => head.has(i));
}

/** Returns whether the labels are names: two or more that recur, or one on most rows. */
function hasSpeakers(
  rows: readonly ScriptRow[],
  names: readonly (string | null)[],
  hidden: readonly boolean[],
): boolean {
  const labels = names.filter((name, i) => name !== null && !hidden[i]).map((name) => name!.toLowerCase());
  if (labels.length < MIN_ROWS || labels.some((label) => SPOKEN_WORDS.test(label))) return false;
  const filled = rows.filter((row, i) => !isBlank(row) && !hidden[i]).length;
  if (labels.length < MANY * filled) return false;
  const distinct = new Set(labels).size;
  if (distinct === 1) return labels.length >= FEW;
  return distinct * 2 <= labels.length + 1 || labels.length === filled;
}

const MAX_HEADING_WORDS = 8;

/** Removes the front matter between `---` at the start. Evidence: rows are key-value pairs, list items or indented. */
export const removeFrontMatter: ScriptForm = (rows) => {
  if (rows[0]?.text.trim() !== "---") return rows;
  const end = rows.slice(1, MAX_BLOCK_ROWS).findIndex((row) => row.text.trim() === "---") + 1;
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
  const isPunctuated = lastRows.length >= MIN_ROWS && ending >= NEARLY_ALL * lastRows.length;
  const isDivided = isPunctuated || hasLongParagraphs(rows);
  const isHeading = rows.map((row, i) => {
    if (!isShort(row.text)) return false;
    if (NAMED.test(row.text.trim())) return true;
    if (!isBlank(rows[i - 1])) return false;
    if (isUnderlined[i]) return true;
    if (!isBlank(rows[i + 1])) return isPunctuated && isCapitals(row.text);
    return isDivided && rows.slice(i + 1, i + 1 + FEW).some((next) => !isBlank(next));
  });
  if (!isHeading.includes(true)) return rows;
  return rows.flatMap((row, i) => (isHeading[i] ? [{ ...row, optional: true }, BLANK_ROW] : [row]));
};

/** Returns whether the paragraphs other than short rows have several rows each. */
function hasLongParagraphs(rows: readonly ScriptRow[]): boolean {
  const starts = rows.flatMap((row, i) => (!isBlank(row) && isBlank(rows[i - 1]) ? [i] : []));
  const long = starts.filter((i) => !isBlank(rows[i + 1])).length;
  const single = starts.filter((i) => isBlank(rows[i + 1]) && !isShort(rows[i]!.text)).length;
  return long >= MIN_ROWS && single === 0;
}

/** Returns whether a row can be a heading: a few words that do not end like a sentence or a clause. */
function isShort(text: string): boolean {
  const row = text.trim();
  if (row === "" || row.length > MAX_NAME_CHARACTERS || countWords(row) > MAX_HEADING_WORDS) return false;
  return !endsSentence(row) && !/[,;:–—-]$/.test(row.replace(/:$/, "")) && /\p{L}/u.test(row);
}
