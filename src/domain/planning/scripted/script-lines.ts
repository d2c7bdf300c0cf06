/** Parses a script as people write it into the lines to be spoken. */

import type { Transcript, Word } from "../../speech";
import { normalizeWords, toSpokenText } from "../../text/normalize";
import type { AudioActivity } from "../audio-activity";
import type { PlanContext } from "../context";
import type { Lexicon } from "../lexicon/lexicon";
import { COMMON } from "../thresholds";
import type { Token } from "../tokens";
import { markHeadings, measureSpeakerLabel, removeFrontMatter, removeLabels } from "./script-forms/labels";
import { readScreenplay } from "./script-forms/screenplay";
import { endsSentence, MAX_SENTENCE_WORDS, type ScriptForm, type ScriptRow } from "./script-forms/script-row";
import { readTables } from "./script-forms/tables";
import { readSubtitleCues, removeCueNumbers, removeTimecodes } from "./script-forms/timecodes";

/**
 * A line to be spoken: a sentence or a long clause. `text` is as written, `spoken` contains its readings for forced
 * alignment (at least one), `words` its normalized words (at least one). `optional` lines (headings, asides in
 * brackets) may be spoken or not. Lines of one paragraph have the same number.
 */
export type ScriptLine = { text: string; spoken: string[]; words: string[]; optional: boolean; paragraph?: number };

/** Returns the lines of a script; none if it is blank or has nothing to be spoken. */
export function parseScript(script: string, language: string | null = null): ScriptLine[] {
  const lines: ScriptLine[] = [];
  for (const [number, paragraph] of splitParagraphs(script).entries()) {
    for (const sentence of splitSentences(paragraph.text)) {
      for (const part of divideSentence(sentence, language)) {
        const words = normalizeWords(part, language);
        if (words.length === 0) continue;
        const plain = toSpokenText(part, false);
        const spelled = toSpokenText(part, true);
        const spoken = /[\d%&$€£°+@]/.test(part) && spelled !== plain ? [plain, spelled] : [plain];
        lines.push({ text: part, spoken, words, optional: paragraph.optional, paragraph: number });
      }
    }
  }
  return lines;
}

type ScriptParagraph = { text: string; optional: boolean };

/** Removes the additions of script forms, then markup row by row. Unwraps wrapped text, or else keeps rows apart. */
function splitParagraphs(script: string): ScriptParagraph[] {
  const out: ScriptParagraph[] = [];
  const rows = readScriptRows(script);
  const wrapped = findWrappedRows(rows.map((row) => row.text));
  let before: string | null = null;
  for (const [i, { text: raw, optional }] of rows.entries()) {
    const line = parseRow(raw, optional);
    const last = out.at(-1);
    const continues = before !== null && line && last && !last.optional && !line.optional && !line.starts;
    if (continues && wrapped[i]) last.text += ` ${line.text}`;
    else if (line) out.push({ text: line.text, optional: line.optional });
    before = line ? raw : null;
  }
  return out;
}

/** Returns for each row whether it continues the previous one, which was wrapped before the next word. */
function findWrappedRows(rows: readonly string[]): boolean[] {
  const wrapped: boolean[] = [];
  while (wrapped.length < rows.length) {
    const first = wrapped.length;
    let end = first;
    while (end < rows.length && rows[end]!.trim() !== "") end++;
    const wrappedBlock = isWrapped(rows.slice(first, end).map((row) => row.trimEnd()));
    for (let i = first; i < end; i++) wrapped.push(wrappedBlock);
    if (end < rows.length) wrapped.push(false);
  }
  return wrapped;
}

/** Returns whether the rows between two empty ones are wrapped at a column. Rows that all end sentences are lines. */
function isWrapped(rows: readonly string[]): boolean {
  if (rows.every((row) => endsSentence(row) && !TITLE.test(row.slice(-MAX_ABBREVIATION_CHARACTERS)))) return false;
  const column = rows.reduce((max, row) => Math.max(max, row.length), 0);
  if (column < 30 || column > 130) return false;
  return rows.slice(1).every((next, k) => {
    const word = /^\S+/.exec(next.trim())?.[0] ?? "";
    return rows[k]!.length + 1 + word.length > column;
  });
}

const DIRECTION =
  /\((?:pause|beat|music|laughs?|laughter|sighs?|smiles?|smiling|cut to|fade|b-?roll|sfx|vo|v\.o\.|o\.s\.|cont'?d|on screen|off screen|applause|whispers?|clears throat|looks?|points?|holds? up|shows?|title|intro|outro|slide|screen|camera|zoom)\b[^)]{0,300}\)/gi;

/** Returns a row without markup; null if none of it is spoken. `starts`: its markup starts a new paragraph. */
function parseRow(raw: string, optional: boolean): (ScriptParagraph & { starts: boolean }) | null {
  let text = raw.trim();
  if (/^(?:-{3,}|\*{3,}|_{3,}|={3,}|```.*|~~~.*)$/.test(text)) return null;
  const heading = /^#{1,6}\s/.test(text);
  const bullet = /^(?:[-*+•‣▪◦–—]|\d{1,3}[.)]|[a-z][)])\s+/i.exec(text);
  text = text.replace(/^#{1,6}\s+/, "").replace(/^>+\s*/, "");
  if (bullet) text = text.slice(bullet[0].length).replace(/^\[[ xX]\]\s*/, "");
  text = text
    // Bounded quantifiers: text that opens many brackets and closes none would take quadratic time.
    .replace(/<!--.{0,500}?-->/g, " ")
    .replace(/<[^<>]*>/g, " ")
    .replace(/!?\[([^\]]{0,500})\]\([^)]{0,500}\)/g, "$1")
    .replace(/\[[^\]]{0,500}\]|\{[^}]{0,500}\}/g, " ")
    .replace(DIRECTION, " ")
    .replace(/(\*\*|__|~~|==)(.{1,500}?)\1/g, "$2")
    .replace(/(^|\s)[*_](\S(?:.{0,500}?\S)?)[*_](?=$|[\s.,!?;:])/g, "$1$2")
    .replace(/`([^`]*)`/g, "$1");
  const speaker = measureSpeakerLabel(text);
  text = text.slice(speaker).trim();
  const aside = /^\(.*\)[.!?]?$/.test(text);
  if (aside) text = text.replace(/^\(|\)[.!?]?$/g, "");
  if (!/[\p{L}\p{N}]/u.test(text)) return null;
  return {
    text: text.replace(/\s+/g, " ").trim(),
    optional: optional || heading || aside,
    starts: bullet !== null || speaker > 0 || heading,
  };
}

const ABBREVIATED =
  /(?:^|[\s("'])(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|approx|min|max|fig|inc|ltd|jr|sr|[\p{L}])\.$/iu;

const TITLE = /(?:^|\s)(?:mr|mrs|ms|dr|prof|st)\.$/i;
/** A lower-case letter before a capital ends a sentence: "This is plan a. Then we go." */
const INITIAL = /(?:^|\s)\p{Lu}\.$/u;

/** Including the character that may precede it. */
const MAX_ABBREVIATION_CHARACTERS = 10;

/** Returns the sentences of a paragraph with their punctuation. */
function splitSentences(text: string): string[] {
  const out: string[] = [];
  let from = 0;
  for (const end of text.matchAll(
    /(?<![.!?…。！？])[.!?…。！？]+["'”’)\]]*(?=\s|$|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana})/gu,
  )) {
    const until = end.index + end[0].length;
    const sentence = text.slice(from, until);
    // Spaces are single here, and no abbreviation is longer.
    const [last, next] = [
      sentence.slice(-MAX_ABBREVIATION_CHARACTERS),
      text.slice(until, until + MAX_ABBREVIATION_CHARACTERS).trimStart(),
    ];
    if (end[0] === "." && ABBREVIATED.test(last) && next !== "" && !/^["'“(]?\p{Lu}/u.test(next)) continue;
    if (end[0] === "." && (TITLE.test(last) || INITIAL.test(last)) && next !== "") continue;
    out.push(sentence.trim());
    from = until;
  }
  out.push(text.slice(from).trim());
  return out.filter((sentence) => sentence !== "");
}

/**
 * Divides a sentence into short enough parts, at the punctuation nearest to the middle or between words: a recognizer
 * takes at most half a minute at a time.
 */
function divideSentence(sentence: string, language: string | null): string[] {
  if (normalizeWords(sentence, language).length <= MAX_SENTENCE_WORDS) return [sentence];
  const middle = sentence.length / 2;
  const nearest = (pattern: RegExp) =>
    [...sentence.matchAll(pattern)]
      .map((match) => match.index + match[0].length)
      .filter((at) => Math.abs(at - middle) < 0.3 * sentence.length)
      .sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0];
  const at = nearest(/[;:,、，]["'”’)]*\s*|\s[–—-]\s/g) ?? nearest(/\s+/g) ?? Math.floor(middle);
  return [sentence.slice(0, at), sentence.slice(at)].flatMap((part) => divideSentence(part.trim(), language));
}

/** Divides each word that the other side always writes as two words. */
export function splitCompounds(
  lines: readonly ScriptLine[],
  tokens: readonly Token[],
): { lines: ScriptLine[]; tokens: Token[] } {
  const inTranscript = findWordPairs([tokens.map((token) => token.normal)]);
  const inScript = findWordPairs(lines.map((line) => line.words));
  return {
    lines: lines.map((line) => ({ ...line, words: line.words.flatMap((word) => inTranscript.get(word) ?? [word]) })),
    tokens: tokens.flatMap((token) => {
      const parts = inScript.get(token.normal);
      if (!parts) return [token];
      const middle = Math.round(token.start + ((token.end - token.start) * parts[0].length) / token.normal.length);
      return [
        { ...token, normal: parts[0], end: middle },
        { ...token, normal: parts[1], start: middle },
      ];
    }),
  };
}

/** Returns the two parts of each compound that the texts write only as two adjacent words. */
function findWordPairs(texts: readonly (readonly string[])[]): Map<string, [string, string]> {
  const single = new Set(texts.flat());
  const pairs = new Map<string, [string, string]>();
  for (const text of texts) {
    for (let i = 1; i < text.length; i++) {
      const compound = text[i - 1]! + text[i]!;
      if (compound.length >= COMMON.longWordCharacters && !single.has(compound))
        pairs.set(compound, [text[i - 1]!, text[i]!]);
    }
  }
  return pairs;
}

export type ScriptedContext = PlanContext & { lines: ScriptLine[]; transcript: Transcript };

/** The transcript's words (sorted) and their tokens, the audio activity, and the lines of the script. */
export type ScriptedRecording = {
  words: Word[];
  tokens: Token[];
  activity: AudioActivity;
  lines: ScriptLine[];
  lexicon: Lexicon;
};

const FORMS: readonly ScriptForm[] = [
  removeFrontMatter,
  readSubtitleCues,
  readScreenplay,
  readTables,
  removeTimecodes,
  removeCueNumbers,
  removeLabels,
  markHeadings,
];

/** Returns the rows of a script that may be spoken, without the additions of its forms. Prose is unchanged. */
export function readScriptRows(script: string): readonly ScriptRow[] {
  const plain = script
    .normalize("NFKC")
    .replace(/\r\n?|[\v\f\u2028\u2029]/g, "\n")
    .replace(/[\u200B-\u200F\u202A-\u202E\uFEFF]/g, "");
  const rows = plain.split("\n").map((text): ScriptRow => ({ text, optional: false }));
  return FORMS.reduce<readonly ScriptRow[]>((current, form) => form(current), rows);
}
