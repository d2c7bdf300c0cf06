/** Edits of all removals with one reason. Pure. */
import {
  type EditorPlan,
  type Range,
  type RemovalReason,
  type RemovedSpan,
  removeRange,
  restoreRange,
  restoreSpans,
} from "./plan";

export type ReasonTotal = { count: number; time: number };

/**
 * Returns the number and the duration of the removed spans of each reason. A removal by hand that includes pauses is
 * one, although they divide its span.
 */
export function countReasons({ spans }: EditorPlan): Map<RemovalReason, ReasonTotal> {
  const totals = new Map<RemovalReason, ReasonTotal>();
  let isCounted = false;
  for (const span of spans) {
    if (span.isKept) {
      isCounted = false;
      continue;
    }
    const { count, time } = totals.get(span.reason) ?? { count: 0, time: 0 };
    const isPart = span.reason === "manual" && isCounted;
    isCounted ||= span.reason === "manual";
    totals.set(span.reason, { count: count + Number(!isPart), time: time + span.end - span.start });
  }
  return totals;
}

/** Keeps all spans of a reason. */
export const restoreReason = (plan: EditorPlan, reason: RemovalReason): EditorPlan =>
  restoreSpans(plan, (span) => span.reason === reason);

const listRemoved = ({ spans }: EditorPlan, reason: RemovalReason): RemovedSpan[] =>
  spans.filter((span): span is RemovedSpan => !span.isKept && span.reason === reason);

/** Removes the spans of a reason again, as they are in the stored plan. */
export function removeReason(plan: EditorPlan, stored: EditorPlan, reason: RemovalReason, minLength = 0): EditorPlan {
  let next = plan;
  for (const span of listRemoved(stored, reason))
    if (span.end - span.start >= minLength) next = removeRange(next, span, span);
  return next;
}

/** Removes the pauses of the stored plan that are longer than a limit, and keeps the others. */
export const limitPauses = (plan: EditorPlan, stored: EditorPlan, limit: number): EditorPlan =>
  removeReason(
    restoreSpans(plan, ({ reason, start, end }) => reason === "silence" && end - start < limit),
    stored,
    "silence",
    limit,
  );

/** Leaves this much of a pause, half of it on each side. */
export function setPause(plan: EditorPlan, pause: Range, kept: number): EditorPlan {
  const restored = restoreRange(plan, pause);
  const start = Math.round(pause.start + kept / 2);
  const end = Math.round(pause.end - kept / 2);
  return end > start
    ? removeRange(restored, { start, end }, { reason: "silence", rule: null, confidence: null })
    : restored;
}
