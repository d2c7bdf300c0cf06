/** Subtitles of a cut: creates readable cues from its words. */
import type { PlanJson } from "./plan-json";
import type { Word } from "./speech";
import { type CueText, divideIntoCues } from "./subtitles/cue-breaks";
import { measureColumns, type SubtitleToken, toTokens } from "./subtitles/tokens";
import { fromSeconds, type Span, type Ticks } from "./time";

export { formatSrt, formatVtt } from "./subtitles/format";

/** One or two lines shown from `start` to `end`. Times are in whole milliseconds. */
export type Cue = Span & { lines: string[] };

/** A word may extend this far beyond a kept segment and still belong to it: recognized times are not more precise. */
const WORD_TOLERANCE_TICKS: Ticks = 20_000;
const MIN_CUE_GAP_TICKS: Ticks = 80_000;
const MIN_CUE_TICKS: Ticks = 1_000_000;
const MAX_CUE_TICKS: Ticks = 7_000_000;
/** A shorter gap would flicker, so the first cue is extended to the next one. */
const MIN_VISIBLE_GAP_TICKS: Ticks = 500_000;
const LINGER_TICKS: Ticks = 200_000;
/** A comfortable reading speed. */
const READING_COLUMNS_PER_SECOND = 17;
const TICKS_PER_MILLISECOND: Ticks = 1_000;

/** The words of a kept segment, and the segment's bounds, on the subtitle's clock. */
type CueGroup = Span & { tokens: SubtitleToken[] };

/**
 * Creates the cues of the words that a plan keeps completely: in order, without overlap, none across a splice. `cut`
 * uses the times of the rendered cut, `source` those of the recording. A cue has at most two lines of 42 columns (wide
 * characters count twice) and lasts 1 to 7 s if the segment and its neighbors allow it.
 */
export function createCues(words: readonly Word[], plan: PlanJson, timeline: "cut" | "source"): Cue[] {
  const cues: (CueText & { segment: Span })[] = groupWords(words, plan, timeline).flatMap((segmentGroup) =>
    divideIntoCues(segmentGroup.tokens, segmentGroup.end, {
      minGap: MIN_CUE_GAP_TICKS,
      minDuration: MIN_CUE_TICKS,
      maxDuration: MAX_CUE_TICKS,
    }).map((cue) => ({
      ...cue,
      segment: segmentGroup,
    })),
  );
  const out: Cue[] = [];
  for (const [i, cue] of cues.entries()) {
    const last = out.at(-1);
    const span = computeCueSpan(cue, cue.segment, cues[i + 1]?.start ?? null, last ? last.end + MIN_CUE_GAP_TICKS : 0);
    out.push({ ...roundToMilliseconds(span, last?.end ?? 0), lines: cue.lines });
  }
  for (const [i, cue] of out.entries()) {
    const next = out[i + 1];
    if (next && next.start - cue.end < MIN_VISIBLE_GAP_TICKS)
      extendCue(cue, Math.min(next.start - MIN_CUE_GAP_TICKS, cues[i]!.segment.end));
  }
  return out;
}

/** Groups words by kept segment and moves their times to the subtitle's clock. */
const groupWords = (words: readonly Word[], plan: PlanJson, timeline: "cut" | "source"): CueGroup[] =>
  moveToCut(words, plan).map(({ start, end, shift, words: inside }) => {
    const by = timeline === "cut" ? shift : 0;
    const moved = inside.map((word) => ({ ...word, start: word.start + by, end: word.end + by }));
    return { start: start + by, end: end + by, tokens: toTokens(moved) };
  });

/** The words of a kept segment on the clock of the recording. `shift` moves times to the clock of the cut. */
type KeptWords = Span & { shift: Ticks; words: Word[] };

/** Groups words by kept segment, each word in one segment only. */
export function moveToCut(words: readonly Word[], plan: PlanJson): KeptWords[] {
  const sorted = words.filter((word) => word.end >= word.start).sort((a, b) => a.start - b.start || a.end - b.end);
  const groups: KeptWords[] = [];
  const usedWords = new Set<Word>();
  let next = 0;
  let outputTime: Ticks = 0;
  for (const segment of plan.segments) {
    const [start, end] = [fromSeconds(segment.start), fromSeconds(segment.end)];
    while (next < sorted.length && sorted[next]!.start < start - WORD_TOLERANCE_TICKS) next++;
    const inside: Word[] = [];
    for (let i = next; i < sorted.length && sorted[i]!.start < end; i++) {
      const word = sorted[i]!;
      if (word.end > end + WORD_TOLERANCE_TICKS || usedWords.has(word)) continue;
      usedWords.add(word);
      const from = Math.max(start, word.start, inside.at(-1)?.end ?? start);
      inside.push({ ...word, start: from, end: Math.max(from, Math.min(end, word.end)) });
    }
    groups.push({ start, end, shift: outputTime - start, words: inside });
    outputTime += end - start;
  }
  return groups;
}

/**
 * Returns when a cue is shown: from its first word until shortly after its last, and for at least the reading time. If
 * there is no room after it, it starts earlier. It stays within its segment and apart from its neighbors. `next` is the
 * start of the next cue's words. `free` is the first free time after the previous cue.
 */
function computeCueSpan(cue: CueText, segment: Span, next: Ticks | null, earliestStart: Ticks): Span {
  const latest = next === null ? segment.end : next - Math.min(MIN_CUE_GAP_TICKS, (next - cue.start) / 2);
  const limit = Math.min(segment.end, cue.start + MAX_CUE_TICKS, latest);
  const columns = cue.lines.reduce((sum, line) => sum + measureColumns(line), 0);
  const readingTicks = Math.max(MIN_CUE_TICKS, fromSeconds(columns / READING_COLUMNS_PER_SECOND));
  const end = Math.min(limit, Math.max(cue.end + LINGER_TICKS, cue.start + readingTicks));
  const start = Math.min(cue.start, Math.max(segment.start, earliestStart, end - MIN_CUE_TICKS));
  return { start, end };
}

/** Rounds inward, not before `after`, to at least one millisecond. */
function roundToMilliseconds({ start, end }: Span, after: Ticks): Span {
  const from = Math.max(after, Math.ceil(start / TICKS_PER_MILLISECOND) * TICKS_PER_MILLISECOND);
  return {
    start: from,
    end: Math.max(from + TICKS_PER_MILLISECOND, Math.floor(end / TICKS_PER_MILLISECOND) * TICKS_PER_MILLISECOND),
  };
}

function extendCue(cue: Cue, end: Ticks): void {
  const until = Math.floor(Math.min(end, cue.start + MAX_CUE_TICKS) / TICKS_PER_MILLISECOND) * TICKS_PER_MILLISECOND;
  cue.end = Math.max(cue.end, until);
}
