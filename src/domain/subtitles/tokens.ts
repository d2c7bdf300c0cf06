/** Words as pieces of a subtitle line: how wide they are, where they may be parted, and where a reader would pause. */
import { endsPhrase, endsSentence } from "../planning/tokens";
import type { Word } from "../speech";
import type { Span } from "../time";

/** Columns of a line. Wide characters take two. */
export const MAX_LINE_COLUMNS = 42;

/** How well a cue or a line may end behind a piece. */
export type BreakStrength = "sentence" | "clause" | "phrase" | "none" | "never";

/** A piece of text without spaces. `glued`: no space in front of it. `pause`: what may come behind it. */
export type SubtitleToken = Span & { text: string; columns: number; joinsPrevious: boolean; breakAfter: BreakStrength };

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;
/** Scripts written without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3001-\u303f\u30fb\u30fc\uff01-\uff60]/u;
/** Nothing but signs that close: they stay with what is before them. */
const CLOSING = /^[\p{Pe}\p{Pf},.!?;:…%、。，．！？；：’]+$/u;
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\u200b\ufeff\u202a-\u202e\u2066-\u2069]+/gu;

const ABBREVIATION = /^(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|approx|jr|sr|[a-z])\.$/i;
/** A clause or a phrase begins with these. */
const PHRASE_OPENERS = new Set(
  "and but or so because that which who when where while if then than though although unless until after before as since to of in on at for from with by into about over under through between without during against".split(
    " ",
  ),
);
/** What follows these belongs to them. */
const NON_FINAL_WORDS = new Set(
  "a an the my your our his her their its this these those of to in on at for from with by and or but very not no i we he she it they you is are was were i'm we're don't can will".split(
    " ",
  ),
);

const graphemeSegmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const wordSegmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/** The columns of a text. */
export function measureColumns(text: string): number {
  let columns = 0;
  for (const { segment } of graphemeSegmenter.segment(text)) columns += WIDE.test(segment) ? 2 : 1;
  return columns;
}

/** The pieces of words in a row. A piece is never wider than a line; the time of a word is divided among its pieces by width. */
export function toTokens(words: readonly Word[]): SubtitleToken[] {
  const out: SubtitleToken[] = [];
  for (const word of words) {
    const parts = word.text.toWellFormed().replace(INVISIBLE, " ").split(/\s+/u).filter(Boolean);
    const pieces = parts.flatMap((part) => splitWideWord(part).map((text, i) => ({ text, isRest: i > 0 })));
    const columns = pieces.map(({ text }) => measureColumns(text));
    const whole = columns.reduce((sum, width) => sum + width, 0);
    let used = 0;
    for (const [i, { text, isRest }] of pieces.entries()) {
      const at = (share: number) => word.start + Math.round(((word.end - word.start) * share) / Math.max(1, whole));
      const start = at(used);
      used += columns[i]!;
      const last = out.at(-1);
      const glued = isRest || (last !== undefined && joinsWithoutSpace(last.text, text));
      out.push({ text, start, end: at(used), columns: columns[i]!, joinsPrevious: glued, breakAfter: "none" });
    }
  }
  for (const [i, token] of out.entries()) token.breakAfter = getBreakAfter(token, out[i + 1]);
  return out;
}

/** The text of pieces in a row. */
export const joinTokens = (tokens: readonly SubtitleToken[]): string =>
  tokens.map((token, i) => (i === 0 || token.joinsPrevious ? "" : " ") + token.text).join("");

/** A word that is wider than a line, and one in a script without spaces, in pieces that are not. */
function splitWideWord(text: string): string[] {
  const pieces = UNSPACED.test(text) ? [...wordSegmenter.segment(text)].map(({ segment }) => segment) : [text];
  return pieces.flatMap((piece) => (measureColumns(piece) <= MAX_LINE_COLUMNS ? [piece] : splitByWidth(piece)));
}

function splitByWidth(text: string): string[] {
  const out: string[] = [];
  let piece = "";
  for (const { segment } of graphemeSegmenter.segment(text)) {
    if (measureColumns(piece + segment) > MAX_LINE_COLUMNS) {
      out.push(piece);
      piece = "";
    }
    piece += segment;
  }
  return piece === "" ? out : [...out, piece];
}

function joinsWithoutSpace(before: string, text: string): boolean {
  return CLOSING.test(text) || (UNSPACED.test([...before].at(-1) ?? "") && UNSPACED.test([...text][0] ?? ""));
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
