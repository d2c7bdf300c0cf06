/** The edges of kept spans, which the user can move. Pure. */
import { type EditorPlan, findSpanIndex, MIN_KEPT, type PlanSpan, type Range, removeRange, restoreRange } from "./plan";

/** `side`: whether the kept span starts or ends here. */
export type Edge = { time: number; side: "start" | "end" };

/** Lists the edges in order, without the start and the end of the recording. */
export const listEdges = (plan: EditorPlan): Edge[] => plan.spans.flatMap((span) => toEdges(plan, span));

function toEdges({ duration }: EditorPlan, span: PlanSpan): Edge[] {
  if (!span.isKept) return [];
  const edges: Edge[] = [];
  if (span.start > 0) edges.push({ time: span.start, side: "start" });
  if (span.end < duration) edges.push({ time: span.end, side: "end" });
  return edges;
}

/**
 * Returns the range in which an edge can move. Its kept span keeps a length of at least `MIN_KEPT`, and the edge does
 * not pass the next kept span. If it reaches that span, the two become one.
 */
export function getEdgeRange(plan: EditorPlan, { time, side }: Edge): Range {
  const index = findSpanIndex(plan, side === "start" ? time : time - 1);
  const { spans } = plan;
  const kept = spans[index]!;
  if (side === "start") {
    let start = kept.start;
    for (let before = index - 1; before >= 0 && !spans[before]!.isKept; before--) start = spans[before]!.start;
    return { start, end: kept.end - MIN_KEPT };
  }
  let end = kept.end;
  for (let after = index + 1; after < spans.length && !spans[after]!.isKept; after++) end = spans[after]!.end;
  return { start: kept.start + MIN_KEPT, end };
}

/** Moves an edge. `to` is clamped to the range of the edge. */
export function moveEdge(plan: EditorPlan, edge: Edge, to: number): EditorPlan {
  const range = getEdgeRange(plan, edge);
  const time = Math.round(Math.min(range.end, Math.max(range.start, to)));
  const changed = { start: Math.min(edge.time, time), end: Math.max(edge.time, time) };
  const isLonger = edge.side === "start" ? time < edge.time : time > edge.time;
  return isLonger ? restoreRange(plan, changed) : removeRange(plan, changed);
}

/** Lists the edges in a range, including its ends. */
export const listEdgesIn = (plan: EditorPlan, { start, end }: Range): Edge[] =>
  plan.spans
    .slice(findSpanIndex(plan, start - 1), findSpanIndex(plan, end) + 1)
    .flatMap((span) => toEdges(plan, span))
    .filter(({ time }) => time >= start && time <= end);

/** Returns whether the plan still has this edge. Other edits and undo can remove edges. */
export const hasEdge = (plan: EditorPlan, { time, side }: Edge): boolean =>
  listEdgesIn(plan, { start: time, end: time }).some((edge) => edge.side === side);

/**
 * Returns the removed range that contains a time, between two kept spans or the ends of the recording. Returns null if
 * the time is kept.
 */
export function findJoin(plan: EditorPlan, time: number): Range | null {
  const { spans } = plan;
  const index = findSpanIndex(plan, time);
  if (spans[index]?.isKept !== false) return null;
  let [first, last] = [index, index];
  while (spans[first - 1]?.isKept === false) first--;
  while (spans[last + 1]?.isKept === false) last++;
  return { start: spans[first]!.start, end: spans[last]!.end };
}

/** Returns the number of edges in a range, including its ends. */
export function countEdgesIn(plan: EditorPlan, { start, end }: Range): number {
  const isEdge = (time: number) => time > 0 && time < plan.duration && time >= start && time <= end;
  let count = 0;
  for (let index = findSpanIndex(plan, start - 1); index < plan.spans.length; index++) {
    const span = plan.spans[index]!;
    if (span.start > end) break;
    if (span.isKept) count += Number(isEdge(span.start)) + Number(isEdge(span.end));
  }
  return count;
}

/** Returns a number that identifies the edge while it moves. It stays the same because edges cannot pass each other. */
export const getEdgeKey = (plan: EditorPlan, { time, side }: Edge): number =>
  side === "start" ? 2 * findSpanIndex(plan, time) : 2 * findSpanIndex(plan, time - 1) + 1;

/** Returns the edge nearest to a time, or null if none is within `distance`. */
export function findNearestEdge(plan: EditorPlan, time: number, distance: number): Edge | null {
  let nearest: Edge | null = null;
  for (const edge of listEdgesIn(plan, { start: time - distance, end: time + distance })) {
    const far = Math.abs(edge.time - time);
    if (far <= distance && (nearest === null || far < Math.abs(nearest.time - time))) nearest = edge;
  }
  return nearest;
}
