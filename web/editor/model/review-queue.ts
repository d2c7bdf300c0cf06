/** The review queue: the places of a cut that are worth a listen, and the decisions about them. Pure. */
import type { ReviewState } from "../../../src/domain/review";
import { SURE } from "../../../src/domain/review-threshold";
import {
  type EditorPlan,
  isMostlyRemoved,
  keepsTheSame,
  type Range,
  type RemovalReason,
  removeRange,
  restoreRange,
} from "./plan";

/** A removal of the cut, or a mark on kept words. Its ID and times stay the same while the cut is edited. */
export type ReviewItem = Range & {
  id: string;
  kind: "removal" | "mark";
  /** The reason of a removal; null for a mark. */
  reason: RemovalReason | null;
  rule: string | null;
  /** The reason for which a mark needs review, as the server's text. */
  review: string | null;
  /** From 0 to 1; null if it is not known. */
  confidence: number | null;
  isSuggestedRemoval: boolean;
};

/** `kept` and `removed` describe the cut after the decision, whatever it contained before. */
export type Decision = Exclude<ReviewState, "open">;
export type Decisions = ReadonlyMap<string, Decision>;
export const NO_DECISIONS: Decisions = new Map();

/** `worth`: marks and unsure removals. `unsure`: only these removals. `every`: marks and all removals. */
export type QueueScope = "worth" | "unsure" | "every";

export type QueueFilter = {
  scope: QueueScope;
  reason: RemovalReason | null;
  /** Length of the shortest item in microseconds. */
  minLength: number;
  /** Items with at least this confidence are left out; null shows all. */
  maxConfidence: number | null;
};

export const ALL_WORTH: QueueFilter = { scope: "worth", reason: null, minLength: 0, maxConfidence: null };

export const isAllWorth = (filter: QueueFilter): boolean =>
  (Object.keys(ALL_WORTH) as (keyof QueueFilter)[]).every((key) => filter[key] === ALL_WORTH[key]);

export const isUnsure = ({ kind, confidence }: ReviewItem): boolean =>
  kind === "removal" && confidence !== null && confidence < SURE;

function isShown(item: ReviewItem, { scope, reason, minLength, maxConfidence }: QueueFilter): boolean {
  if (scope === "worth" && item.kind !== "mark" && !isUnsure(item)) return false;
  if (scope === "unsure" && !isUnsure(item)) return false;
  if (reason !== null && item.reason !== reason) return false;
  if (item.end - item.start < minLength) return false;
  return maxConfidence === null || (item.confidence ?? 0) < maxConfidence;
}

/** Returns the items that a filter shows, by time. If two start together, the shorter one is first. */
export const listQueue = (items: readonly ReviewItem[], filter: QueueFilter): ReviewItem[] =>
  items.filter((item) => isShown(item, filter)).sort((a, b) => a.start - b.start || a.end - b.end);

export type QueueProgress = { total: number; kept: number; removed: number; open: number };

export function countProgress(queue: readonly ReviewItem[], decisions: Decisions): QueueProgress {
  const count = { kept: 0, removed: 0 };
  for (const { id } of queue) {
    const decision = decisions.get(id);
    if (decision !== undefined) count[decision]++;
  }
  return { total: queue.length, ...count, open: queue.length - count.kept - count.removed };
}

/** Time before and after an item that is played with it. */
export const CONTEXT = 1_000_000;
/** Time for a decision after the item has played. */
const DECIDE = 1_500_000;

/** Estimates the time in microseconds that the open items still take. */
export function estimateLeft(queue: readonly ReviewItem[], decisions: Decisions): number {
  let left = 0;
  for (const { id, start, end } of queue) if (!decisions.has(id)) left += end - start + 2 * CONTEXT + DECIDE;
  return left;
}

/** Returns the open item after a position in the queue, from the start again after the end; null if all are decided. */
export function findOpenAfter(queue: readonly ReviewItem[], decisions: Decisions, position: number): ReviewItem | null {
  const isOpen = ({ id }: ReviewItem) => !decisions.has(id);
  return queue.slice(position + 1).find(isOpen) ?? queue.slice(0, position + 1).find(isOpen) ?? null;
}

/** Returns the first open item that ends after a time, otherwise the first open one; null if all are decided. */
export function findOpenAt(queue: readonly ReviewItem[], decisions: Decisions, time: number): ReviewItem | null {
  const position = queue.findIndex(({ end }) => end > time);
  return findOpenAfter(queue, decisions, position === -1 ? queue.length - 1 : position - 1);
}

/** Returns the item before (-1) or after (1) a position, whether or not it is decided. Wraps around at the ends. */
export function stepQueue(queue: readonly ReviewItem[], position: number, direction: 1 | -1): ReviewItem | null {
  if (queue.length === 0) return null;
  if (position === -1) return direction === 1 ? queue[0]! : queue.at(-1)!;
  return queue[(position + direction + queue.length) % queue.length]!;
}

/** Returns the plan after a decision: the same object if the item already is as decided. */
export function decide(plan: EditorPlan, item: ReviewItem, decision: Decision): EditorPlan {
  const { reason, rule, confidence } = item;
  const removal = item.kind === "removal" && reason !== null ? { reason, rule, confidence } : undefined;
  const decided = decision === "kept" ? restoreRange(plan, item) : removeRange(plan, item, removal);
  return keepsTheSame(plan, decided) ? plan : decided;
}

/** Returns the decisions after an edge has moved within or out of open items. The plan determines each decision. */
export function decideMoved(
  items: readonly ReviewItem[],
  decided: ReadonlySet<string>,
  [from, to]: readonly [number, number],
  plan: EditorPlan,
): Map<string, Decision> {
  const isIn = (time: number, { start, end }: Range) => start <= time && time <= end;
  const moved = items.filter((item) => !decided.has(item.id) && (isIn(from, item) || isIn(to, item)));
  return new Map(moved.map((item) => [item.id, isMostlyRemoved(plan, item) ? "removed" : "kept"]));
}

/** Returns the range around an item with up to a second of kept audio on both sides. */
export function findContext({ spans, duration }: EditorPlan, { start, end }: Range): Range {
  const context = { start: 0, end: duration };
  let left = CONTEXT;
  for (let index = spans.findLastIndex((span) => span.start < start); index >= 0; index--) {
    const span = spans[index]!;
    const to = Math.min(start, span.end);
    if (span.isKept && to - span.start >= left) {
      context.start = to - left;
      break;
    }
    if (span.isKept) left -= to - span.start;
  }
  left = CONTEXT;
  for (let index = spans.findIndex((span) => span.end > end); index !== -1 && index < spans.length; index++) {
    const span = spans[index]!;
    const from = Math.max(end, span.start);
    if (span.isKept && span.end - from >= left) {
      context.end = from + left;
      break;
    }
    if (span.isKept) left -= span.end - from;
  }
  return context;
}

/** Returns the IDs whose decision differs, with the new one; null means that the item is open again. */
export function compareDecisions(before: Decisions, after: Decisions): Map<string, Decision | null> {
  const changed = new Map<string, Decision | null>();
  for (const [id, decision] of after) if (before.get(id) !== decision) changed.set(id, decision);
  for (const id of before.keys()) if (!after.has(id)) changed.set(id, null);
  return changed;
}

/** Applies changes to decisions. Returns the same object if nothing changes. */
export function mergeDecisions(decisions: Decisions, changes: ReadonlyMap<string, Decision | null>): Decisions {
  const merged = new Map(decisions);
  for (const [id, decision] of changes)
    if (decision === null) merged.delete(id);
    else merged.set(id, decision);
  return compareDecisions(decisions, merged).size === 0 ? decisions : merged;
}
