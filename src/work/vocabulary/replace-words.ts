/** Replaces recognized words with the terms of a vocabulary. */
import type { AlignmentRequest, ForcedAlignment, Transcript } from "../../domain/speech";
import { listCandidates, type Replacement, type TermCandidate } from "../../domain/vocabulary/candidates";
import type { VocabularyEntry } from "../../domain/vocabulary/entries";
import { listComparisons, selectByAudio, selectByText } from "../../domain/vocabulary/select";
import { prepareTerms } from "../../domain/vocabulary/terms";
import { yieldToEventLoop } from "../../media/parallel";

/** Time for which the search may keep the process from other work. */
const MAX_BLOCKED_MS = 20;

export type VocabularyUse = {
  entries: readonly VocabularyEntry[];
  /** Keys of words that stay: those of the script. */
  kept: ReadonlySet<string>;
  /** Aligns texts with parts of the recording; null to decide by the text alone. */
  forcedAlign: ((requests: AlignmentRequest[]) => Promise<ForcedAlignment[]>) | null;
};

/** Returns where terms replace words of a transcript, in order and disjoint. */
export async function findReplacements(
  transcript: Transcript | null,
  { entries, kept, forcedAlign }: VocabularyUse,
): Promise<Replacement[]> {
  if (transcript === null || entries.length === 0 || transcript.words.length === 0) return [];
  // The tokenizer takes a tenth of a second to load.
  const { isFrequentWord } = await import("../../speech/tokens");
  const candidates: TermCandidate[] = [];
  let yieldedAt = performance.now();
  for (const found of listCandidates(transcript.words, prepareTerms(entries), { isCommon: isFrequentWord, kept })) {
    candidates.push(...found);
    if (performance.now() - yieldedAt < MAX_BLOCKED_MS) continue;
    await yieldToEventLoop();
    yieldedAt = performance.now();
  }
  if (forcedAlign === null || transcript.forcing === false) return selectByText(candidates);
  const comparison = listComparisons(candidates, transcript);
  const { requests } = comparison;
  const alignments = requests.length === 0 ? [] : await forcedAlign(requests);
  return selectByAudio(candidates, comparison, { alignments, termCount: entries.length });
}
