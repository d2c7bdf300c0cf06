/** Splits words into subtitle tokens, with their width, possible line breaks, and pauses for the reader. */
import { endsPhrase, endsSentence } from "../planning/tokens";
import type { Word } from "../speech";
import type { Span } from "../time";

/** Columns of a line. Wide characters take two. */
export const MAX_LINE_COLUMNS = 42;

/** Suitability of the end of a token as the end of a cue or line. */
export type BreakStrength = "sentence" | "clause" | "phrase" | "none" | "never";

/** Text without spaces. `joinsPrevious`: no space precedes it. `breakAfter` is the break that may follow it. */
export type SubtitleToken = Span & { text: string; columns: number; joinsPrevious: boolean; breakAfter: BreakStrength };

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;
/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3001-\u303f\u30fb\u30fc\uff01-\uff60]/u;
/** Closing punctuation, which stays with the preceding text. */
const CLOSING = /^[\p{Pe}\p{Pf},.!?;:…%、。，．！？；：’]+$/u;
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\u200b\ufeff\u202a-\u202e\u2066-\u2069]+/gu;

const ABBREVIATION = /^(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|approx|jr|sr|[a-z])\.$/i;
/** Words that start a clause or a phrase. */
const PHRASE_OPENERS = new Set(
  "and but or so because that which who when where while if then than though although unless until after before as since to of in on at for from with by into about over under through between without during against".split(
    " ",
  ),
);
/** Words that belong to the following word. */
const NON_FINAL_WORDS = new Set(
  "a an the my your our his her their its this these those of to in on at for from with by and or but very not no i we he she it they you is are was were i'm we're don't can will".split(
    " ",
  ),
);

const graphemeSegmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const wordSegmenter = new Intl.Segmenter(undefined, { granularity: "word" });

export function measureColumns(text: string): number {
  let columns = 0;
  for (const { segment } of graphemeSegmenter.segment(text)) columns += WIDE.test(segment) ? 2 : 1;
  return columns;
}

/** Splits words into tokens that are at most a line wide. A word's time is divided among its tokens by width. */
export function toTokens(words: readonly Word[]): SubtitleToken[] {
  const out: SubtitleToken[] = [];
  for (const word of words) {
    const parts = word.text.toWellFormed().replace(INVISIBLE, " ").split(/\s+/u).filter(Boolean);
    const tokenTexts = parts.flatMap((part) => splitWideWord(part).map((text, i) => ({ text, isRest: i > 0 })));
    const columns = tokenTexts.map(({ text }) => measureColumns(text));
    const totalColumns = columns.reduce((sum, width) => sum + width, 0);
    let used = 0;
    for (const [i, { text, isRest }] of tokenTexts.entries()) {
      const at = (share: number) =>
        word.start + Math.round(((word.end - word.start) * share) / Math.max(1, totalColumns));
      const start = at(used);
      used += columns[i]!;
      const last = out.at(-1);
      const joinsPrevious = isRest || (last !== undefined && joinsWithoutSpace(last.text, text));
      out.push({ text, start, end: at(used), columns: columns[i]!, joinsPrevious, breakAfter: "none" });
    }
  }
  for (const [i, token] of out.entries()) token.breakAfter = getBreakAfter(token, out[i + 1]);
  return out;
}

export const joinTokens = (tokens: readonly SubtitleToken[]): string =>
  tokens.map((token, i) => (i === 0 || token.joinsPrevious ? "" : " ") + token.text).join("");

/** Splits a word that is wider than a line, or written in a script without spaces. */
function splitWideWord(text: string): string[] {
  const tokenTexts = UNSPACED.test(text) ? [...wordSegmenter.segment(text)].map(({ segment }) => segment) : [text];
  return tokenTexts.flatMap((tokenText) =>
    measureColumns(tokenText) <= MAX_LINE_COLUMNS ? [tokenText] : splitByWidth(tokenText),
  );
}

function splitByWidth(text: string): string[] {
  const out: string[] = [];
  let tokenText = "";
  for (const { segment } of graphemeSegmenter.segment(text)) {
    if (measureColumns(tokenText + segment) > MAX_LINE_COLUMNS) {
      out.push(tokenText);
      tokenText = "";
    }
    tokenText += segment;
  }
  return tokenText === "" ? out : [...out, tokenText];
}

function joinsWithoutSpace(previousText: string, text: string): boolean {
  return CLOSING.test(text) || (UNSPACED.test([...previousText].at(-1) ?? "") && UNSPACED.test([...text][0] ?? ""));
}

function getBreakAfter(token: SubtitleToken, next: SubtitleToken | undefined): BreakStrength {
  if (!next) return "sentence";
  if (CLOSING.test(next.text)) return "never";
  if (endsSentence(token.text) && !ABBREVIATION.test(token.text)) return "sentence";
  if (endsPhrase(token.text) && !ABBREVIATION.test(token.text)) return "clause";
  if (next.start - token.end >= 400_000) return "clause";
  if (NON_FINAL_WORDS.has(token.text.toLowerCase())) return "none";
  return PHRASE_OPENERS.has(next.text.toLowerCase()) ? "phrase" : "none";
}
