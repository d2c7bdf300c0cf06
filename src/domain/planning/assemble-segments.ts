/** Converts decided spans to the plan's segments: chooses which pauses stay, the padding of speech, and the joins. */
import type { CutOptions, Plan, Segment } from "../plan";
import {
  joinReviews,
  joinTexts,
  type KeptSpan,
  listRemovedSpans,
  type SourceClock,
  snapEnd,
  snapStart,
  toSegments,
} from "../segments";
import { fromSeconds, type Ticks } from "../time";
import { attachRules } from "./removed-rules";
import { isReviewRule, reviewText } from "./rules";
import { closeShortGaps, mergeShortRemovals } from "./short-removals";
import { type DecidedSpan, findOverlapping, isKept } from "./spans";

/** Minimum pause at a join, regardless of the options. */
const MIN_JOIN_PAUSE_TICKS: Ticks = 80_000;
/** Speech continues this long below the noise floor after it can no longer be detected. */
const FADE_TICKS: Ticks = 30_000;
/** Silence kept before and after a removed span, so that its edge is not audible. */
const GUARD_TICKS: Ticks = 25_000;
/** Minimum duration of silence next to a removed span that is listed separately. */
const MIN_LISTED_SILENCE_TICKS = fromSeconds(0.3);

/** Kept spans with only short pauses between them. Padding must stay between `floor` and `ceiling`. */
type KeptRun = { start: Ticks; end: Ticks; texts: string[]; reviews: string[]; floor: Ticks; ceiling: Ticks };

/** Returns a plan's segments and removed spans. `edgeMargin` pads for the part of speech that noise hides. */
export function assembleSegments(
  spans: readonly DecidedSpan[],
  clock: SourceClock,
  options: CutOptions,
  edgeMargin: Ticks = 0,
): Pick<Plan, "segments" | "removed" | "keptDuration" | "findings"> {
  const before = fromSeconds(options.padding_before_seconds) + edgeMargin;
  const after = fromSeconds(options.padding_after_seconds) + edgeMargin;
  const minPause = Math.max(fromSeconds(options.min_silence_seconds), before + after);
  const runs = groupRuns(spans, minPause, clock);
  const padded = padRuns(runs, before, after, MIN_JOIN_PAUSE_TICKS + 2 * (FADE_TICKS + edgeMargin));
  const dropped = spans.flatMap(({ start, end, reason, text }) =>
    reason === null ? [] : [{ start, end, reason, text }],
  );
  const segments: Segment[] = closeShortGaps(toSegments(padded, clock), dropped, clock);
  const removed = mergeShortRemovals(listRemovedSpans(segments, dropped, clock.duration, MIN_LISTED_SILENCE_TICKS));
  const listed = spans.filter(
    (span) => isKept(span) || findOverlapping(removed, span).some(({ reason }) => reason === span.reason),
  );
  return {
    segments,
    ...attachRules(removed, listed, minPause, clock.duration),
    keptDuration: segments.reduce((sum, segment) => sum + segment.end - segment.start, 0),
  };
}

function groupRuns(spans: readonly DecidedSpan[], minPause: Ticks, clock: SourceClock): KeptRun[] {
  const runs: KeptRun[] = [];
  let droppedEnd = 0;
  let open = false;
  for (const span of spans) {
    const last = runs.at(-1);
    if (!isKept(span)) {
      if (span.reason === "noise" && last && open && isInShortPause(spans, span, last.end, minPause)) continue;
      if (last && open) last.ceiling = ceilingBefore(last.end, span.start, clock);
      droppedEnd = span.end;
      open = false;
    } else if (last && open && span.start - last.end < minPause) {
      last.end = span.end;
      last.texts.push(span.text);
      last.reviews.push(...reviewsOf(span));
    } else {
      const floor = open || droppedEnd === 0 ? droppedEnd : floorAfter(droppedEnd, span.start, clock);
      runs.push({
        start: span.start,
        end: span.end,
        texts: [span.text],
        reviews: reviewsOf(span),
        floor: open && last ? last.end : floor,
        ceiling: clock.duration,
      });
      if (open && last) last.ceiling = span.start;
      open = true;
    }
  }
  return runs;
}

const reviewsOf = ({ findings }: DecidedSpan): string[] =>
  findings.flatMap(({ rule }) => (isReviewRule(rule) ? [reviewText(rule)] : []));

/** Returns whether a noise is in a pause that is too short to be shortened, and so stays with it. */
function isInShortPause(spans: readonly DecidedSpan[], noise: DecidedSpan, end: Ticks, minPause: Ticks): boolean {
  const next = spans.slice(spans.indexOf(noise) + 1).find((span) => span.reason !== "noise");
  return next !== undefined && isKept(next) && next.start - end < minPause;
}

/** Returns the latest end of padding after `end`, such that snapping up to a frame stays clear of `dropped`. */
function ceilingBefore(end: Ticks, dropped: Ticks, clock: SourceClock): Ticks {
  const limit = Math.max(end, dropped - Math.min(GUARD_TICKS, (dropped - end) / 2));
  const { frame, time } = snapStart(limit, clock);
  if (frame === null) return Math.floor(limit);
  return time >= end ? time : end;
}

function floorAfter(dropped: Ticks, start: Ticks, clock: SourceClock): Ticks {
  const limit = Math.min(start, dropped + Math.min(GUARD_TICKS, (start - dropped) / 2));
  const { frame, time } = snapEnd(limit, clock);
  if (frame === null) return Math.ceil(limit);
  return time <= start ? time : start;
}

/** Pads each run within its bounds. A join shorter than `minJoinPause` gets all the available silence. */
function padRuns(runs: readonly KeptRun[], before: Ticks, after: Ticks, minJoinPause: Ticks): KeptSpan[] {
  const spans = runs.map((run) => ({
    start: Math.max(Math.min(run.floor, run.start), run.start - before),
    end: Math.min(Math.max(run.ceiling, run.end), run.end + after),
    text: joinTexts(run.texts),
    review: joinReviews(run.reviews),
  }));
  for (let i = 1; i < runs.length; i++) {
    const [left, right] = [runs[i - 1]!, runs[i]!];
    const [a, b] = [spans[i - 1]!, spans[i]!];
    let missing = minJoinPause - (a.end - left.end) - (right.start - b.start);
    if (missing <= 0) continue;
    const later = Math.min(missing, Math.max(0, left.ceiling - a.end));
    a.end += later;
    missing -= later;
    b.start -= Math.min(missing, Math.max(0, b.start - right.floor));
  }
  return spans;
}
