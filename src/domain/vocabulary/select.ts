/** Decides which candidates replace words: by how well a term fits the audio, or by text alone. Pure. */

import type { AlignmentRequest, ForcedAlignment, Transcript, Word } from "../speech";
import { type Span, TICKS_PER_SECOND, type Ticks } from "../time";
import type { Replacement, Similarity, TermCandidate } from "./candidates";
import { toFormKey } from "./entries";
import type { Term } from "./terms";

/** Distance up to which doubtful words become a term without a look at the audio, and what doubt adds. */
const MAX_DISTANCE = 0.13;
const MAX_DOUBT_BONUS = 0.2;

/** The measured weights of `rateFit`. */
const FIT = {
  minLogProb: -9,
  prior: 0.7,
  distance: 9,
  confidence: 1,
  character: 0.4,
  word: 0.5,
  common: 8,
  bias: 2.75,
  terms: 0.5,
};
/** Frequent words that were recognized at least this clearly need more evidence to be a term. */
const MIN_TRUSTED_CONFIDENCE = 0.5;
/** How much better a term must fit than any other one at the same words. */
const MIN_LEAD = 0.5;
/** Where a term ends this long before the end of the words that it replaces, the last of them is said after it. */
const MAX_LEFT_OVER_TICKS = 0.15 * TICKS_PER_SECOND;
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
      if (!similar.isDoubtful) return { candidate, score: Number.NEGATIVE_INFINITY };
      const limit = MAX_DISTANCE + (similar.isCommon ? 0 : MAX_DOUBT_BONUS * (1 - similar.confidence));
      return { candidate, score: limit - similar.distance };
    }),
  );

/**
 * The aligned words of the term are the `count` from `place` on in the request `fit`, and the last ones in the request `prior`. `end` is where the
 * words end that the term replaces.
 */
type Compared = {
  candidate: TermCandidate;
  similar: Similarity;
  fit: number;
  prior: number;
  place: number;
  count: number;
  end: Ticks;
};

/** Candidates that only sound like a term, and the numbers of the requests that compare them with the audio. */
export type Comparison = { requests: AlignmentRequest[]; compared: Compared[] };

/**
 * Lists the comparisons of the most similar candidates: how likely a term is between the words that were recognized around it, and how likely it is
 * without audio, because a recognizer expects some names more than others.
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
    const { from, to, term } = candidate;
    const utterance = utterances.find(
      ({ start, end }) => middleOf(words[from]!) >= start && middleOf(words[from]!) < end,
    );
    if (!utterance) continue;
    const window = { start: utterance.start, end: utterance.end };
    const text = term.texts.join(" ");
    const [before, after] = listAround(words, candidate, window);
    const fit = addRequest(`${from} ${to} ${text}`, { window, text: [...before, text, ...after].join(" ") });
    const silence = { start: utterances[0]!.start, end: utterances[0]!.start + PRIOR_TICKS };
    const prior = addRequest(text, { window: silence, mute: [silence], text: `${PRIOR_CONTEXT} ${text}` });
    const place = countAligned([...before, term.texts[0]!]) - 1;
    const count = countAligned([...before, ...term.texts]) - place;
    compared.push({ candidate, similar, fit, prior, place, count, end: words[to - 1]!.end });
  }
  return { requests, compared };
}

/** Returns the number of words in the alignment of texts, where a piece that starts with punctuation belongs to the word before it. */
function countAligned(texts: readonly string[]): number {
  const pieces = texts.join(" ").split(/\s+/).filter(Boolean);
  return pieces.filter((piece, i) => i === 0 || /^[\p{L}\p{M}\p{N}]/u.test(piece)).length;
}

/** Returns the texts of the words of an utterance before and after some of them. */
function listAround(words: readonly Word[], { from, to }: Replacement, { start, end }: Span): [string[], string[]] {
  let [first, last] = [from, to];
  while (first > 0 && middleOf(words[first - 1]!) >= start) first--;
  while (last < words.length && middleOf(words[last]!) < end) last++;
  const toTexts = (range: readonly Word[]): string[] => range.map(({ text }) => text);
  return [toTexts(words.slice(first, from)), toTexts(words.slice(to, last))];
}

const middleOf = ({ start, end }: Word): number => (start + end) / 2;

/** Selects listed forms, and the compared candidates that fit the audio. `alignments` are the results of the requests, `termCount` is the size of the vocabulary. */
export function selectByAudio(
  candidates: readonly TermCandidate[],
  { compared }: Comparison,
  { alignments, termCount }: { alignments: readonly ForcedAlignment[]; termCount: number },
): Replacement[] {
  const bias = FIT.bias - FIT.terms * Math.log(Math.max(MIN_COUNTED_TERMS, termCount));
  const rated = compared.map(({ candidate, similar, fit, prior, place, count, end }): Rated => {
    const said = alignments[fit]!.words.slice(place, place + count);
    const expected = alignments[prior]!.words.slice(-count);
    if (Math.min(said.length, expected.length) < count) return { candidate, score: Number.NEGATIVE_INFINITY };
    const isLeftOver = candidate.to - candidate.from > 1 && end - said.at(-1)!.end > MAX_LEFT_OVER_TICKS;
    if (isLeftOver) return { candidate, score: Number.NEGATIVE_INFINITY };
    return { candidate, score: rateFit(candidate, similar, measureMean(said), measureMean(expected)) + bias };
  });
  return selectDisjoint([...candidates.filter(isListed).map(rateListed), ...dropAmbiguous(rated)]);
}

/** Returns whether two terms are names of different things, unlike "Offcut" and "Offcut Studio". */
const isOther = (a: Term, b: Term): boolean => a.key !== b.key && !containsWords(a, b) && !containsWords(b, a);

/** Returns whether the words of a term follow each other in another one. */
const containsWords = (whole: Term, part: Term): boolean => toWordList(whole).includes(toWordList(part));

const toWordList = ({ texts }: Term): string =>
  ` ${texts
    .flatMap((text) => text.split("-"))
    .map(toFormKey)
    .join(" ")} `;

/** Returns the candidates that fit clearly better than every other term at the same words. */
function dropAmbiguous(rated: readonly Rated[]): Rated[] {
  const sorted = rated.toSorted((a, b) => b.score - a.score);
  // The best candidate of each word, and the best one of another name.
  const leaders = new Map<number, Rated[]>();
  for (const one of sorted)
    for (let word = one.candidate.from; word < one.candidate.to; word++) {
      const found = leaders.get(word) ?? [];
      const [best, rival] = found;
      if (!rival && (!best || isOther(best.candidate.term, one.candidate.term))) leaders.set(word, [...found, one]);
    }
  return sorted.filter(({ candidate: { from, to, term }, score }) => {
    for (let word = from; word < to; word++)
      if (leaders.get(word)?.some((other) => isOther(other.candidate.term, term) && other.score > score - MIN_LEAD))
        return false;
    return true;
  });
}

/** Returns the mean log probability of words. */
const measureMean = (words: readonly Word[]): number =>
  words.reduce((sum, { confidence }) => sum + Math.log(Math.max(confidence, 1e-9)), 0) / words.length;

/** Returns how clearly a term was said rather than the recognized words. */
function rateFit(
  { term, from, to }: TermCandidate,
  { distance, confidence, isCommon }: Similarity,
  logProb: number,
  prior: number,
): number {
  if (!(logProb >= FIT.minLogProb)) return Number.NEGATIVE_INFINITY;
  const characters = Math.min(MAX_COUNTED_CHARACTERS, term.texts.join(" ").length);
  return (
    logProb -
    FIT.prior * prior -
    FIT.distance * distance -
    FIT.confidence * confidence +
    FIT.character * characters -
    FIT.word * (to - from - 1) -
    (isCommon ? FIT.common * Math.max(0, confidence - MIN_TRUSTED_CONFIDENCE) : 0)
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
