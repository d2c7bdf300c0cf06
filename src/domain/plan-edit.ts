/** A plan changed by hand: the user's segments, snapped and held to the same rules as a computed plan. */
import type { Plan, Removed } from "./plan";
import { type PlanJson, planSegments } from "./plan-json";
import { type Clock, removedBetween, SHORTEST_SEGMENT, toSegments } from "./segments";
import type { Word } from "./speech";
import { fromSeconds, type Span, toSeconds } from "./time";

/** A segment as the user gives it, in seconds. */
export type EditedSegment = { start: number; end: number };

export type EditError = { index: number; message: string };

/** What is wrong with the user's segments; an empty list: nothing. */
export function checkEdit(segments: readonly EditedSegment[], clock: Clock): EditError[] {
  const errors: EditError[] = [];
  const last = toSeconds(clock.duration);
  segments.forEach(({ start, end }, index) => {
    const before = segments[index - 1];
    if (start < 0 || fromSeconds(end) > clock.duration) errors.push({ index, message: `must lie from 0 to ${last}` });
    // In ticks: in seconds as floats, 0.4 to 0.5 is a little less than a tenth.
    else if (fromSeconds(end) - fromSeconds(start) < SHORTEST_SEGMENT)
      errors.push({ index, message: "must be at least 0.1 s long" });
    else if (before && fromSeconds(start) < fromSeconds(before.end))
      errors.push({ index, message: "must not begin before the one before it ends" });
  });
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
  clock: Clock,
): Plan {
  const wanted = segments.map(({ start, end }) => ({
    start: fromSeconds(start),
    end: fromSeconds(end),
    text: "",
    review: null,
  }));
  const kept = toSegments(wanted, clock).map((segment) => {
    const same = old.segments.find((s) => fromSeconds(s.start) === segment.start && fromSeconds(s.end) === segment.end);
    return { ...segment, text: same?.text ?? wordsIn(words, segment), review: same?.review ?? null };
  });
  const dropped = [
    ...old.removed.map((r) => ({ ...r, start: fromSeconds(r.start), end: fromSeconds(r.end) })),
    ...planSegments(old).map(
      ({ start, end }): Removed => ({ start, end, reason: "manual", text: wordsIn(words, { start, end }) }),
    ),
  ].sort((a, b) => a.start - b.start);
  return {
    sourceDuration: clock.duration,
    keptDuration: kept.reduce((sum, s) => sum + s.end - s.start, 0),
    frameRate: old.frame_rate,
    segments: kept,
    // Every moment of the old plan has a reason, so nothing is left to be called silence.
    removed: removedBetween(kept, dropped, clock.duration, 0).map((span) =>
      span.reason === "manual" ? { ...span, text: wordsIn(words, span) } : span,
    ),
    takes: old.takes.map((take) => ({
      ...take,
      candidates: take.candidates.map((c) => ({ ...c, start: fromSeconds(c.start), end: fromSeconds(c.end) })),
    })),
    missing: [...old.missing],
    warnings: [...old.warnings],
  };
}

/** The words whose middle lies in the span. */
function wordsIn(words: readonly Word[], span: Span): string {
  return words
    .filter((word) => (word.start + word.end) / 2 >= span.start && (word.start + word.end) / 2 < span.end)
    .map((word) => word.text)
    .join(" ");
}
