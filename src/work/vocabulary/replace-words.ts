/** Replaces recognized words with the terms of a vocabulary. */
import type {
  AlignmentRequest,
  ForcedAlignment,
  Recognition,
  RecognitionRequest,
  Transcript,
} from "../../domain/speech";
import { listCandidates, type Replacement, type TermCandidate } from "../../domain/vocabulary/candidates";
import { createCommonFormCheck } from "../../domain/vocabulary/common-forms";
import { listComparisons } from "../../domain/vocabulary/compare";
import type { VocabularyEntry } from "../../domain/vocabulary/entries";
import { compareReadings, listSecondReadings } from "../../domain/vocabulary/second-reading";
import { createSaidCheck, rateByAudio, selectByAudio, selectByText } from "../../domain/vocabulary/select";
import { prepareTerms } from "../../domain/vocabulary/terms";
import { compareWholeTexts, listWholeTexts } from "../../domain/vocabulary/whole-texts";
import { yieldToEventLoop } from "../../lib/event-loop";

/** Time for which the search may keep the process from other work. */
const MAX_BLOCKED_MS = 20;
/** Maximum number of candidates that only sound like terms. The most similar ones are kept. */
const MAX_SIMILAR = 20_000;

export type VocabularyUse = {
  entries: readonly VocabularyEntry[];
  /** Keys of words that stay: those of the script. */
  kept: ReadonlySet<string>;
  /** Compares texts with parts of the recording and recognizes parts again; null to decide by the text alone. */
  speech: {
    forcedAlign: (requests: AlignmentRequest[]) => Promise<ForcedAlignment[]>;
    recognize: (requests: RecognitionRequest[]) => Promise<Recognition[]>;
  } | null;
  signal?: AbortSignal;
  /** Maximum number of texts that each step compares with the audio. */
  maxRequests?: number | undefined;
};

/** Loads the checks for common words of a language. */
export async function loadCommonForms(language: string | null) {
  // The tokenizer takes a tenth of a second to load.
  const { isFrequentWord } = await import("../../speech/tokens");
  return { isFrequentWord, isCommonForm: createCommonFormCheck(language, isFrequentWord) };
}

/**
 * Returns where terms replace words of a transcript, in order and disjoint. Errors: those of `speech`; the signal's
 * reason when aborted.
 */
export async function findReplacements(
  transcript: Transcript | null,
  { entries, kept, speech, signal, maxRequests }: VocabularyUse,
): Promise<Replacement[]> {
  if (transcript === null || entries.length === 0 || transcript.words.length === 0) return [];
  const { isFrequentWord, isCommonForm } = await loadCommonForms(transcript.language);
  const listed: TermCandidate[] = [];
  let similar: TermCandidate[] = [];
  let yieldedAt = performance.now();
  const rules = { isCommon: isFrequentWord, isCommonForm, kept };
  for (const found of listCandidates(transcript.words, prepareTerms(entries), rules)) {
    for (const candidate of found) (candidate.similar === null ? listed : similar).push(candidate);
    if (similar.length >= 2 * MAX_SIMILAR) similar = keepMostSimilar(similar);
    if (performance.now() - yieldedAt < MAX_BLOCKED_MS) continue;
    await yieldToEventLoop();
    signal?.throwIfAborted();
    yieldedAt = performance.now();
  }
  const candidates = [...listed, ...keepMostSimilar(similar)];
  if (speech === null || transcript.forcing === false) return selectByText(candidates).map(toReplacement);
  const align = async (requests: AlignmentRequest[]): Promise<ForcedAlignment[]> =>
    requests.length === 0 ? [] : speech.forcedAlign(requests);
  const comparison = listComparisons(candidates, transcript, maxRequests);
  const fits = { alignments: await align(comparison.requests), termCount: entries.length };
  let rated = rateByAudio(comparison, fits);
  const readings = listSecondReadings(rated, transcript);
  if (readings.length > 0) {
    const recognitions = await speech.recognize(readings.map(({ window }) => ({ window })));
    rated = rateByAudio(compareReadings(comparison, readings, recognitions), fits);
  }
  const selected = selectByAudio(candidates, rated);
  const { requests, texts } = listWholeTexts(selected, transcript, maxRequests);
  const compared = { alignments: await align(requests), wasSaid: createSaidCheck(rated) };
  return compareWholeTexts(selected, texts, compared).map(toReplacement);
}

const toReplacement = ({ from, to, texts }: Replacement): Replacement => ({ from, to, texts });

const keepMostSimilar = (candidates: readonly TermCandidate[]): TermCandidate[] =>
  candidates.toSorted((a, b) => (a.similar?.distance ?? 0) - (b.similar?.distance ?? 0)).slice(0, MAX_SIMILAR);
