import type { PlanSteps } from "../../../../src/domain/planning/context";

/** Runs a planner step that yields no alignment requests, and returns its result. */
export function runWithoutAlignment<Result>(steps: PlanSteps<Result>): Result {
  for (;;) {
    const step = steps.next([]);
    if (step.done) return step.value;
    if (step.value.length > 0) throw new Error("Unexpected alignment request.");
  }
}
