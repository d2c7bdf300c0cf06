/** Kept segments on the source's clock (snapped to frames, sorted, disjoint) and the removed spans between them. */
import type { RemovedSpan, Segment } from "./plan";
import {
  type FrameTimes,
  getFrameAtOrAfter,
  getFrameAtOrBefore,
  getFrameCount,
  getFrameTime,
  type Span,
  type Ticks,
} from "./time";

export const MIN_SEGMENT_TICKS: Ticks = 100_000;

/** A span to keep, not yet snapped. */
export type KeptSpan = Span & { text: string; review: string | null };

/** The duration of the source and its frame times (null without video). */
export type SourceClock = { duration: Ticks; frames: FrameTimes | null };

type SnappedEdge = { time: Ticks; frame: number | null };

/** Rounds a start down to a frame. Before the first frame, this is the start of the source. */
export function snapStart(time: Ticks, { frames }: SourceClock): SnappedEdge {
  const at = Math.max(0, time);
  if (!frames || getFrameCount(frames) === 0) return { time: at, frame: null };
  const frame = getFrameAtOrBefore(frames, at);
  const shown = getFrameTime(frames, frame);
  return { time: shown > at ? 0 : Math.max(0, shown), frame };
}

/** Rounds an end up to a frame, exclusive. Beyond the last frame or the source, this is the end of the source. */
export function snapEnd(time: Ticks, { duration, frames }: SourceClock): SnappedEdge {
  const at = Math.min(duration, time);
  if (!frames || getFrameCount(frames) === 0) return { time: at, frame: null };
  const frame = Math.max(1, getFrameAtOrAfter(frames, at));
  const shown = getFrameTime(frames, frame);
  return { time: shown < at ? duration : Math.min(duration, shown), frame };
}

/**
 * Converts spans to segments: clamps them to the source, snaps starts down and ends up to frames, extends segments
 * shorter than 0.1 s, and merges segments that then touch or overlap. Everything inside the spans stays kept.
 */
export function toSegments(spans: readonly KeptSpan[], clock: SourceClock): Segment[] {
  const sorted = spans
    .filter((span) => span.end > span.start && span.start < clock.duration && span.end > 0)
    .sort((a, b) => a.start - b.start || a.end - b.end);
  const out: Segment[] = [];
  for (const span of sorted) {
    let segment = snapSpan(span, clock);
    for (let last = out.at(-1); last && segment.start <= last.end; last = out.at(-1)) {
      out.pop();
      segment = mergeSegments(last, segment);
    }
    out.push(segment);
  }
  return out;
}

function snapSpan(span: KeptSpan, clock: SourceClock): Segment {
  let start = snapStart(span.start, clock);
  let end = snapEnd(span.end, clock);
  const missing = MIN_SEGMENT_TICKS - (end.time - start.time);
  if (missing > 0) {
    start = snapStart(start.time - Math.ceil(missing / 2), clock);
    end = snapEnd(Math.max(end.time, start.time + MIN_SEGMENT_TICKS), clock);
    if (end.time - start.time < MIN_SEGMENT_TICKS) start = snapStart(end.time - MIN_SEGMENT_TICKS, clock);
  }
  return {
    start: start.time,
    end: end.time,
    startFrame: start.frame,
    endFrame: end.frame,
    text: span.text,
    review: span.review,
  };
}

export function mergeSegments(a: Segment, b: Segment): Segment {
  const later = b.end >= a.end ? b : a;
  const earlier = a.start <= b.start ? a : b;
  return {
    start: earlier.start,
    end: later.end,
    startFrame: earlier.startFrame,
    endFrame: later.endFrame,
    text: joinTexts([a.text, b.text]),
    review: joinReviews([a.review, b.review]),
  };
}

export const joinTexts = (texts: readonly string[]): string => texts.filter((text) => text !== "").join(" ");

/** Joins the distinct remarks for an editor into one line; null if there are none. */
export function joinReviews(reviews: readonly (string | null)[]): string | null {
  const distinct = [...new Set(reviews.flatMap((review) => review?.split("; ") ?? []))];
  return distinct.length === 0 ? null : distinct.join("; ");
}

/**
 * Lists the removed spans: each gap between segments, divided among the dropped spans in it (sorted, disjoint). Silence
 * of at least `quiet` next to a dropped span is listed separately; shorter silence is part of the dropped span.
 */
export function listRemovedSpans(
  segments: readonly Span[],
  dropped: readonly RemovedSpan[],
  duration: Ticks,
  quiet: Ticks,
): RemovedSpan[] {
  const out: RemovedSpan[] = [];
  let at = 0;
  let next = 0;
  for (const edge of [...segments, { start: duration, end: duration }]) {
    if (edge.start > at) {
      while (next < dropped.length && dropped[next]!.end <= at) next++;
      const inside: RemovedSpan[] = [];
      for (let i = next; i < dropped.length && dropped[i]!.start < edge.start; i++) inside.push(dropped[i]!);
      out.push(...divideGap({ start: at, end: edge.start }, inside, quiet));
    }
    at = Math.max(at, edge.end);
  }
  return out;
}

function divideGap(gap: Span, dropped: readonly RemovedSpan[], quiet: Ticks): RemovedSpan[] {
  const out: RemovedSpan[] = [];
  const add = (span: RemovedSpan) => {
    if (span.end <= span.start) return;
    const last = out.at(-1);
    if (last && last.reason === span.reason && last.end === span.start) {
      last.end = span.end;
      last.text = joinTexts([last.text, span.text]);
    } else out.push({ ...span });
  };
  let at = gap.start;
  for (const [i, stretch] of dropped.entries()) {
    const start = Math.max(at, stretch.start);
    const end = Math.min(gap.end, stretch.end);
    if (end <= start) continue;
    const last = out.at(-1);
    if (start - at >= quiet) add({ start: at, end: start, reason: "silence", text: "" });
    else if (i > 0 && last && last.reason === stretch.reason) last.end = start;
    else if (start > at) {
      add({ start: at, end: start, reason: stretch.reason, text: "" });
    }
    add({ ...stretch, start, end });
    at = end;
  }
  const last = out.at(-1);
  if (last && gap.end - at < quiet) last.end = gap.end;
  else add({ start: at, end: gap.end, reason: "silence", text: "" });
  return out;
}
