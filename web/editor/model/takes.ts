/** Choosing among the takes of a line. Pure. */
import { type EditorPlan, fromSeconds, isRemoved, type Range, removeRange, restoreRange } from "./plan";

/** A line that was recorded several times, as the API returns it, in seconds. */
export type TakeSource = {
  line: string;
  chosen: number;
  candidates: { start: number; end: number; complete: boolean }[];
};

/** `isKept` is about the plan as it is edited, not about what was chosen at first. */
export type Take = { line: string; candidates: (Range & { isComplete: boolean; isKept: boolean })[] };

/** Returns the lines with more than one take, as they are in the plan. */
export const listTakes = (plan: EditorPlan, takes: readonly TakeSource[]): Take[] =>
  takes
    .filter(({ candidates }) => candidates.length > 1)
    .map(({ line, candidates }) => ({
      line,
      candidates: candidates.map(({ start, end, complete }) => {
        const range = { start: fromSeconds(start), end: fromSeconds(end) };
        return { ...range, isComplete: complete, isKept: !isMostlyRemoved(plan, range) };
      }),
    }));

/** A take counts as removed if its middle half is: its edges are cut by a few frames. */
function isMostlyRemoved(plan: EditorPlan, { start, end }: Range): boolean {
  const quarter = (end - start) / 4;
  return isRemoved(plan, { start: start + quarter, end: end - quarter });
}

/** Keeps one take of a line and removes the others. A part that two takes share stays. */
export function chooseTake(plan: EditorPlan, take: Take, chosen: number): EditorPlan {
  const wanted = take.candidates[chosen];
  if (!wanted) return plan;
  let next = plan;
  for (const [index, candidate] of take.candidates.entries())
    if (index !== chosen) next = removeRange(next, candidate, "retake");
  return restoreRange(next, wanted);
}

/** Returns the index of the take after the one that is kept, in the order of the recording. */
export function getNextTake({ candidates }: Take): number {
  const kept = candidates.findIndex(({ isKept }) => isKept);
  return (kept + 1) % candidates.length;
}

/** Returns the line whose takes include a time, or null. */
export const findTakeAt = (takes: readonly Take[], time: number): Take | null =>
  takes.find(({ candidates }) => candidates.some(({ start, end }) => start <= time && time < end)) ?? null;
