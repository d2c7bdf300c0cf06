/** Corrects the texts of a plan with a vocabulary. The spans of the plan stay the same. */
import type { CutOptions } from "../../domain/plan";
import { assembleBasis, toPacingOptions } from "../../domain/planning/basis";
import type { StagedPlan } from "../../domain/planning/context";
import type { Transcript } from "../../domain/speech";
import { replaceInBasis, replaceInTakes } from "../../domain/vocabulary/apply";
import { mergeVocabularies, type VocabularyEntry } from "../../domain/vocabulary/entries";
import { collectScriptTerms, listScriptKeys } from "../../domain/vocabulary/script-terms";
import { findReplacements, type VocabularyUse } from "./replace-words";

/**
 * Maximum number of texts that are compared with the audio for the names of a script alone: about 6 s. Where the
 * speaker follows the script, few are. An hour of other speech has thousands of doubtful words that sound a little like
 * one of a hundred names.
 */
const MAX_SCRIPT_REQUESTS = 400;

type Request = Pick<VocabularyUse, "entries" | "speech"> & {
  transcript: Transcript | null;
  script: string;
  options: CutOptions;
};

/**
 * Returns the plan with the terms of the vocabulary, and with the names and terms of the script, in its texts. Words of
 * the script stay. Planning itself compares the words as they were recognized, so that a vocabulary never changes the
 * cut.
 */
export async function replaceInPlan(
  plan: StagedPlan,
  { transcript, entries, script, options, speech }: Request,
): Promise<StagedPlan> {
  const all = mergeVocabularies(entries, await listScriptTerms(script, plan.language));
  const kept = listScriptKeys(script);
  const maxRequests = entries.length === 0 ? MAX_SCRIPT_REQUESTS : undefined;
  const replacements = await findReplacements(transcript, { entries: all, kept, speech, maxRequests });
  if (transcript === null || replacements.length === 0) return plan;
  const basis = replaceInBasis(plan.basis, transcript.words, replacements);
  const assembled = assembleBasis(basis, plan.sourceDuration, toPacingOptions(options));
  const takes = script === "" ? replaceInTakes(plan.takes, transcript.words, replacements) : plan.takes;
  return { ...plan, ...assembled, takes, basis };
}

async function listScriptTerms(script: string, language: string | null): Promise<VocabularyEntry[]> {
  if (script === "") return [];
  // The tokenizer takes 50 to 100 ms to load.
  const { isFrequentWord } = await import("../../speech/tokens");
  return collectScriptTerms(script, language, isFrequentWord);
}
