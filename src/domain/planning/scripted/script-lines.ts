/** A script as people write it, turned into the lines that are to be spoken. */
import { normalWords, spokenText } from "../../text/normal";

/**
 * One line to be spoken: a sentence or a long clause. `text` is what the writer wrote, `spoken` the readings to hold against the
 * sound (at least one), `words` its normal words (at least one). `optional` lines (headings, asides in brackets) may be spoken or not.
 */
export type ScriptLine = { text: string; spoken: string[]; words: string[]; optional: boolean };

/** Longer sentences are divided at their punctuation: a recogniser hears at most half a minute at once. */
const LONGEST_LINE_WORDS = 30;

/** Parses a script. Blank, or nothing in it to be spoken: no lines. */
export function parseScript(script: string, language: string | null = null): ScriptLine[] {
  const lines: ScriptLine[] = [];
  for (const paragraph of paragraphs(script)) {
    for (const sentence of sentences(paragraph.text)) {
      for (const part of divide(sentence, language)) {
        const words = normalWords(part, language);
        if (words.length === 0) continue;
        const plain = spokenText(part, false);
        const spelled = spokenText(part, true);
        const spoken = /[\d%&$€£°+@]/.test(part) && spelled !== plain ? [plain, spelled] : [plain];
        lines.push({ text: part, spoken, words, optional: paragraph.optional });
      }
    }
  }
  return lines;
}

type Paragraph = { text: string; optional: boolean };

/** Undoes markup line by line. A file that was wrapped at a column is unwrapped; else each line of it begins anew. */
function paragraphs(script: string): Paragraph[] {
  const out: Paragraph[] = [];
  const rows = script.replace(/\r\n?/g, "\n").split("\n");
  const wrapped = wrappedRows(rows);
  let before: string | null = null;
  for (const [i, raw] of rows.entries()) {
    const line = plainLine(raw);
    const last = out.at(-1);
    const goesOn = before !== null && line && last && !last.optional && !line.optional && !line.starts;
    if (goesOn && wrapped[i]) last.text += ` ${line.text}`;
    else if (line) out.push({ text: line.text, optional: line.optional });
    before = line ? raw : null;
  }
  return out;
}

/** Of each row whether it goes on with the sentence of the row before, which was only broken because its first word did not fit there. */
function wrappedRows(rows: readonly string[]): boolean[] {
  const wrapped: boolean[] = [];
  while (wrapped.length < rows.length) {
    const first = wrapped.length;
    let end = first;
    while (end < rows.length && rows[end]!.trim() !== "") end++;
    const answer = isWrapped(rows.slice(first, end).map((row) => row.trimEnd()));
    for (let i = first; i < end; i++) wrapped.push(answer);
    if (end < rows.length) wrapped.push(false);
  }
  return wrapped;
}

/** Whether the rows between two empty ones are broken at a column. */
function isWrapped(rows: readonly string[]): boolean {
  const column = rows.reduce((most, row) => Math.max(most, row.length), 0);
  if (column < 30 || column > 130) return false;
  return rows.slice(1).every((next, k) => {
    const word = /^\S+/.exec(next.trim())?.[0] ?? "";
    return rows[k]!.length + 1 + word.length > column;
  });
}

const DIRECTION =
  /\((?:pause|beat|music|laughs?|laughter|sighs?|smiles?|smiling|cut to|fade|b-?roll|sfx|vo|v\.o\.|o\.s\.|cont'?d|on screen|off screen|applause|whispers?|clears throat|looks?|points?|holds? up|shows?|title|intro|outro|slide|screen|camera|zoom)\b[^)]{0,300}\)/gi;

/** One line of the file without its markup; null when nothing of it is spoken. `starts`: the markup says that it begins something new. */
function plainLine(raw: string): (Paragraph & { starts: boolean }) | null {
  let text = raw
    .normalize("NFKC")
    .replace(/[\u200B-\u200F\u2028-\u202E\uFEFF]/g, "")
    .trim();
  if (/^(?:-{3,}|\*{3,}|_{3,}|={3,}|```.*|~~~.*)$/.test(text)) return null;
  const heading = /^#{1,6}\s/.test(text);
  const bullet = /^(?:[-*+•‣▪◦–—]|\d{1,3}[.)]|[a-z][)])\s+/i.exec(text);
  text = text.replace(/^#{1,6}\s+/, "").replace(/^>+\s*/, "");
  if (bullet) text = text.slice(bullet[0].length).replace(/^\[[ xX]\]\s*/, "");
  text = text
    // None of these looks further than some lines of text: what is opened again and again and never closed would take for ever.
    .replace(/<!--.{0,500}?-->/g, " ")
    .replace(/<[^<>]*>/g, " ")
    .replace(/!?\[([^\]]{0,500})\]\([^)]{0,500}\)/g, "$1")
    .replace(/\[[^\]]{0,500}\]|\{[^}]{0,500}\}/g, " ")
    .replace(DIRECTION, " ")
    .replace(/(\*\*|__|~~|==)(.{1,500}?)\1/g, "$2")
    .replace(/(^|\s)[*_](\S(?:.{0,500}?\S)?)[*_](?=$|[\s.,!?;:])/g, "$1$2")
    .replace(/`([^`]*)`/g, "$1");
  const speaker = speakerName(text);
  text = text.slice(speaker).trim();
  const aside = /^\(.*\)[.!?]?$/.test(text);
  if (aside) text = text.replace(/^\(|\)[.!?]?$/g, "");
  if (!/[\p{L}\p{N}]/u.test(text)) return null;
  return {
    text: text.replace(/\s+/g, " ").trim(),
    optional: heading || aside,
    starts: bullet !== null || speaker > 0 || heading,
  };
}

/** The length of a speaker's name with its colon at the beginning of a line, or 0: `ANNA:`, `Host 2:`, `Dr. Smith (V.O.):`. */
function speakerName(text: string): number {
  const match = /^([\p{Lu}][\p{L}\p{N}.'-]*(?:\s+[\p{Lu}\d][\p{L}\p{N}.'-]*){0,2})(?:\s*\([^)]*\))?\s*:\s+/u.exec(text);
  if (!match) return 0;
  const name = match[1]!;
  const capitals = name === name.toUpperCase() && /\p{L}{2}/u.test(name);
  const role = /^(?:host|guest|speaker|narrator|interviewer|presenter|anchor|voice ?over|moderator|caller)\b/i.test(
    name,
  );
  return capitals || role ? match[0].length : 0;
}

const ABBREVIATED =
  /(?:^|[\s("'])(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|approx|min|max|fig|inc|ltd|jr|sr|[\p{L}])\.$/iu;

/** With what may stand before it. */
const LONGEST_ABBREVIATION = 10;

/** The sentences of a paragraph, each with its closing marks. */
function sentences(text: string): string[] {
  const out: string[] = [];
  let from = 0;
  for (const end of text.matchAll(
    /(?<![.!?…。！？])[.!?…。！？]+["'”’)\]]*(?=\s|$|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana})/gu,
  )) {
    const until = end.index + end[0].length;
    const sentence = text.slice(from, until);
    // Spaces are single here, and no abbreviation is longer.
    const [last, next] = [sentence.slice(-LONGEST_ABBREVIATION), text.slice(until, until + 3).trimStart()];
    if (end[0] === "." && ABBREVIATED.test(last) && next !== "" && !/^["'“(]?\p{Lu}/u.test(next)) continue;
    if (end[0] === "." && /(?:^|\s)(?:mr|mrs|ms|dr|prof|st|\p{L})\.$/iu.test(last) && next !== "") continue;
    out.push(sentence.trim());
    from = until;
  }
  out.push(text.slice(from).trim());
  return out.filter((sentence) => sentence !== "");
}

/** A sentence in parts that are short enough, divided at the punctuation nearest to the middle, else between words. */
function divide(sentence: string, language: string | null): string[] {
  if (normalWords(sentence, language).length <= LONGEST_LINE_WORDS) return [sentence];
  const middle = sentence.length / 2;
  const nearest = (pattern: RegExp) =>
    [...sentence.matchAll(pattern)]
      .map((match) => match.index + match[0].length)
      .filter((at) => at > sentence.length * 0.2 && at < sentence.length * 0.8)
      .sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0];
  const at = nearest(/[;:,、，]["'”’)]*\s*|\s[–—-]\s/g) ?? nearest(/\s+/g) ?? Math.floor(middle);
  return [sentence.slice(0, at), sentence.slice(at)].flatMap((part) => divide(part.trim(), language));
}
