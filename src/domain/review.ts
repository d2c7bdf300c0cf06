/**
 * The review of a cut: its items, which are removed spans and marked kept spans, and what decisions about them change.
 * Pure. An edited cut has the items of the cut that it was made from, so that decisions and IDs survive edits that
 * remove or merge spans.
 */
import type { JudgedPlan } from "./pacing/judge-plan";
import type { PlanJson } from "./plan-json";
import { type RemovalReason, type Rule, reviewText } from "./planning/rules";
import { mergeSpans, subtract } from "./planning/spans";
import { SURE } from "./review-threshold";
import { MIN_SEGMENT_TICKS } from "./segments";
import { fromSeconds, type Span, spanFromSeconds, type Ticks } from "./time";

export const REVIEW_KINDS = ["removal", "mark"] as const;
export const REVIEW_DECISIONS = ["kept", "removed"] as const;
export const REVIEW_STATES = ["open", ...REVIEW_DECISIONS] as const;

export type ReviewKind = (typeof REVIEW_KINDS)[number];
export type ReviewState = (typeof REVIEW_STATES)[number];

/** `reason` is that of a removal, or the text of a mark. `rule` and `confidence` are null in plans that lack them. */
export type ReviewItem = Span & {
  id: string;
  kind: ReviewKind;
  reason: string;
  rule: Rule | null;
  confidence: number | null;
};

export type ReviewDecision = { item: ReviewItem; state: ReviewState };

export const formatItemId = (kind: ReviewKind, { start, end }: Span): string =>
  `${kind[0]}${start.toString(36)}-${end.toString(36)}`;

const toItem = (
  kind: ReviewKind,
  span: Span,
  facts: Pick<ReviewItem, "reason" | "rule" | "confidence">,
): ReviewItem => ({
  id: formatItemId(kind, span),
  kind,
  start: span.start,
  end: span.end,
  ...facts,
});

/** Returns the items of a plan, sorted by time. Spans that were removed by hand are not items. */
export function listPlanItems(plan: PlanJson | JudgedPlan): ReviewItem[] {
  const { removed, review } = "review" in plan ? plan : { ...plan, review: null };
  const removals = (removed as JudgedPlan["removed"])
    .filter(({ reason }) => reason !== ("manual" satisfies RemovalReason))
    .map(({ rule = null, confidence = null, ...span }) =>
      toItem("removal", spanFromSeconds(span), { reason: span.reason, rule, confidence }),
    );
  const marks = review
    ? review.map(({ rule, confidence, ...span }) =>
        toItem("mark", spanFromSeconds(span), { reason: reviewText(rule), rule, confidence }),
      )
    : plan.segments.flatMap(({ review: reason, ...span }) =>
        reason === null ? [] : [toItem("mark", spanFromSeconds(span), { reason, rule: null, confidence: null })],
      );
  const byId = new Map([...removals, ...marks].map((item) => [item.id, item]));
  return [...byId.values()].sort((a, b) => a.start - b.start);
}

/** Returns whether an editor should listen to an item: a mark, or an unsure removal. */
export const isWorthReview = ({ kind, confidence }: ReviewItem): boolean =>
  kind === "mark" || (confidence !== null && confidence < SURE);

/** An item as it is stored with an edited cut. */
type StoredItem = [ReviewKind, Ticks, Ticks, string, Rule | null, number | null];

export const formatItems = (items: readonly ReviewItem[]): string =>
  JSON.stringify(
    items.map(
      ({ kind, start, end, reason, rule, confidence }): StoredItem => [kind, start, end, reason, rule, confidence],
    ),
  );

export const parseItems = (text: string): ReviewItem[] =>
  (JSON.parse(text) as StoredItem[]).map(([kind, start, end, reason, rule, confidence]) =>
    toItem(kind, { start, end }, { reason, rule, confidence }),
  );

/**
 * Returns the spans that are kept after the decisions: `kept` adds the span of an item, `removed` takes it away, and
 * `open` makes it as it is in `planned`, the segments of the cut. A mark is kept without the `pauses` in it, which are
 * items of their own. All spans are sorted and disjoint. Returns `segments` itself if nothing changes. Where decisions
 * on overlapping items differ, removal wins.
 */
export function applyDecisions(
  segments: readonly Span[],
  decisions: readonly ReviewDecision[],
  { planned, pauses = [], duration }: { planned: readonly Span[]; pauses?: readonly Span[]; duration: Ticks },
): readonly Span[] {
  const added: Span[] = [];
  const taken: Span[] = [];
  for (const { item, state } of decisions) {
    if (state === "kept") added.push(...(item.kind === "mark" ? subtractSpans([item], pauses) : [item]));
    else if (state === "removed") taken.push(item);
  }
  const reopened = mergeSpans(decisions.filter(({ state }) => state === "open").map(({ item }) => item));
  const missing = subtractSpans(reopened, planned);
  const removed = mergeSpans([...taken, ...missing]);
  const wanted = subtractSpans(mergeSpans([...added, ...subtractSpans(reopened, missing)]), removed);
  const kept = mergeSpans(segments);
  const joined = subtractSpans(wanted, kept);
  const dropped = intersectSpans(kept, removed);
  if (joined.length === 0 && dropped.length === 0) return segments;
  const edges = new Set(dropped.flatMap(({ start, end }) => [start, end]));
  const rest = subtractSpans(segments, dropped).filter(
    (span) => isLongEnough(span) || !(edges.has(span.start) || edges.has(span.end)),
  );
  return lengthen(joinAt(rest, joined), duration);
}

const isLongEnough = ({ start, end }: Span): boolean => end - start >= MIN_SEGMENT_TICKS;

/** Returns the parts of sorted, disjoint spans that are not in others. Spans that only touch stay separate. */
function subtractSpans(spans: readonly Span[], others: readonly Span[]): Span[] {
  const sorted = mergeSpans(others);
  return spans.flatMap((span) => subtract(span, sorted));
}

const intersectSpans = (spans: readonly Span[], others: readonly Span[]): Span[] =>
  subtractSpans(spans, subtractSpans(spans, others));

/** Adds spans to others and joins them with those that they touch. */
function joinAt(spans: readonly Span[], added: readonly Span[]): Span[] {
  const joints = new Set(added.flatMap(({ start, end }) => [start, end]));
  const out: Span[] = [];
  for (const { start, end } of [...spans, ...added].sort((a, b) => a.start - b.start)) {
    const last = out.at(-1);
    if (last && (start < last.end || (start === last.end && joints.has(start)))) last.end = Math.max(last.end, end);
    else out.push({ start, end });
  }
  return out;
}

/** Lengthens spans to the minimum duration of a segment, and joins those that then overlap. */
function lengthen(spans: readonly Span[], duration: Ticks): Span[] {
  if (spans.every(isLongEnough)) return [...spans];
  const longer = spans.map((span) => {
    if (isLongEnough(span)) return span;
    const end = Math.min(duration, span.start + MIN_SEGMENT_TICKS);
    return { start: Math.max(0, end - MIN_SEGMENT_TICKS), end };
  });
  return joinAt(longer, []);
}

export const planSpans = (plan: PlanJson): Span[] =>
  plan.segments.map(({ start, end }) => ({ start: fromSeconds(start), end: fromSeconds(end) }));

export const listPauses = (plan: PlanJson): Span[] =>
  plan.removed
    .filter(({ reason }) => reason === ("silence" satisfies RemovalReason))
    .map(({ start, end }) => spanFromSeconds({ start, end }));
