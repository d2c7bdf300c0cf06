/**
 * Edits of a plan by source time: found by comparing plans, moved to another plan of the same recording, and applied.
 */

import { type EditedSegment, editPlan } from "../plan-edit";
import { type PlanJson, planToJson } from "../plan-json";
import { applyTexts, type EditedText, listEditableWords } from "../plan-texts";
import {
  coveredDuration,
  durationOf,
  findOverlapping,
  indexEndingAfter,
  mergeSpans,
  overlapDuration,
  subtract,
} from "../planning/spans";
import { COMMON } from "../planning/thresholds";
import { MIN_SEGMENT_TICKS, type SourceClock } from "../segments";
import type { Word } from "../speech";
import { type Span, spanFromSeconds, spanToSeconds, type Ticks } from "../time";

/** A take that was chosen in place of the planned one, in seconds. */
export type ChosenTake = { line: string; start: number; end: number };

/**
 * Spans removed and restored by hand, corrected texts and chosen takes, in seconds of the source. Sorted; the spans of
 * each list are disjoint.
 */
export type PlanEdits = {
  removed: EditedSegment[];
  restored: EditedSegment[];
  texts: EditedText[];
  /** Their spans are in `removed` and `restored` too. */
  takes: ChosenTake[];
};

/** An edit that does not fit another plan. */
export type UnappliedEdit = {
  kind: "removed" | "restored" | "text" | "take";
  start: number;
  end: number;
  message: string;
};

export const NO_EDITS: PlanEdits = { removed: [], restored: [], texts: [], takes: [] };

export const hasEdits = (edits: PlanEdits): boolean =>
  edits.removed.length + edits.restored.length + edits.texts.length > 0;

export function listEdits(
  plan: Pick<PlanJson, "segments" | "takes">,
  segments: readonly EditedSegment[],
  texts: readonly EditedText[],
): PlanEdits {
  const before = toSpans(plan.segments);
  const after = toSpans(segments);
  const removed = subtractSpans(before, after);
  const restored = subtractSpans(after, before);
  return {
    removed: removed.map(toSeconds),
    restored: restored.map(toSeconds),
    texts: [...texts],
    takes: plan.takes.flatMap((take) => findChosenTake(take, removed, restored)),
  };
}

/**
 * Returns the take of a line that was restored where the planned one was removed, in a list; without such a take, the
 * list is empty.
 */
function findChosenTake(
  { line, chosen, candidates }: PlanJson["takes"][number],
  removed: readonly Span[],
  restored: readonly Span[],
): ChosenTake[] {
  const planned = candidates[chosen];
  if (!planned || !isMostlyCovered(spanFromSeconds(planned), removed)) return [];
  const wanted = candidates.find((one, i) => i !== chosen && isMostlyCovered(spanFromSeconds(one), restored));
  return wanted ? [{ line, start: wanted.start, end: wanted.end }] : [];
}

/**
 * Returns edits of the old plan as edits of the new one, and those that do not fit it. Edges that were edges of the old
 * plan's segments follow them as far as nothing is said between.
 */
export function reapply(
  edits: PlanEdits,
  oldPlan: PlanJson,
  newPlan: PlanJson,
): { edits: PlanEdits; unapplied: UnappliedEdit[] } {
  const unapplied: UnappliedEdit[] = [];
  const fits =
    (kind: UnappliedEdit["kind"]) =>
    ({ start, end }: EditedSegment): boolean => {
      const isInside = start < end && start >= 0 && end <= newPlan.source_duration;
      if (!isInside) unapplied.push({ kind, start, end, message: "is not in the recording" });
      return isInside;
    };
  const takes = edits.takes.filter(fits("take")).map((take) => ({ take, row: findTakeRow(take, newPlan) }));
  const lost = takes.filter(({ row }) => row === null).map(({ take }) => take);
  for (const { start, end, line } of lost)
    unapplied.push({ kind: "take", start, end, message: `the line is not in the new cut: ${line}` });
  const lostSpans = lost.map(spanFromSeconds);
  const replaced = takes.flatMap(({ take, row }) => (row ? listReplacedTakes(take, row) : []));

  const [oldSides, newSides] = [toSides(oldPlan), toSides(newPlan)];
  const removed = edits.removed
    .filter(fits("removed"))
    .map((span) => moveRemoved(spanFromSeconds(span), oldSides, newSides));
  const restored = edits.restored
    .filter(fits("restored"))
    .map(spanFromSeconds)
    .filter((span) => !lostSpans.some((take) => overlapDuration(take, span) > durationOf(span) / 2))
    .map((span) => moveRestored(span, oldSides, newSides));
  const kept = mergeSpans(restored);
  return {
    edits: {
      removed: subtractSpans(mergeSpans([...removed, ...replaced]), kept).map(toSeconds),
      restored: kept.map(toSeconds),
      texts: edits.texts.filter(fits("text")),
      takes: takes.flatMap(({ take, row }) => (row ? [take] : [])),
    },
    unapplied: unapplied.toSorted((a, b) => a.start - b.start),
  };
}

type TakeRow = PlanJson["takes"][number];

/** Returns the takes of a chosen take's line in another plan; null if it does not have the line. */
const findTakeRow = (take: ChosenTake, { takes }: PlanJson): TakeRow | null =>
  takes.find(({ candidates }) => candidates.some((one) => isSameTake(one, take))) ??
  takes.find(({ line }) => line === take.line) ??
  null;

/** Returns the other takes of the line that the new plan has chosen. */
const listReplacedTakes = (take: ChosenTake, { chosen, candidates }: TakeRow): Span[] => {
  const planned = candidates[chosen];
  return planned && !isSameTake(planned, take) ? [spanFromSeconds({ start: planned.start, end: planned.end })] : [];
};

const isSameTake = (a: EditedSegment, b: EditedSegment): boolean =>
  Math.min(a.end, b.end) - Math.max(a.start, b.start) > Math.max(a.end - a.start, b.end - b.start) / 2;

/** Returns a plan with edits. `words` are those of the transcript. */
export function applyEdits(
  plan: PlanJson,
  edits: PlanEdits,
  words: readonly Word[] | null,
  clock: SourceClock,
): PlanJson {
  return setSegments(plan, listEditedSegments(plan, edits), edits.texts, words, clock);
}

/**
 * Returns a plan with these segments, which must be valid, and corrected texts. `words` are those of the transcript.
 */
export function setSegments(
  plan: PlanJson,
  segments: readonly EditedSegment[],
  texts: readonly EditedText[],
  words: readonly Word[] | null,
  clock: SourceClock,
): PlanJson {
  const { words: edited, spans } = applyTexts(listEditableWords(plan, words), texts);
  return planToJson(editPlan(plan, segments, edited, clock, spans));
}

/** Returns corrected texts with later ones, which replace those that they overlap. */
export const mergeTexts = (texts: readonly EditedText[], later: readonly EditedText[]): EditedText[] =>
  [...texts.filter((one) => !later.some(({ start, end }) => start < one.end && one.start < end)), ...later].toSorted(
    (a, b) => a.start - b.start,
  );

/**
 * Returns the segments of a plan with the spans that were removed and restored. Rests that are too short to be segments
 * are removed.
 */
function listEditedSegments(plan: PlanJson, edits: PlanEdits): EditedSegment[] {
  const removed = edits.removed.map(spanFromSeconds);
  const left = toSpans(plan.segments).flatMap((segment) => {
    const rests = subtractSpans([segment], removed);
    return rests.filter((rest) => durationOf(rest) >= MIN_SEGMENT_TICKS || durationOf(rest) === durationOf(segment));
  });
  return mergeSpans([...left, ...edits.restored.map(spanFromSeconds)]).map(toSeconds);
}

/** The kept spans of a plan, and the silence that it removes. Sorted, disjoint. */
type Sides = { kept: Span[]; silence: Span[] };

const toSides = (plan: PlanJson): Sides => ({
  kept: toSpans(plan.segments),
  silence: toSpans(plan.removed.filter(({ reason }) => reason === "silence")),
});

/** Silence beside a removed span that is shorter is listed as part of it. */
const isSilent = (span: Span, { silence }: Sides): boolean =>
  durationOf(span) <= COMMON.minTakePause || coveredDuration(silence, span) >= durationOf(span);

/** Moves the edges of a removed span over the padding, or the pause, that the new plan keeps beside it. */
function moveRemoved(span: Span, old: Sides, now: Sides): Span {
  const [first, last] = [findOverlapping(old.kept, span)[0], findOverlapping(old.kept, span).at(-1)];
  let { start, end } = span;
  if (first?.start === start) start = moveBack(start, old, now);
  if (last?.end === end) end = moveOn(end, old, now);
  return { start, end };
}

/**
 * Returns the start of the kept span in the new plan: moved back from the start of an old segment as far as the old
 * plan removes silence.
 */
function moveBack(time: Ticks, old: Sides, now: Sides): Ticks {
  const inside = findOverlapping(now.kept, { start: time - 1, end: time })[0];
  if (!inside) return time;
  const before = old.kept[indexEndingAfter(old.kept, time) - 1]?.end ?? 0;
  const target = Math.max(before, inside.start);
  return isSilent({ start: target, end: time }, old) ? target : time;
}

function moveOn(time: Ticks, old: Sides, now: Sides): Ticks {
  const inside = findOverlapping(now.kept, { start: time, end: time + 1 })[0];
  if (!inside) return time;
  const next = old.kept[indexEndingAfter(old.kept, time)]?.start ?? Number.POSITIVE_INFINITY;
  const target = Math.min(next, inside.end);
  return isSilent({ start: time, end: target }, old) ? target : time;
}

/** Moves the edges of a restored span that touched kept ones over the silence that the new plan removes there. */
function moveRestored(span: Span, old: Sides, now: Sides): Span {
  let { start, end } = span;
  const left = now.kept[indexEndingAfter(now.kept, start) - 1]?.end ?? 0;
  const right = now.kept[indexEndingAfter(now.kept, end)]?.start ?? Number.POSITIVE_INFINITY;
  const isFree = (time: Ticks) => findOverlapping(now.kept, { start: time - 1, end: time + 1 }).length === 0;
  const touchesLeft = old.kept[indexEndingAfter(old.kept, start) - 1]?.end === start;
  const touchesRight = old.kept[indexEndingAfter(old.kept, end)]?.start === end;
  if (touchesLeft && isFree(start) && isSilent({ start: left, end: start }, now)) start = left;
  if (touchesRight && isFree(end) && isSilent({ start: end, end: right }, now)) end = right;
  return { start, end };
}

const isMostlyCovered = (span: Span, spans: readonly Span[]): boolean =>
  2 * coveredDuration(spans, span) > durationOf(span);

const toSpans = (spans: readonly EditedSegment[]): Span[] =>
  spans.map(({ start, end }) => spanFromSeconds({ start, end }));

const toSeconds = ({ start, end }: Span): EditedSegment => spanToSeconds({ start, end });

/** Returns the parts of sorted, disjoint spans that none of the others (sorted, disjoint) covers. */
const subtractSpans = (spans: readonly Span[], others: readonly Span[]): Span[] =>
  spans.flatMap((span) => subtract(span, others));
