/** Edited plans: the user's segments, snapped and validated like a computed plan. */
import { MAX_FIELD_ERRORS } from "./errors";
import type { Plan, Removed, RemovedSpan } from "./plan";
import { type PlanJson, planSegments } from "./plan-json";
import { findOverlapping, overlapDuration } from "./planning/spans";
import { listRemovedSpans, MIN_SEGMENT_TICKS, type SourceClock, toSegments } from "./segments";
import type { Word } from "./speech";
import { findFirst, fromSeconds, type Span, spanFromSeconds, toSeconds } from "./time";

/** A segment of a request, in seconds. */
export type EditedSegment = { start: number; end: number };

/** `field` is the bound that is invalid by itself; null if the bounds contradict each other or the previous segment. */
export type EditError = { index: number; field: keyof EditedSegment | null; message: string };

/** Returns the first errors in the user's segments; empty if there are none. */
export function validateEdit(segments: readonly EditedSegment[], clock: SourceClock): EditError[] {
  const errors: EditError[] = [];
  const last = toSeconds(clock.duration);
  for (const [index, { start, end }] of segments.entries()) {
    if (errors.length === MAX_FIELD_ERRORS) break;
    const before = segments[index - 1];
    if (start < 0 || fromSeconds(end) > clock.duration)
      errors.push({ index, field: start < 0 ? "start" : "end", message: `must be within 0 and ${last}` });
    // Compared in ticks: in floating-point seconds, 0.4 to 0.5 is slightly less than a tenth.
    else if (fromSeconds(end) - fromSeconds(start) < MIN_SEGMENT_TICKS)
      errors.push({ index, field: null, message: "must be at least 0.1 s long" });
    else if (before && fromSeconds(start) < fromSeconds(before.end))
      errors.push({ index, field: null, message: "must not start before the previous segment ends" });
  }
  return errors;
}

/**
 * Returns the plan with the user's segments, which `validateEdit` has accepted. Spans that were already removed keep
 * their reason and rule; newly removed ones get `manual`. The text of a span is the words inside it. An unchanged span
 * keeps its text unless that was corrected, and an unchanged segment also keeps its review. `corrected` (sorted,
 * disjoint) contains the spans with corrected texts.
 */
export function editPlan(
  old: PlanJson,
  segments: readonly EditedSegment[],
  words: readonly Word[],
  clock: SourceClock,
  corrected: readonly Span[] = [],
): Plan {
  const wanted = segments.map((segment) => ({ ...spanFromSeconds(segment), text: "", review: null }));
  const textIn = createTextIndex(words);
  const bounds = (start: number, end: number) => `${start} ${end}`;
  const unchanged = new Map(old.segments.map((s) => [bounds(fromSeconds(s.start), fromSeconds(s.end)), s]));
  const isCorrected = (span: Span): boolean => findOverlapping(corrected, span).length > 0;
  const kept = toSegments(wanted, clock).map((segment) => {
    const same = unchanged.get(bounds(segment.start, segment.end));
    const text = same === undefined || isCorrected(segment) ? textIn(segment) : same.text;
    return { ...segment, text, review: same?.review ?? null };
  });
  const removed = old.removed.map(spanFromSeconds);
  const sameRemoved = new Set(removed.map(({ start, end }) => bounds(start, end)));
  const keepsText = (span: Span): boolean =>
    words.length === 0 || (sameRemoved.has(bounds(span.start, span.end)) && !isCorrected(span));
  const dropped = [
    ...removed.map(({ start, end, reason, text }): RemovedSpan => ({ start, end, reason, text })),
    ...planSegments(old).map(
      ({ start, end }): RemovedSpan => ({ start, end, reason: "manual", text: textIn({ start, end }) }),
    ),
  ].sort((a, b) => a.start - b.start);
  return {
    sourceDuration: clock.duration,
    keptDuration: kept.reduce((sum, s) => sum + s.end - s.start, 0),
    frameRate: old.frame_rate,
    segments: kept,
    // The removed spans and segments of the old plan cover the whole recording, so no silence is added.
    removed: listRemovedSpans(kept, dropped, clock.duration, 0).map((span): Removed => {
      if (span.reason === "manual") return { ...span, rule: "manual.edit", text: textIn(span) };
      return { ...span, text: keepsText(span) ? span.text : textIn(span), rule: findOldRule(removed, span) };
    }),
    takes: old.takes.map((take) => ({ ...take, candidates: take.candidates.map(spanFromSeconds) })),
    missing: [...old.missing],
    warnings: [...old.warnings],
    language: old.language ?? null,
    findings: [],
  };
}

/** Returns the rule of the old plan's span that overlaps a removed span longest. */
function findOldRule(removed: readonly PlanJson["removed"][number][], span: RemovedSpan): Removed["rule"] {
  const same = findOverlapping(removed, span).filter((one) => one.reason === span.reason);
  const longest = same.reduce<PlanJson["removed"][number] | null>(
    (best, one) => (best && overlapDuration(best, span) >= overlapDuration(one, span) ? best : one),
    null,
  );
  return longest?.rule ?? null;
}

/** Returns a function that returns the words with their middle in a span, by binary search: spans can be thousands. */
export function createTextIndex(words: readonly Word[]): (span: Span) => string {
  const middle = (word: Word) => (word.start + word.end) / 2;
  const sorted = words.toSorted((a, b) => middle(a) - middle(b));
  const firstFrom = (time: number): number => findFirst(sorted.length, (n) => middle(sorted[n]!) >= time);
  return ({ start, end }) =>
    sorted
      .slice(firstFrom(start), firstFrom(end))
      .map((word) => word.text)
      .join(" ");
}
