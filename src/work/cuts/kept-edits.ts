/** Applies the edits of an earlier cut to a new plan of the same recording. */
import type { ProbedMedia } from "../../domain/media";
import { applyEdits, listEdits, reapply, type UnappliedEdit } from "../../domain/pacing/edits";
import { judgePlan } from "../../domain/pacing/judge-plan";
import { type PlanBasis, repace, toPacingOptions } from "../../domain/pacing/repace";
import type { CutOptions } from "../../domain/plan";
import type { PlanJson } from "../../domain/plan-json";
import type { EditedText } from "../../domain/plan-texts";
import { formatItems, listPlanItems } from "../../domain/review";
import type { Word } from "../../domain/speech";
import { hasBasis, unpackBasis, unpackTexts } from "./stored-basis";

/** The cut whose edits are kept, as it is stored. */
export type KeptCut = { plan: string; basis: string | null; options: CutOptions };

/** Returns the required fields of a completed cut; null if it has no plan. */
export const toKeptCut = ({ plan, basis, options }: Omit<KeptCut, "plan"> & { plan: string | null }): KeptCut | null =>
  plan === null ? null : { plan, basis, options };

/**
 * A plan with edits, the corrected texts among them, and the items of its review: null, or those of the plan before the
 * edits.
 */
type PlanWithEdits = { plan: PlanJson; texts: EditedText[]; items: string | null };

/**
 * Returns the plan with the edits of a cut, which is null if it was deleted. The plan's warnings list edits that could
 * not be applied. `basis` is that of the plan.
 */
export function keepEdits(
  plan: PlanJson,
  basis: PlanBasis,
  kept: KeptCut | null,
  { words, probed: { info, frames } }: { words: readonly Word[] | null; probed: ProbedMedia },
): PlanWithEdits {
  const warn = (...warnings: string[]): PlanJson => ({ ...plan, warnings: [...plan.warnings, ...warnings] });
  const withoutEdits = (warning: string): PlanWithEdits => ({ plan: warn(warning), texts: [], items: null });
  if (kept === null) return withoutEdits("The cut whose edits were to be kept was deleted.");
  const edited = JSON.parse(kept.plan) as PlanJson;
  const base = findBase(edited, kept, frames);
  if (base === null) return withoutEdits(describeMissingBase(kept));
  const texts = unpackTexts(kept.basis, edited);
  const { edits, unapplied } = reapply(listEdits(base, edited.segments, texts ?? []), base, plan);
  const lost = texts === null ? ["The corrected texts were not kept: they are damaged."] : [];
  const clock = { duration: info.duration, frames };
  return {
    plan: applyEdits(warn(...lost, ...unapplied.map(describeUnapplied)), edits, words, clock),
    texts: edits.texts,
    items: formatItems(listPlanItems(judgePlan(plan, basis.spans))),
  };
}

/** Returns the plan before the edits; null if it is not known. A cut by hand starts with the whole recording. */
function findBase(edited: PlanJson, { basis, options }: KeptCut, frames: ProbedMedia["frames"]): PlanJson | null {
  const stored = unpackBasis(basis, edited);
  if (stored !== null)
    return repace(edited, null, { ...stored, frames }, stored.pacing ?? toPacingOptions(options)).plan;
  if (options.mode !== "manual") return null;
  const whole = { start: 0, end: edited.source_duration, start_frame: null, end_frame: null, text: "", review: null };
  return { ...edited, segments: [whole], removed: [], takes: [] };
}

const describeMissingBase = ({ basis }: KeptCut): string =>
  basis !== null && hasBasis(basis)
    ? "The edits were not kept: the stored data of their cut is damaged."
    : "The edits were not kept: their cut was made by an older version.";

const KINDS: Record<UnappliedEdit["kind"], string> = {
  removed: "removed span",
  restored: "restored span",
  text: "corrected text",
  take: "chosen take",
};

const describeUnapplied = ({ kind, start, end, message }: UnappliedEdit): string =>
  `Edit not kept: ${KINDS[kind]} from ${start.toFixed(2)} s to ${end.toFixed(2)} s: ${message}`;
