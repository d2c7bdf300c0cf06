/** Divides the transcript into paragraphs of runs: consecutive words with the same appearance. Pure. */
import { findFirst } from "../../../src/domain/time";
import {
  type EditorPlan,
  findSpanIndex,
  isMostlyRemoved,
  type PlanSpan,
  type Range,
  type RemovalReason,
  type RemovedSpan,
} from "../model/plan";
import { findWordsIn, isMisheard, type WordRange, type Words } from "../model/words";

/** A place to review. `review` is the reason as the server's text. */
export type Mark = Range & { review: string | null };

/** The mark of each word that has one. */
export type WordMarks = readonly (Mark | undefined)[];

export const NO_MARKS: readonly never[] = [];

/** Returns the marks by word. */
export function markWords(words: Words, marks: readonly Mark[]): WordMarks {
  const marked: Mark[] = [];
  for (const mark of marks) {
    const { from, to } = findWordsIn(words, mark);
    for (let word = from; word < to; word++) marked[word] = mark;
  }
  return marked;
}

/**
 * `review` is the reason why kept words need review. `isReviewStart` marks the first run of such a place. `isMisheard`
 * is true for kept words that the recognizer was unsure about and no user has corrected.
 */
export type Run = WordRange & {
  reason: RemovalReason | null;
  review: string | null;
  isReviewStart: boolean;
  isMisheard: boolean;
  /** The pause before the run, if it is removed. Others are shown if they are wanted and long enough. */
  pause: Pause | null;
};

/** `length` is in microseconds: of what is removed, otherwise of the whole pause. */
export type Pause = { length: number; isRemoved: boolean };

/** Shorter pauses are not shown. */
export const MIN_PAUSE = 300_000;
/** A shorter part of a removed pause is inaudible: it is left over from another removal. */
const MIN_REMOVED_PAUSE = 50_000;

/** The content of a paragraph. The object is reused while the content stays the same. */
export type ParagraphView = WordRange & {
  start: number;
  runs: readonly Run[];
  texts: readonly string[];
  marks: WordMarks;
  /** The place to review that an earlier paragraph shows and that may continue in this one. */
  shownMark: Mark | undefined;
  /** The spans of its words. Edits elsewhere leave them unchanged. */
  spans: readonly PlanSpan[];
};

/** A pause longer than this ends a paragraph. */
const PAUSE = 1_500_000;
/** From this number of words on, a paragraph ends with its sentence. */
const USUAL_WORDS = 50;
const MAX_WORDS = 80;
const SENTENCE_END = /[.!?…。！？]["'”’)]?$/;

export function splitParagraphs(words: Words): WordRange[] {
  const paragraphs: WordRange[] = [];
  const count = words.text.length;
  let from = 0;
  for (let next = 1; next <= count; next++) {
    const length = next - from;
    const ends =
      next === count ||
      words.start[next]! - words.end[next - 1]! > PAUSE ||
      length >= MAX_WORDS ||
      (length >= USUAL_WORDS && SENTENCE_END.test(words.text[next - 1]!));
    if (!ends) continue;
    paragraphs.push({ from, to: next });
    from = next;
  }
  return paragraphs;
}

/** The middle of a word decides to which span it belongs, as for edits by words. */
const middleOf = (words: Words, index: number): number => Math.floor((words.start[index]! + words.end[index]!) / 2);

/** The last result and its inputs. */
export type ShownViews = {
  plan: EditorPlan;
  texts: readonly string[];
  marks: WordMarks;
  views: readonly ParagraphView[];
};

/** Returns the content of each paragraph. Unchanged paragraphs of `previous` are the same objects. */
export function toViews(
  words: Words,
  texts: readonly string[],
  plan: EditorPlan,
  paragraphs: readonly WordRange[],
  previous: ShownViews | null,
  marks: WordMarks = NO_MARKS,
  hasAllPauses = false,
): ParagraphView[] {
  // A long recording has a thousand paragraphs, and an edit usually changes one. The others are not even compared.
  const changed = previous?.texts === texts && previous.marks === marks ? findChange(previous.plan, plan) : null;
  return paragraphs.map((paragraph, index) => {
    const before = previous?.views[index];
    const shownMark = findShownMark(words, plan, marks, paragraph.from);
    const isSameStart = before?.shownMark === shownMark;
    if (before !== undefined && isSameStart && changed !== null && !overlaps(before.spans, changed)) return before;
    const first = findFirstSpan(words, plan, paragraph.from);
    const isKnown = before !== undefined && before.from === paragraph.from && before.to === paragraph.to;
    const hasSameTexts = isKnown && hasSame(before.texts, texts, paragraph);
    const hasSameMarks = isKnown && isSameStart && hasSame(before.marks, marks, paragraph);
    if (hasSameTexts && hasSameMarks && before.spans.every((span, at) => plan.spans[first + at] === span))
      return before;
    const view = toView(words, texts, plan, paragraph, first, marks, shownMark, hasAllPauses);
    if (!hasSameTexts || !hasSameRuns(before, view)) return view;
    // Only times have changed, and they are not shown.
    before.spans = view.spans;
    before.marks = marks;
    before.shownMark = shownMark;
    return before;
  });
}

/** Returns the range in which the spans of two plans differ. The spans outside of it are the same objects. */
function findChange(before: EditorPlan, after: EditorPlan): Range {
  const [old, spans] = [before.spans, after.spans];
  if (old === spans) return { start: 0, end: 0 };
  let first = 0;
  while (first < spans.length && spans[first] === old[first]) first++;
  let last = 0;
  while (last < spans.length - first && spans.at(-1 - last) === old.at(-1 - last)) last++;
  return {
    start: first === 0 ? 0 : spans[first - 1]!.end,
    end: last === 0 ? Number.POSITIVE_INFINITY : spans[spans.length - last]!.start,
  };
}

const overlaps = (spans: readonly PlanSpan[], { start, end }: Range): boolean =>
  spans[0]!.start < end && spans.at(-1)!.end > start;

function toView(
  words: Words,
  texts: readonly string[],
  plan: EditorPlan,
  { from, to }: WordRange,
  first: number,
  marks: WordMarks,
  shownMark: Mark | undefined,
  hasAllPauses: boolean,
): ParagraphView {
  const { spans } = plan;
  const runs: Run[] = [];
  let [at, last] = [first, first];
  let shown = shownMark;
  for (let index = from; index < to; index++) {
    const middle = middleOf(words, index);
    while (at < spans.length - 1 && spans[at]!.end <= middle) at++;
    while (at > 0 && spans[at]!.start > middle) at--;
    last = Math.max(last, at);
    const span = spans[at]!;
    const reason = span.isKept ? null : span.reason;
    const mark = span.isKept ? marks[index] : undefined;
    const review = mark === undefined ? null : (mark.review ?? "uncertain");
    const run = runs.at(-1);
    const isReviewStart = mark !== undefined && shown !== mark;
    if (isReviewStart) shown = mark;
    const isUnsure = span.isKept && texts[index] === words.text[index] && isMisheard(words, index);
    const pause = findPause(words, plan, index, hasAllPauses);
    const isSameLook = run?.reason === reason && run.review === review && run.isMisheard === isUnsure;
    if (isSameLook && !isReviewStart && pause === null) run.to = index + 1;
    else runs.push({ from: index, to: index + 1, reason, review, isReviewStart, isMisheard: isUnsure, pause });
  }
  return { from, to, start: words.start[from]!, runs, texts, marks, shownMark, spans: spans.slice(first, last + 1) };
}

/** Returns the mark of the word before a paragraph, unless all its words up to there are removed. */
function findShownMark(words: Words, plan: EditorPlan, marks: WordMarks, from: number): Mark | undefined {
  const mark = marks[from - 1];
  if (mark === undefined) return undefined;
  const isKept = (word: number) => plan.spans[findSpanIndex(plan, middleOf(words, word))]!.isKept;
  for (let word = from - 1; marks[word] === mark; word--) if (isKept(word)) return mark;
  return undefined;
}

/** Returns the index of the span in which the pause before a paragraph starts. */
const findFirstSpan = (words: Words, plan: EditorPlan, from: number): number =>
  findSpanIndex(plan, Math.min(middleOf(words, from), from === 0 ? 0 : words.end[from - 1]!));

/** Returns the pause before a word that is shown, or null. */
function findPause(words: Words, plan: EditorPlan, index: number, hasAllPauses: boolean): Pause | null {
  if (index === 0) return null;
  const range = { start: words.end[index - 1]!, end: words.start[index]! };
  const length = range.end - range.start;
  const removed = findRemovedPause(plan, range);
  if (removed !== null) return { length: removed.end - removed.start, isRemoved: true };
  return hasAllPauses && length >= MIN_PAUSE ? { length, isRemoved: isMostlyRemoved(plan, range) } : null;
}

/** Returns the span that is removed as a pause between two words, or null. */
export function findRemovedPause(plan: EditorPlan, { start, end }: Range): RemovedSpan | null {
  if (end - start < MIN_REMOVED_PAUSE) return null;
  for (let index = findSpanIndex(plan, start); index < plan.spans.length; index++) {
    const span = plan.spans[index]!;
    if (span.start >= end) break;
    const overlap = Math.min(end, span.end) - Math.max(start, span.start);
    if (!span.isKept && span.reason === "silence" && overlap >= MIN_REMOVED_PAUSE) return span;
  }
  return null;
}

function hasSameRuns(before: ParagraphView, { runs }: ParagraphView): boolean {
  return (
    before.runs.length === runs.length &&
    runs.every((run, index) => {
      const old = before.runs[index]!;
      const isSamePlace = old.from === run.from && old.to === run.to && old.isReviewStart === run.isReviewStart;
      const isSameLook = old.reason === run.reason && old.review === run.review && old.isMisheard === run.isMisheard;
      const isSamePause = old.pause?.length === run.pause?.length && old.pause?.isRemoved === run.pause?.isRemoved;
      return isSamePlace && isSameLook && isSamePause;
    })
  );
}

function hasSame<Value>(before: readonly Value[], after: readonly Value[], { from, to }: WordRange): boolean {
  if (before === after) return true;
  for (let index = from; index < to; index++) if (before[index] !== after[index]) return false;
  return true;
}

/** Returns the index of the paragraph of a word. */
export const findParagraph = (paragraphs: readonly WordRange[], word: number): number =>
  Math.max(0, findFirst(paragraphs.length, (index) => paragraphs[index]!.from > word) - 1);

/** A part of a paragraph's text. `run` is null for unmarked text. */
export type Piece = { text: string; run: Run | null; pause?: Pause; word?: number; isFirst?: boolean };

/** Returns the text of a paragraph in pieces: all words with a text, separated by one space. */
export function toPieces({ runs, texts }: ParagraphView): Piece[] {
  const pieces: Piece[] = [];
  for (const run of runs) {
    const text = joinTexts(texts, run);
    if (text === "") continue;
    if (run.pause !== null) {
      const isFirst = pieces.length === 0;
      if (!isFirst) pieces.push({ text: " ", run: null });
      pieces.push({ text: "", run: null, pause: run.pause, word: run.from, isFirst });
      if (isPlainRun(run)) pieces.push({ text, run: null });
      else pieces.push({ text, run });
      continue;
    }
    const last = pieces.at(-1);
    const isPlain = isPlainRun(run);
    if (isPlain && last?.run === null) last.text += ` ${text}`;
    else if (isPlain) pieces.push({ text: last ? ` ${text}` : text, run: null });
    else {
      // Spaces stay outside of marked runs.
      if (last?.run === null) last.text += " ";
      else if (last) pieces.push({ text: " ", run: null });
      pieces.push({ text, run });
    }
  }
  return pieces;
}

const isPlainRun = ({ reason, review, isMisheard: isUnsure }: Run): boolean =>
  reason === null && review === null && !isUnsure;

export const joinTexts = (texts: readonly string[], { from, to }: WordRange): string =>
  texts
    .slice(from, to)
    .filter((text) => text !== "")
    .join(" ");
