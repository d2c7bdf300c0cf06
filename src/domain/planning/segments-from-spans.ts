/** From judged pieces of sound to the plan's segments: which pauses stay, how much quiet is kept around speech, where the joins fall. */

import type { CutOptions, Plan, Removed, Segment } from "../plan";
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
import type { DecidedSpan } from "./decided-spans";

/** The least pause heard at a join, whatever the options. */
const LEAST_PAUSE: Ticks = 80_000;
/** Speech goes on, faintly, so much beyond where it can be told from the quiet. */
const FAINT: Ticks = 30_000;
/** Quiet left in front of and behind a dropped sound, so that its edge is not heard. */
const GUARD: Ticks = 25_000;

type KeptRun = { start: Ticks; end: Ticks; texts: string[]; reviews: (string | null)[]; floor: Ticks; ceiling: Ticks };

/** The segments and removed stretches of a plan. `blur`: how much of the edges of speech is lost in noise; it is kept besides the padding. */
export function assembleSegments(
  decidedSpans: readonly DecidedSpan[],
  clock: SourceClock,
  options: CutOptions,
  edgeMargin: Ticks = 0,
): Pick<Plan, "segments" | "removed" | "keptDuration"> {
  const before = fromSeconds(options.padding_before_seconds) + edgeMargin;
  const after = fromSeconds(options.padding_after_seconds) + edgeMargin;
  const quiet = Math.max(fromSeconds(options.min_silence_seconds), before + after);
  const runs = groupRuns(decidedSpans, quiet, clock);
  const spans = padRuns(runs, before, after, LEAST_PAUSE + 2 * (FAINT + edgeMargin));
  const segments: Segment[] = toSegments(spans, clock);
  const dropped: Removed[] = decidedSpans
    .filter((decided) => !decided.keep)
    .map(({ start, end, reason, text }) => ({ start, end, reason, text }));
  return {
    segments,
    removed: listRemovedSpans(segments, dropped, clock.duration, fromSeconds(0.3)),
    keptDuration: segments.reduce((sum, segment) => sum + segment.end - segment.start, 0),
  };
}

/** Kept pieces with nothing but short pauses between them are one run; `floor` and `ceiling` are how far its edges may reach. */
function groupRuns(decidedSpans: readonly DecidedSpan[], quiet: Ticks, clock: SourceClock): KeptRun[] {
  const runs: KeptRun[] = [];
  let droppedEnd = 0;
  let open = false;
  for (const decided of decidedSpans) {
    const last = runs.at(-1);
    if (!decided.keep) {
      if (decided.reason === "noise" && last && open && continuesAfter(decidedSpans, decided, last.end, quiet))
        continue;
      if (last && open) last.ceiling = ceilingBefore(last.end, decided.start, clock);
      droppedEnd = decided.end;
      open = false;
    } else if (last && open && decided.start - last.end < quiet) {
      last.end = decided.end;
      last.texts.push(decided.text);
      last.reviews.push(decided.review);
    } else {
      const floor = open || droppedEnd === 0 ? droppedEnd : floorAfter(droppedEnd, decided.start, clock);
      runs.push({
        start: decided.start,
        end: decided.end,
        texts: [decided.text],
        reviews: [decided.review],
        floor: open && last ? last.end : floor,
        ceiling: clock.duration,
      });
      if (open && last) last.ceiling = decided.start;
      open = true;
    }
  }
  return runs;
}

/** A noise inside a pause that is too short to be cut stays with it. */
function continuesAfter(decidedSpans: readonly DecidedSpan[], noise: DecidedSpan, end: Ticks, quiet: Ticks): boolean {
  const next = decidedSpans
    .slice(decidedSpans.indexOf(noise) + 1)
    .find((decided) => decided.keep || decided.reason !== "noise");
  return next?.keep === true && next.start - end < quiet;
}

/** The latest end for speech that ends at `end` before dropped sound at `dropped`, such that raising it to a frame stays clear of the sound. */
function ceilingBefore(end: Ticks, dropped: Ticks, clock: SourceClock): Ticks {
  const limit = Math.max(end, dropped - Math.min(GUARD, (dropped - end) / 2));
  const { frame, time } = snapStart(limit, clock);
  if (frame === null) return Math.floor(limit);
  return time >= end ? time : end;
}

function floorAfter(dropped: Ticks, start: Ticks, clock: SourceClock): Ticks {
  const limit = Math.min(start, dropped + Math.min(GUARD, (start - dropped) / 2));
  const { frame, time } = snapEnd(limit, clock);
  if (frame === null) return Math.ceil(limit);
  return time <= start ? time : start;
}

/** Pads each run with quiet within its bounds, and gives a join that would be breathless what quiet there is. */
function padRuns(runs: readonly KeptRun[], before: Ticks, after: Ticks, leastPause: Ticks): KeptSpan[] {
  const spans = runs.map((run) => ({
    start: Math.max(Math.min(run.floor, run.start), run.start - before),
    end: Math.min(Math.max(run.ceiling, run.end), run.end + after),
    text: joinTexts(run.texts),
    review: joinReviews(run.reviews),
  }));
  for (let i = 1; i < runs.length; i++) {
    const [left, right] = [runs[i - 1]!, runs[i]!];
    const [a, b] = [spans[i - 1]!, spans[i]!];
    let missing = leastPause - (a.end - left.end) - (right.start - b.start);
    if (missing <= 0) continue;
    const later = Math.min(missing, Math.max(0, left.ceiling - a.end));
    a.end += later;
    missing -= later;
    b.start -= Math.min(missing, Math.max(0, b.start - right.floor));
  }
  return spans;
}
