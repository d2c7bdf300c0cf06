/** A plan changed by hand: the user's segments, snapped and held to the same rules as a computed plan. */
import { MAX_FIELD_ERRORS } from "./errors";
import type { Plan, Removed } from "./plan";
import { type PlanJson, planSegments } from "./plan-json";
import { listRemovedSpans, MIN_SEGMENT_TICKS, type SourceClock, toSegments } from "./segments";
import type { Word } from "./speech";
import { fromSeconds, type Span, toSeconds } from "./time";

/** A segment as the user gives it, in seconds. */
export type EditedSegment = { start: number; end: number };

export type EditError = { index: number; message: string };

/** What is wrong with the user's segments, the first errors only; an empty list: nothing. */
export function validateEdit(segments: readonly EditedSegment[], clock: SourceClock): EditError[] {
  const errors: EditError[] = [];
  const last = toSeconds(clock.duration);
  for (const [index, { start, end }] of segments.entries()) {
    if (errors.length === MAX_FIELD_ERRORS) break;
    const before = segments[index - 1];
    if (start < 0 || fromSeconds(end) > clock.duration) errors.push({ index, message: `must lie from 0 to ${last}` });
    // In ticks: in seconds as floats, 0.4 to 0.5 is a little less than a tenth.
    else if (fromSeconds(end) - fromSeconds(start) < MIN_SEGMENT_TICKS)
      errors.push({ index, message: "must be at least 0.1 s long" });
    else if (before && fromSeconds(start) < fromSeconds(before.end))
      errors.push({ index, message: "must not begin before the one before it ends" });
  }
  return errors;
}

/**
 * The plan with the user's segments, which `checkEdit` has passed. What the old plan removed keeps its reason; what the user removes
 * besides is `manual`. A segment's text is the words that lie in it; an untouched one keeps its remark for the editor.
 */
export function editPlan(
  old: PlanJson,
  segments: readonly EditedSegment[],
  words: readonly Word[],
  clock: SourceClock,
): Plan {
  const wanted = segments.map(({ start, end }) => ({
    start: fromSeconds(start),
    end: fromSeconds(end),
    text: "",
    review: null,
  }));
  const textIn = createTextIndex(words);
  const bounds = (start: number, end: number) => `${start} ${end}`;
  const untouched = new Map(old.segments.map((s) => [bounds(fromSeconds(s.start), fromSeconds(s.end)), s]));
  const kept = toSegments(wanted, clock).map((segment) => {
    const same = untouched.get(bounds(segment.start, segment.end));
    return { ...segment, text: same?.text ?? textIn(segment), review: same?.review ?? null };
  });
  const dropped = [
    ...old.removed.map((r) => ({ ...r, start: fromSeconds(r.start), end: fromSeconds(r.end) })),
    ...planSegments(old).map(
      ({ start, end }): Removed => ({ start, end, reason: "manual", text: textIn({ start, end }) }),
    ),
  ].sort((a, b) => a.start - b.start);
  return {
    sourceDuration: clock.duration,
    keptDuration: kept.reduce((sum, s) => sum + s.end - s.start, 0),
    frameRate: old.frame_rate,
    segments: kept,
    // Every moment of the old plan has a reason, so nothing is left to be called silence.
    removed: listRemovedSpans(kept, dropped, clock.duration, 0).map((span) =>
      span.reason === "manual" ? { ...span, text: textIn(span) } : span,
    ),
    takes: old.takes.map((take) => ({
      ...take,
      candidates: take.candidates.map((c) => ({ ...c, start: fromSeconds(c.start), end: fromSeconds(c.end) })),
    })),
    missing: [...old.missing],
    warnings: [...old.warnings],
  };
}

/** Returns a function that gives the words whose middle lies in a span. Asked for thousands of spans, it looks only at their words. */
function createTextIndex(words: readonly Word[]): (span: Span) => string {
  const middle = (word: Word) => (word.start + word.end) / 2;
  const sorted = words.toSorted((a, b) => middle(a) - middle(b));
  /** The first word whose middle is not before `time`. */
  const firstFrom = (time: number): number => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const at = (low + high) >> 1;
      if (middle(sorted[at]!) < time) low = at + 1;
      else high = at;
    }
    return low;
  };
  return ({ start, end }) =>
    sorted
      .slice(firstFrom(start), firstFrom(end))
      .map((word) => word.text)
      .join(" ");
}
