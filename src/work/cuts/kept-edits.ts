/** Applies the edits of an earlier cut to a new plan of the same recording. */
import type { ProbedMedia } from "../../domain/media";
import { applyEdits, listEdits, reapply, type UnappliedEdit } from "../../domain/pacing/edits";
import { repace, toPacingOptions } from "../../domain/pacing/repace";
import type { CutOptions } from "../../domain/plan";
import type { PlanJson } from "../../domain/plan-json";
import type { EditedText } from "../../domain/plan-texts";
import type { Word } from "../../domain/speech";
import { unpackBasis } from "./stored-basis";

/** The cut whose edits are kept, as it is stored. */
export type KeptCut = { plan: string; basis: string | null; options: CutOptions };

/** Returns what is needed of a completed cut; null if it has no plan. */
export const toKeptCut = ({ plan, basis, options }: Omit<KeptCut, "plan"> & { plan: string | null }): KeptCut | null =>
  plan === null ? null : { plan, basis, options };

/** A plan with edits, and the corrected texts among them. */
type PlanWithEdits = { plan: PlanJson; texts: EditedText[] };

/** Returns the plan with the edits of a cut; null if that was deleted. The plan's warnings list what could not be applied. */
export function keepEdits(
  plan: PlanJson,
  kept: KeptCut | null,
  words: readonly Word[] | null,
  { info, frames }: ProbedMedia,
): PlanWithEdits {
  const warn = (...warnings: string[]): PlanJson => ({ ...plan, warnings: [...plan.warnings, ...warnings] });
  if (kept === null) return { plan: warn("The cut whose edits were to be kept was deleted."), texts: [] };
  const edited = JSON.parse(kept.plan) as PlanJson;
  const stored = unpackBasis(kept.basis, edited);
  if (stored === null)
    return { plan: warn("The edits were not kept: their cut was made by an older version, or by hand."), texts: [] };
  const options = stored.pacing ?? toPacingOptions(kept.options);
  const base = repace(edited, null, { ...stored, frames }, options).plan;
  const { edits, unapplied } = reapply(listEdits(base, edited.segments, stored.texts), base, plan);
  const clock = { duration: info.duration, frames };
  return {
    plan: applyEdits(warn(...unapplied.map(describeUnapplied)), edits, words, clock),
    texts: edits.texts,
  };
}

const KINDS: Record<UnappliedEdit["kind"], string> = {
  removed: "removed span",
  restored: "restored span",
  text: "corrected text",
  take: "chosen take",
};

const describeUnapplied = ({ kind, start, end, message }: UnappliedEdit): string =>
  `Edit not kept: ${KINDS[kind]} from ${start.toFixed(2)} s to ${end.toFixed(2)} s: ${message}`;
