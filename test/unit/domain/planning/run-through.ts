import type { PlanSteps } from "../../../../src/domain/planning/context";

/** The result of steps that ask for nothing, and only give way. */
export function runThrough<Result>(steps: PlanSteps<Result>): Result {
  for (;;) {
    const step = steps.next([]);
    if (step.done) return step.value;
    if (step.value.length > 0) throw new Error("something is held against the sound");
  }
}
