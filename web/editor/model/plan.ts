/**
 * The plan that is being edited: spans that cover the recording, each kept or removed. Times are integers in
 * microseconds of the source. Pure: an edit returns a new plan.
 */

import { compareKept } from "../../../src/domain/merge-edits";
import type { RemovalReason } from "../../../src/domain/planning/rules";
import { MIN_SEGMENT_TICKS } from "../../../src/domain/segments";
import { findFirst, fromSeconds, toSeconds } from "../../../src/domain/time";

export { fromSeconds, type RemovalReason, toSeconds };

type KeptSpan = { start: number; end: number; isKept: true; review: string | null };
/** Why a span is removed. `confidence` is from 0 to 1; null if it is not known. */
export type Removal = { reason: RemovalReason; rule: string | null; confidence: number | null };
export type RemovedSpan = Removal & { start: number; end: number; isKept: false };
export type PlanSpan = KeptSpan | RemovedSpan;

/**
 * `spans` are sorted, non-empty and cover `[0, duration)` without gaps. Adjacent kept spans are merged, as are adjacent
 * removed spans with the same reason and rule.
 */
export type EditorPlan = { duration: number; spans: readonly PlanSpan[] };

export type Range = { start: number; end: number };

/** Length of the shortest kept span that the server accepts. */
export const MIN_KEPT = MIN_SEGMENT_TICKS;

/** The parts of an API plan that editing needs, in seconds. */
type PlanSource = {
  source_duration: number;
  segments: { start: number; end: number; review: string | null }[];
  removed: {
    start: number;
    end: number;
    reason: RemovalReason;
    rule?: string | null | undefined;
    confidence?: number | null | undefined;
  }[];
};

/** Converts a plan of the API. Gaps between its spans, which only a damaged plan has, count as removed. */
export function readPlan(source: PlanSource): EditorPlan {
  const duration = fromSeconds(source.source_duration);
  const spans: PlanSpan[] = [];
  for (const { start, end, review } of source.segments)
    spans.push({ start: fromSeconds(start), end: fromSeconds(end), isKept: true, review });
  for (const { start, end, reason, rule, confidence } of source.removed) {
    const removal = { reason, rule: rule ?? null, confidence: confidence ?? null };
    spans.push({ start: fromSeconds(start), end: fromSeconds(end), isKept: false, ...removal });
  }
  return { duration, spans: tile(spans, duration) };
}

/**
 * Creates a plan that keeps only these sorted ranges. Spans that were already removed keep their reason; newly removed
 * ones get `manual`.
 */
export function keepOnly(plan: EditorPlan, kept: readonly Range[]): EditorPlan {
  const spans: PlanSpan[] = [];
  let next = 0;
  for (const span of plan.spans) {
    let at = span.start;
    while (at < span.end) {
      while (next < kept.length && kept[next]!.end <= at) next++;
      const range = kept[next];
      const isKept = range !== undefined && range.start <= at;
      const end = Math.min(span.end, range === undefined ? span.end : isKept ? range.end : range.start);
      const part = { ...span, start: at, end };
      spans.push(isKept ? keep(part) : remove(part));
      at = end;
    }
  }
  return { ...plan, spans: dropCrumbs(join(spans)) };
}

/** Sorts spans, trims overlaps, fills gaps, and merges equal neighbors. */
function tile(spans: readonly PlanSpan[], duration: number): PlanSpan[] {
  const tiled: PlanSpan[] = [];
  let at = 0;
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const start = Math.max(at, span.start);
    const end = Math.min(span.end, duration);
    if (end <= start) continue;
    if (start > at) tiled.push(manual({ start: at, end: start }));
    tiled.push(start === span.start && end === span.end ? span : { ...span, start, end });
    at = end;
  }
  if (at < duration) tiled.push(manual({ start: at, end: duration }));
  return join(tiled);
}

const BY_HAND: Removal = { reason: "manual", rule: null, confidence: null };
const manual = ({ start, end }: Range): RemovedSpan => ({ start, end, isKept: false, ...BY_HAND });

const remove = (part: PlanSpan, removal = BY_HAND): PlanSpan => {
  if (!part.isKept) return part;
  const { reason, rule, confidence } = removal;
  return { start: part.start, end: part.end, isKept: false, reason, rule, confidence };
};
const keep = (part: PlanSpan): PlanSpan =>
  part.isKept ? part : { start: part.start, end: part.end, isKept: true, review: null };

const isSameKind = (a: PlanSpan, b: PlanSpan): boolean =>
  a.isKept ? b.isKept : !b.isKept && a.reason === b.reason && a.rule === b.rule;

const findLower = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

/** Merges adjacent spans of the same kind. If both kept spans have a review, only the first is shown. */
function join(spans: readonly PlanSpan[]): PlanSpan[] {
  const joined: PlanSpan[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (!last || !isSameKind(last, span)) joined.push(span);
    else if (last.isKept && span.isKept)
      joined[joined.length - 1] = { ...last, end: span.end, review: last.review ?? span.review };
    else if (!last.isKept && !span.isKept)
      joined[joined.length - 1] = { ...last, end: span.end, confidence: findLower(last.confidence, span.confidence) };
  }
  return joined;
}

/**
 * Replaces the part of each span inside the range with the result of `change`. Spans outside of it stay the same
 * objects, because long recordings have thousands of them.
 */
function setRange(plan: EditorPlan, range: Range, change: (part: PlanSpan) => PlanSpan): EditorPlan {
  const start = Math.max(0, Math.round(range.start));
  const end = Math.min(plan.duration, Math.round(range.end));
  if (end <= start) return plan;
  // Adjacent spans may merge with the changed ones.
  const from = Math.max(0, findSpanIndex(plan, start) - 1);
  const to = findSpanIndex(plan, end - 1) + 2;
  const changed = plan.spans.slice(from, to).flatMap((span): PlanSpan[] => {
    if (span.end <= start || span.start >= end) return [span];
    const inside = { ...span, start: Math.max(span.start, start), end: Math.min(span.end, end) };
    const parts: PlanSpan[] = [];
    if (span.start < inside.start) parts.push({ ...span, end: inside.start });
    parts.push(change(inside));
    if (span.end > inside.end) parts.push({ ...span, start: inside.end });
    return parts;
  });
  return { ...plan, spans: dropCrumbs(plan.spans.slice(0, from).concat(join(changed), plan.spans.slice(to))) };
}

/** Removes kept spans that are too short to be played or saved. They get the reason of an adjacent span. */
function dropCrumbs(spans: PlanSpan[]): PlanSpan[] {
  if (!spans.some((span) => span.isKept && span.end - span.start < MIN_KEPT)) return spans;
  return join(
    spans.map((span, index): PlanSpan => {
      if (!span.isKept || span.end - span.start >= MIN_KEPT) return span;
      const neighbor = [spans[index - 1], spans[index + 1]].find((one) => one && !one.isKept);
      return neighbor && !neighbor.isKept ? { ...neighbor, start: span.start, end: span.end } : manual(span);
    }),
  );
}

/** Removes a range. Spans in it that were already removed keep their reason. */
export const removeRange = (plan: EditorPlan, range: Range, removal = BY_HAND): EditorPlan =>
  setRange(plan, range, (part) => remove(part, removal));

/** Keeps a range. */
export const restoreRange = (plan: EditorPlan, range: Range): EditorPlan => setRange(plan, range, keep);

/** Keeps the removed spans that `matches` selects. */
export const restoreSpans = (plan: EditorPlan, matches: (span: RemovedSpan) => boolean): EditorPlan => ({
  ...plan,
  spans: dropCrumbs(join(plan.spans.map((span) => (!span.isKept && matches(span) ? keep(span) : span)))),
});

const keptSpans = new WeakMap<EditorPlan, readonly KeptSpan[]>();

/** Returns the kept spans. The list is cached per plan, because most parts of the editor request it after each edit. */
export function listKept(plan: EditorPlan): readonly KeptSpan[] {
  const known = keptSpans.get(plan);
  if (known) return known;
  const kept = plan.spans.filter((span): span is KeptSpan => span.isKept);
  keptSpans.set(plan, kept);
  return kept;
}

export function getKeptDuration(plan: EditorPlan): number {
  let duration = 0;
  for (const { start, end } of listKept(plan)) duration += end - start;
  return duration;
}

/** Returns the index of the span at a time, or of the last span at or after the end. */
export const findSpanIndex = ({ spans }: EditorPlan, time: number): number =>
  Math.max(0, findFirst(spans.length, (index) => spans[index]!.start > time) - 1);

/** Returns whether everything in a range is removed. For an empty range, the span at its position decides. */
export function isRemoved(plan: EditorPlan, { start, end }: Range): boolean {
  for (let index = findSpanIndex(plan, start); index < plan.spans.length; index++) {
    const span = plan.spans[index]!;
    if (span.start >= end && span.start > start) return true;
    if (span.isKept) return false;
  }
  return true;
}

/** Returns whether most of a range is removed. */
export const isMostlyRemoved = (plan: EditorPlan, range: Range): boolean =>
  measureKept(plan, range) * 2 < range.end - range.start;

/** Returns how much of a range is kept. */
export function measureKept(plan: EditorPlan, { start, end }: Range): number {
  let kept = 0;
  for (let index = findSpanIndex(plan, start); index < plan.spans.length; index++) {
    const span = plan.spans[index]!;
    if (span.start >= end) break;
    if (span.isKept) kept += Math.min(end, span.end) - Math.max(start, span.start);
  }
  return kept;
}

/** Returns whether two plans keep the same spans. */
export function keepsTheSame(a: EditorPlan, b: EditorPlan): boolean {
  let [first, second] = [0, 0];
  for (;;) {
    while (a.spans[first]?.isKept === false) first++;
    while (b.spans[second]?.isKept === false) second++;
    const [one, other] = [a.spans[first++], b.spans[second++]];
    if (one === undefined || other === undefined) return one === other;
    if (one !== other && (one.start !== other.start || one.end !== other.end)) return false;
  }
}

/** `only`: which of the two cuts keeps the range. */
export type Difference = Range & { only: "first" | "second" };

/** Returns the ranges that only one of two plans keeps, in order. */
export const comparePlans = (first: EditorPlan, second: EditorPlan): Difference[] =>
  compareKept(listKept(first), listKept(second)).map(({ start, end, isKept }) => ({
    start,
    end,
    only: isKept ? "second" : "first",
  }));
