/** Chooses among the takes of a line. Pure. */
import {
  type EditorPlan,
  fromSeconds,
  isMostlyRemoved,
  type Range,
  type Removal,
  removeRange,
  restoreRange,
} from "./plan";

/** A line that was recorded several times, as the API returns it, in seconds. */
export type TakeSource = {
  line: string;
  chosen: number;
  candidates: { start: number; end: number; complete: boolean; score?: number | null }[];
};

/** `isKept` refers to the edited plan, not to the original choice. */
export type Take = {
  line: string;
  candidates: (Range & { isComplete: boolean; isKept: boolean; score: number | null })[];
};

/** Returns the lines with more than one take, with their state in the plan. */
export const listTakes = (plan: EditorPlan, takes: readonly TakeSource[]): Take[] =>
  takes
    .filter(({ candidates }) => candidates.length > 1)
    .map(({ line, candidates }) => ({
      line,
      candidates: candidates.map(({ start, end, complete, score = null }) => {
        const range = { start: fromSeconds(start), end: fromSeconds(end) };
        return { ...range, isComplete: complete, score, isKept: !isMostlyRemoved(plan, range) };
      }),
    }));

const RETAKE: Removal = { reason: "retake", rule: null, confidence: null };

/** Keeps one take of a line and removes the others. Parts that two takes share are kept. */
export function chooseTake(plan: EditorPlan, take: Take, chosen: number): EditorPlan {
  const wanted = take.candidates[chosen];
  if (!wanted) return plan;
  let next = plan;
  for (const [index, candidate] of take.candidates.entries())
    if (index !== chosen) next = removeRange(next, candidate, RETAKE);
  return restoreRange(next, wanted);
}

/** Returns the index of the take after the kept one, in recording order. */
export function getNextTake({ candidates }: Take): number {
  const kept = candidates.findIndex(({ isKept }) => isKept);
  return (kept + 1) % candidates.length;
}

/** Returns the line whose takes include a time, or null. */
export const findTakeAt = (takes: readonly Take[], time: number): Take | null =>
  takes.find(({ candidates }) => candidates.some(({ start, end }) => start <= time && time < end)) ?? null;
