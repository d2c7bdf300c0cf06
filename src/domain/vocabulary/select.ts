/** Decides which candidates replace words: by how well a term fits the audio, or by text alone. Pure. */
import type { AlignmentRequest, ForcedAlignment, Transcript, Word } from "../speech";
import { TICKS_PER_SECOND } from "../time";
import type { Replacement, Similarity, TermCandidate } from "./candidates";

/** Distance up to which doubtful words become a term without a look at the audio, and what doubt adds. */
const MAX_DISTANCE = 0.13;
const MAX_DOUBT_BONUS = 0.2;

/** The measured weights of `rateFit`. */
const FIT = { minLogProb: -9, prior: 0.7, distance: 9, confidence: 1, character: 0.4, word: 0.5, bias: 2, terms: 0.5 };
const MAX_COUNTED_CHARACTERS = 12;
/** More terms have more that sound like other words by chance. */
const MIN_COUNTED_TERMS = 20;

/** Maximum number of texts of a recording that are compared with the audio: about 15 ms each. */
const MAX_REQUESTS = 3_000;

/** What is said before a term when its prior is measured, and how long the silence is. */
const PRIOR_CONTEXT = "I spoke with";
const PRIOR_TICKS = 3 * TICKS_PER_SECOND;

type Rated = { candidate: TermCandidate; score: number };

/** Listed forms come first, longer ones before shorter ones. */
const LISTED_SCORE = 1_000;
const rateListed = (candidate: TermCandidate): Rated => ({
  candidate,
  score: LISTED_SCORE + candidate.to - candidate.from,
});
const isListed = ({ similar }: TermCandidate): boolean => similar === null;

/** Selects candidates without audio: for recognizers that cannot compare a text with it. */
export const selectByText = (candidates: readonly TermCandidate[]): Replacement[] =>
  selectDisjoint(
    candidates.map((candidate) => {
      const { similar } = candidate;
      if (similar === null) return rateListed(candidate);
      const limit = MAX_DISTANCE + (similar.isCommon ? 0 : MAX_DOUBT_BONUS * (1 - similar.confidence));
      return { candidate, score: limit - similar.distance };
    }),
  );

/** Candidates that only sound like a term, and the numbers of the requests that compare them with the audio. */
export type Comparison = {
  requests: AlignmentRequest[];
  compared: { candidate: TermCandidate; similar: Similarity; fit: number; prior: number }[];
};

/**
 * Lists the comparisons of the most similar candidates: how likely a term is after what was recognized before it, and how likely it is without audio,
 * because a recognizer expects some names more than others.
 */
export function listComparisons(
  candidates: readonly TermCandidate[],
  { words, utterances }: Pick<Transcript, "words" | "utterances">,
  maxRequests = MAX_REQUESTS,
): Comparison {
  const requests: AlignmentRequest[] = [];
  const compared: Comparison["compared"] = [];
  const numbers = new Map<string, number>();
  const addRequest = (key: string, request: AlignmentRequest): number => {
    const number = numbers.get(key) ?? requests.push(request) - 1;
    numbers.set(key, number);
    return number;
  };
  const similarOnes = candidates.flatMap((candidate) =>
    candidate.similar === null ? [] : [{ candidate, similar: candidate.similar }],
  );
  for (const { candidate, similar } of similarOnes.sort((a, b) => a.similar.distance - b.similar.distance)) {
    if (requests.length >= maxRequests) break;
    const { from, term } = candidate;
    const utterance = utterances.find(
      ({ start, end }) => middleOf(words[from]!) >= start && middleOf(words[from]!) < end,
    );
    if (!utterance) continue;
    const window = { start: utterance.start, end: utterance.end };
    const text = term.texts.join(" ");
    const fit = addRequest(`${from} ${text}`, {
      window,
      text: `${joinBefore(words, from, window.start)} ${text}`.trim(),
    });
    const silence = { start: utterances[0]!.start, end: utterances[0]!.start + PRIOR_TICKS };
    const prior = addRequest(text, { window: silence, mute: [silence], text: `${PRIOR_CONTEXT} ${text}` });
    compared.push({ candidate, similar, fit, prior });
  }
  return { requests, compared };
}

/** Returns the words of an utterance before one of them. */
function joinBefore(words: readonly Word[], before: number, start: number): string {
  let first = before;
  while (first > 0 && middleOf(words[first - 1]!) >= start) first--;
  return words
    .slice(first, before)
    .map(({ text }) => text)
    .join(" ");
}

const middleOf = ({ start, end }: Word): number => (start + end) / 2;

/** Selects listed forms, and the compared candidates that fit the audio. `alignments` are the results of the requests, `termCount` is the size of the vocabulary. */
export function selectByAudio(
  candidates: readonly TermCandidate[],
  { compared }: Comparison,
  { alignments, termCount }: { alignments: readonly ForcedAlignment[]; termCount: number },
): Replacement[] {
  const bias = FIT.bias - FIT.terms * Math.log(Math.max(MIN_COUNTED_TERMS, termCount));
  const rated = compared.map(({ candidate, similar, fit, prior }): Rated => {
    const count = candidate.term.texts.length;
    const logProbs = [fit, prior].map((number) => measureEnd(alignments[number]!, count)) as [number, number];
    return { candidate, score: rateFit(candidate, similar, ...logProbs) + bias };
  });
  return selectDisjoint([...candidates.filter(isListed).map(rateListed), ...rated]);
}

/** Returns the mean log probability of the last words of an alignment. */
function measureEnd({ words }: ForcedAlignment, count: number): number {
  const last = words.slice(-count);
  if (last.length < count) return Number.NEGATIVE_INFINITY;
  return last.reduce((sum, { confidence }) => sum + Math.log(Math.max(confidence, 1e-9)), 0) / count;
}

/** Returns how clearly a term was said rather than the recognized words. */
function rateFit(
  { term, from, to }: TermCandidate,
  { distance, confidence }: Similarity,
  logProb: number,
  prior: number,
): number {
  if (!(logProb >= FIT.minLogProb && Number.isFinite(prior))) return Number.NEGATIVE_INFINITY;
  const characters = Math.min(MAX_COUNTED_CHARACTERS, term.texts.join(" ").length);
  return (
    logProb -
    FIT.prior * prior -
    FIT.distance * distance -
    FIT.confidence * confidence +
    FIT.character * characters -
    FIT.word * (to - from - 1)
  );
}

/** Returns the best of overlapping candidates whose score is not negative, in order. */
function selectDisjoint(rated: readonly Rated[]): Replacement[] {
  const taken: TermCandidate[] = [];
  const takenWords = new Uint8Array(rated.reduce((most, { candidate }) => Math.max(most, candidate.to), 0));
  for (const { candidate, score } of rated.toSorted(
    (a, b) => b.score - a.score || a.candidate.from - b.candidate.from,
  )) {
    if (!(score >= 0)) break;
    const { from, to } = candidate;
    if (takenWords.subarray(from, to).includes(1)) continue;
    takenWords.fill(1, from, to);
    taken.push(candidate);
  }
  return taken.toSorted((a, b) => a.from - b.from).map(({ from, to, texts }) => ({ from, to, texts }));
}
