/** Subtitles of a cut: its words as cues that people can read. */
import type { PlanJson } from "./plan-json";
import type { Word } from "./speech";
import { type CueText, divideIntoCues } from "./subtitles/cue-breaks";
import { measureColumns, type SubtitleToken, toTokens } from "./subtitles/tokens";
import { fromSeconds, type Span, type Ticks } from "./time";

export { formatSrt, formatVtt } from "./subtitles/format";

/** What is shown from `start` to `end`: one line or two. Times are whole milliseconds. */
export type Cue = Span & { lines: string[] };

/** How far a word may reach past a kept part and still count as wholly in it: recognised times are not finer. */
const WORD_TOLERANCE_TICKS: Ticks = 20_000;
const MIN_CUE_GAP_TICKS: Ticks = 80_000;
const MIN_CUE_TICKS: Ticks = 1_000_000;
const MAX_CUE_TICKS: Ticks = 7_000_000;
/** Two cues nearer than this would flicker: the first one stays until the second. */
const MIN_VISIBLE_GAP_TICKS: Ticks = 500_000;
const LINGER_TICKS: Ticks = 200_000;
/** Comfortable reading, in columns per second. */
const READING_COLUMNS_PER_SECOND = 17;
const TICKS_PER_MILLISECOND: Ticks = 1_000;

/** The words of one kept part, and the part's bounds, on the subtitle's clock. */
type CueGroup = Span & { tokens: SubtitleToken[] };

/**
 * Cues of the words that a plan keeps whole, in order and without overlap, none of them across a join. `cut`: times as in the rendered
 * cut; `source`: as in the recording. At most two lines of 42 columns (wide characters count two); 1 to 7 s where the part and its
 * neighbours leave room.
 */
export function createCues(words: readonly Word[], plan: PlanJson, timeline: "cut" | "source"): Cue[] {
  const cues: (CueText & { part: Span })[] = groupWords(words, plan, timeline).flatMap((group) =>
    divideIntoCues(group.tokens, group.end, {
      minGap: MIN_CUE_GAP_TICKS,
      minDuration: MIN_CUE_TICKS,
      maxDuration: MAX_CUE_TICKS,
    }).map((cue) => ({
      ...cue,
      part: group,
    })),
  );
  const out: Cue[] = [];
  for (const [i, cue] of cues.entries()) {
    const last = out.at(-1);
    const span = computeCueSpan(cue, cue.part, cues[i + 1]?.start ?? null, last ? last.end + MIN_CUE_GAP_TICKS : 0);
    out.push({ ...roundToMilliseconds(span, last?.end ?? 0), lines: cue.lines });
  }
  for (const [i, cue] of out.entries()) {
    const next = out[i + 1];
    if (next && next.start - cue.end < MIN_VISIBLE_GAP_TICKS)
      extendCue(cue, Math.min(next.start - MIN_CUE_GAP_TICKS, cues[i]!.part.end));
  }
  return out;
}

/** The kept parts with their words, each word in one part only, whose times are moved to the subtitle's clock. */
function groupWords(words: readonly Word[], plan: PlanJson, timeline: "cut" | "source"): CueGroup[] {
  const sorted = words.filter((word) => word.end >= word.start).sort((a, b) => a.start - b.start || a.end - b.end);
  const groups: CueGroup[] = [];
  const taken = new Set<Word>();
  let next = 0;
  let played: Ticks = 0;
  for (const segment of plan.segments) {
    const [start, end] = [fromSeconds(segment.start), fromSeconds(segment.end)];
    const shift = timeline === "cut" ? played - start : 0;
    while (next < sorted.length && sorted[next]!.start < start - WORD_TOLERANCE_TICKS) next++;
    const inside: Word[] = [];
    for (let i = next; i < sorted.length && sorted[i]!.start < end; i++) {
      const word = sorted[i]!;
      if (word.end > end + WORD_TOLERANCE_TICKS || taken.has(word)) continue;
      taken.add(word);
      const from = Math.max(start, word.start, inside.at(-1)?.end ?? start);
      inside.push({ ...word, start: from, end: Math.max(from, Math.min(end, word.end)) });
    }
    const moved = inside.map((word) => ({ ...word, start: word.start + shift, end: word.end + shift }));
    groups.push({ start: start + shift, end: end + shift, tokens: toTokens(moved) });
    played += end - start;
  }
  return groups;
}

/**
 * When a cue is shown: from its first word until its last and a little longer, at least as long as reading it takes; when there is no
 * room behind it, it comes earlier. It stays within its part and off its neighbours. `next` is when the next cue's words begin, `free`
 * the first moment that the cue before leaves.
 */
function computeCueSpan(cue: CueText, part: Span, next: Ticks | null, free: Ticks): Span {
  const latest = next === null ? part.end : next - Math.min(MIN_CUE_GAP_TICKS, (next - cue.start) / 2);
  const limit = Math.min(part.end, cue.start + MAX_CUE_TICKS, latest);
  const columns = cue.lines.reduce((sum, line) => sum + measureColumns(line), 0);
  const reading = Math.max(MIN_CUE_TICKS, fromSeconds(columns / READING_COLUMNS_PER_SECOND));
  const end = Math.min(limit, Math.max(cue.end + LINGER_TICKS, cue.start + reading));
  const start = Math.min(cue.start, Math.max(part.start, free, end - MIN_CUE_TICKS));
  return { start, end };
}

/** Inside the span, not before `after`, and at least one millisecond long. */
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
