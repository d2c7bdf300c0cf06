/** Corrects the texts of a plan with a vocabulary. The spans of the plan stay the same. */
import type { CutOptions } from "../../domain/plan";
import { assembleBasis, toPacingOptions } from "../../domain/planning/basis";
import type { StagedPlan } from "../../domain/planning/stages";
import type { Transcript } from "../../domain/speech";
import { replaceInBasis, replaceInTakes } from "../../domain/vocabulary/apply";
import { mergeVocabularies } from "../../domain/vocabulary/entries";
import { collectScriptTerms, listScriptKeys } from "../../domain/vocabulary/script-terms";
import { findReplacements, type VocabularyUse } from "./replace-words";

type Request = Pick<VocabularyUse, "entries" | "forcedAlign"> & {
  transcript: Transcript | null;
  script: string;
  options: CutOptions;
};

/**
 * Returns the plan with the terms of the vocabulary, and with the names and terms of the script, in its texts. Words of the script stay. Planning
 * itself compares the words as they were recognized, so that a vocabulary never changes what is cut.
 */
export async function replaceInPlan(
  plan: StagedPlan,
  { transcript, entries, script, options, forcedAlign }: Request,
): Promise<StagedPlan> {
  const { isFrequentWord } = await import("../../speech/tokens");
  const all = mergeVocabularies(entries, collectScriptTerms(script, plan.language, isFrequentWord));
  const replacements = await findReplacements(transcript, { entries: all, kept: listScriptKeys(script), forcedAlign });
  if (transcript === null || replacements.length === 0) return plan;
  const basis = replaceInBasis(plan.basis, transcript.words, replacements);
  const assembled = assembleBasis(basis, plan.sourceDuration, toPacingOptions(options));
  const takes = script === "" ? replaceInTakes(plan.takes, transcript.words, replacements) : plan.takes;
  return { ...plan, ...assembled, takes, basis };
}
