/** Assembles a plan again with other options, without planning: live pacing in the browser. */
import { type PlanJson, planToJson } from "../plan-json";
import { assembleBasis, type PacingOptions, type PlanBasis } from "../planning/basis";
import type { Word } from "../speech";
import { fromSeconds } from "../time";
import { applyEdits, hasEdits, NO_EDITS, type PlanEdits, reapply, type UnappliedEdit } from "./edits";

export type { PacingOptions, PlanBasis } from "../planning/basis";
export { toPacingOptions } from "../planning/basis";

/** A plan with other options, and the edits as edits of it. */
export type RepacedPlan = { plan: PlanJson; edits: PlanEdits; unapplied: UnappliedEdit[] };

/**
 * Returns the cut with other options. `plan` is the plan before `edits`, `words` are those of the transcript. With the
 * options of the cut and without edits, the result is its plan as it was computed.
 */
export function repace(
  plan: PlanJson,
  words: readonly Word[] | null,
  basis: PlanBasis,
  options: PacingOptions,
  edits: PlanEdits = NO_EDITS,
): RepacedPlan {
  const clock = { duration: fromSeconds(plan.source_duration), frames: basis.frames };
  const { takes, missing, warnings, frame_rate, language } = plan;
  const assembled = planToJson({
    sourceDuration: clock.duration,
    frameRate: frame_rate,
    ...assembleBasis(basis, clock.duration, options),
    takes: [],
    missing,
    warnings,
    language: language ?? null,
  });
  const base = { ...assembled, takes };
  if (!hasEdits(edits)) return { plan: base, edits, unapplied: [] };
  const moved = reapply(edits, plan, base);
  return { plan: applyEdits(base, moved.edits, words, clock), ...moved };
}
