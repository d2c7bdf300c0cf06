/** Moves texts that a user has corrected onto the recognized words, so that subtitles show them at the right time. */
import { findOverlapping, indexEndingAfter } from "../planning/spans";
import type { Word } from "../speech";
import { alignWords } from "../text/word-alignment";
import { findFirst, type Span } from "../time";

/** A segment and its text as written. If it is null, the recognized words stay. */
export type TextedSegment = Span & { text: string | null };

/** If the alignment would be larger than this, a changed stretch gets its new text as a whole. */
const MAX_ALIGNMENT_CELLS = 2_000_000;

const middleOf = (word: Span): number => (word.start + word.end) / 2;
const isInside = (word: Span, { start, end }: Span): boolean => middleOf(word) >= start && middleOf(word) < end;

/**
 * Returns the words with the texts of the segments (sorted, disjoint): unchanged words keep their times, and changed
 * ones share the time of those that they replace. `before` contains the segments before an editor moved their bounds
 * (sorted, disjoint; empty if unknown). A text that was written for those fits their words better: a lengthened segment
 * then also gets the recognized words that it gained, and a shortened one loses the words outside.
 */
export function correctWords(
  words: readonly Word[],
  segments: readonly TextedSegment[],
  before: readonly Span[],
): Word[] {
  const sorted = words.toSorted((a, b) => middleOf(a) - middleOf(b));
  const out: Word[] = [];
  let next = 0;
  for (const segment of segments) {
    while (next < sorted.length && middleOf(sorted[next]!) < segment.start) out.push(sorted[next++]!);
    const inside: Word[] = [];
    while (next < sorted.length && middleOf(sorted[next]!) < segment.end) inside.push(sorted[next++]!);
    if (segment.text === null) out.push(...inside);
    else
      out.push(...correctSegment(sorted, inside, { ...segment, text: segment.text }, findOverlapping(before, segment)));
  }
  return [...out, ...sorted.slice(next)];
}

function correctSegment(
  sorted: readonly Word[],
  inside: readonly Word[],
  segment: Span & { text: string },
  before: readonly Span[],
): Word[] {
  const tokens = segment.text.split(/\s+/u).filter(Boolean);
  const written = before.length > 0 ? selectWords(sorted, before) : inside;
  const writtenSet = new Set(written);
  const gained = inside.filter((word) => !writtenSet.has(word));
  // Each word beyond the tokens is a difference. A plan may repeat the whole transcript in each segment.
  const mayFit = written.length - 2 * tokens.length < inside.length;
  const lists = [inside, inside.filter((word) => writtenSet.has(word)), ...(mayFit ? [written] : [])];
  const candidates = lists.map((replaced) => ({
    replaced,
    matches: listMatches(replaced, tokens),
  }));
  const differences = candidates.map(({ replaced, matches }) => replaced.length - 2 * (matches.length - 1));
  const best = differences.indexOf(Math.min(...differences));
  const { replaced, matches } = candidates[best]!;
  if (replaced.length > 0) {
    const recognized = new Set(replaced);
    const corrected = replaceTexts(replaced, tokens, matches)
      .filter((word) => isInside(word, segment))
      // Subtitles omit words that the cut clips, but typed words must be kept.
      .map((word) => (recognized.has(word) ? word : clipTo(word, segment)));
    return best === 0 ? corrected : sortWords([...gained, ...corrected]);
  }
  const { start, end } = segment;
  const typed = tokens.length > 0 ? [{ start, end, text: tokens.join(" "), confidence: 1 }] : [];
  return best === 0 ? typed : sortWords([...gained, ...typed]);
}

const clipTo = (word: Word, { start, end }: Span): Word => ({
  ...word,
  start: Math.max(word.start, start),
  end: Math.min(word.end, end),
});

const sortWords = (words: Word[]): Word[] => words.sort((a, b) => middleOf(a) - middleOf(b));

/** Returns the words whose middle is in one of the spans. `sorted` is sorted by middle. */
function selectWords(sorted: readonly Word[], spans: readonly Span[]): Word[] {
  const out: Word[] = [];
  const first = findFirst(sorted.length, (n) => middleOf(sorted[n]!) >= spans[0]!.start);
  for (let i = first; i < sorted.length && middleOf(sorted[i]!) < spans.at(-1)!.end; i++) {
    const span = spans[indexEndingAfter(spans, middleOf(sorted[i]!))];
    if (span && isInside(sorted[i]!, span)) out.push(sorted[i]!);
  }
  return out;
}

/** Returns `words` with the tokens as texts. Equal ones keep their word; runs of others replace the words between. */
function replaceTexts(words: readonly Word[], tokens: readonly string[], matches: readonly EqualPair[]): Word[] {
  const out: Word[] = [];
  let leading = "";
  const replaceRun = (run: readonly Word[], texts: readonly string[]): void => {
    if (texts.length === 0) return;
    const text = texts.join(" ");
    const last = out.at(-1);
    if (run.length === texts.length) out.push(...run.map((word, i) => ({ ...word, text: texts[i]!, confidence: 1 })));
    else if (run.length > 0) out.push({ start: run[0]!.start, end: run.at(-1)!.end, text, confidence: 1 });
    // An inserted word shares the time of its neighbor.
    else if (last) out[out.length - 1] = { ...last, text: `${last.text} ${text}` };
    else leading = text;
  };
  let word = 0;
  let token = 0;
  for (const [toWord, toToken] of matches) {
    replaceRun(words.slice(word, toWord), tokens.slice(token, toToken));
    const same = words[toWord];
    if (same) out.push(leading === "" ? same : { ...same, text: `${leading} ${same.text}` });
    leading = "";
    [word, token] = [toWord + 1, toToken + 1];
  }
  return out;
}

type EqualPair = [word: number, token: number];

/** Lists the pairs of equal words and tokens in order, and finally the ends of both lists. */
function listMatches(words: readonly Word[], tokens: readonly string[]): EqualPair[] {
  const texts = words.map((word) => word.text.trim());
  const shorter = Math.min(texts.length, tokens.length);
  let head = 0;
  while (head < shorter && texts[head] === tokens[head]) head++;
  let tail = 0;
  while (tail < shorter - head && texts.at(-1 - tail) === tokens.at(-1 - tail)) tail++;
  const matches: EqualPair[] = Array.from({ length: head }, (_, i): EqualPair => [i, i]);
  const [changedTexts, changedTokens] = [
    texts.slice(head, texts.length - tail),
    tokens.slice(head, tokens.length - tail),
  ];
  if (changedTexts.length * changedTokens.length <= MAX_ALIGNMENT_CELLS) {
    const { pairs } = alignWords(changedTexts, changedTokens, (a, b) => (a === b ? 0 : 1));
    for (const [i, j] of pairs.entries()) if (j >= 0) matches.push([head + i, head + j]);
  }
  for (let i = tail; i > 0; i--) matches.push([texts.length - i, tokens.length - i]);
  return [...matches, [texts.length, tokens.length]];
}
