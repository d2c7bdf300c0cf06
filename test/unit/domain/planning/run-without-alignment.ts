import type { PlanSteps } from "../../../../src/domain/planning/context";

/** Runs a planner step that queries nothing, and returns its result. */
export function runWithoutAlignment<Result>(steps: PlanSteps<Result>): Result {
  for (;;) {
    const step = steps.next(null);
    if (step.done) return step.value;
    if (step.value !== null) throw new Error("Unexpected query.");
  }
}
