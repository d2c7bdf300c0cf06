/** Decides which candidates replace words: by how well a term fits the audio, or by text alone. Pure. */

import type { ForcedAlignment, Word } from "../speech";
import { type Span, TICKS_PER_SECOND, type Ticks } from "../time";
import type { Similarity, TermCandidate } from "./candidates";
import type { Comparison } from "./compare";
import { toFormKey } from "./entries";
import type { Term } from "./terms";

/**
 * Distance up to which doubtful words become a term without checking the audio, and the amount that doubt adds to it.
 */
const MAX_DISTANCE = 0.13;
const MAX_DOUBT_BONUS = 0.2;

/** The measured weights of `rateFit`. */
const FIT = {
  minLogProb: -9,
  prior: 1.22,
  distance: 3.9,
  unlikelyDistance: 4.4,
  unlikelyToken: 0.19,
  confidence: 1,
  character: 0.23,
  common: 3.7,
  long: 18,
  leftOver: 8,
  bias: 0,
  terms: 0.5,
};
/** Log probabilities of a word and of a token below which the audio hardly has the term. */
const MIN_LIKELY_LOG_PROB = -4;
const MIN_TOKEN_LOG_PROB = -8;
/** Frequent words that were recognized at least this clearly need more evidence to be a term. */
const MIN_TRUSTED_CONFIDENCE = 0.5;
/** Minimum lead of a term over any other term at the same words. */
const MIN_LEAD = 0.5;
/** Minimum lead of a term over the recognized words. A term that fits only slightly better may be wrong. */
const MIN_SCORE = 0.35;
/** Minimum ratio of a term's probability with the audio to that without it, as a logarithm. */
const MIN_GAIN = 1;
/**
 * Time and share of the first or last replaced word that a term may leave uncovered. Beyond them, the word is hardly
 * part of the term.
 */
const MAX_LEFT_OVER_TICKS = 0.15 * TICKS_PER_SECOND;
const MAX_LEFT_OVER_SHARE = 0.8;
const MAX_COUNTED_CHARACTERS = 12;
/** More terms have more that sound like other words by chance. */
const MIN_COUNTED_TERMS = 20;

/** A term may take this much longer than expected: the logarithm of the ratio. */
const MAX_STRETCH = 0.35;

/** A term was said if its score is at least `MIN_SCORE`. */
export type Rated = { candidate: TermCandidate; score: number };

/** Listed forms come first, longer ones before shorter ones. */
const LISTED_SCORE = 1_000;
const rateListed = (candidate: TermCandidate): Rated => ({
  candidate,
  score: LISTED_SCORE + candidate.to - candidate.from,
});
const isListed = ({ similar }: TermCandidate): boolean => similar === null;

/** Selects candidates without audio: for recognizers that cannot compare a text with it. */
export const selectByText = (candidates: readonly TermCandidate[]): TermCandidate[] =>
  selectDisjoint(
    candidates.map((candidate) => {
      const { similar, from, to } = candidate;
      if (similar === null) return rateListed(candidate);
      // Spelling alone never changes a frequent word.
      if (!similar.isDoubtful || (similar.isCommon && to - from === 1))
        return { candidate, score: Number.NEGATIVE_INFINITY };
      const limit = MAX_DISTANCE + (similar.isCommon ? 0 : MAX_DOUBT_BONUS * (1 - similar.confidence));
      return { candidate, score: limit - similar.distance };
    }),
  );

/**
 * Rates compared candidates by how well they fit the audio. `alignments` are the results of the requests, `termCount`
 * is the size of the vocabulary.
 */
export function rateByAudio(
  { compared }: Comparison,
  { alignments, termCount }: { alignments: readonly ForcedAlignment[]; termCount: number },
): Rated[] {
  const bias = FIT.bias - FIT.terms * Math.log(Math.max(MIN_COUNTED_TERMS, termCount));
  return compared.map(({ candidate, similar, fit, prior, place, count, first, last, stretch }): Rated => {
    const said = alignments[fit]!.words.slice(place, place + count);
    const expected = alignments[prior]!.words.slice(-count);
    if (Math.min(said.length, expected.length) < count) return { candidate, score: Number.NEGATIVE_INFINITY };
    const leavesWord =
      candidate.to - candidate.from > 1 &&
      (leaves(first, said[0]!.start - first.start) || leaves(last, last.end - said.at(-1)!.end));
    const measured = { ...similar, stretch, logProb: measureMean(said), prior: measureMean(expected) };
    const score = rateFit(candidate, measured, Math.min(...said.map(({ logProb }) => logProb)));
    return { candidate, score: score + bias - (leavesWord ? FIT.leftOver : 0) };
  });
}

const leaves = ({ start, end }: Span, leftOver: Ticks): boolean =>
  leftOver > Math.min(MAX_LEFT_OVER_TICKS, MAX_LEFT_OVER_SHARE * (end - start));

/** Selects listed forms, and the rated candidates that were said. */
export const selectByAudio = (candidates: readonly TermCandidate[], rated: readonly Rated[]): TermCandidate[] =>
  selectDisjoint([...candidates.filter(isListed).map(rateListed), ...dropAmbiguous(rated).filter(wasSaid)]);

const wasSaid = ({ score }: Rated): boolean => score >= MIN_SCORE;

/** Returns a function that returns whether a rated candidate of the same term at the same words was said. */
export function createSaidCheck(rated: readonly Rated[]): (candidate: TermCandidate) => boolean {
  const toKey = ({ from, to, term }: TermCandidate): string => `${from} ${to} ${term.key}`;
  const said = new Set(rated.filter(wasSaid).map(({ candidate }) => toKey(candidate)));
  return (candidate) => said.has(toKey(candidate));
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

/**
 * Returns how clearly a term was said rather than the recognized words. `tokenLogProb` is that of its least likely
 * token.
 */
function rateFit(
  { term }: TermCandidate,
  measured: Similarity & { stretch: number; logProb: number; prior: number },
  tokenLogProb: number,
): number {
  const { distance, confidence, isCommon, stretch, logProb, prior } = measured;
  if (!(logProb >= FIT.minLogProb) || logProb - prior < MIN_GAIN) return Number.NEGATIVE_INFINITY;
  const characters = Math.min(MAX_COUNTED_CHARACTERS, term.texts.join(" ").length);
  return (
    logProb -
    FIT.prior * prior -
    distance * (FIT.distance + FIT.unlikelyDistance * Math.max(0, MIN_LIKELY_LOG_PROB - logProb)) -
    FIT.unlikelyToken * Math.max(0, MIN_TOKEN_LOG_PROB - Math.max(tokenLogProb, 2 * MIN_TOKEN_LOG_PROB)) -
    FIT.confidence * confidence +
    FIT.character * characters -
    (isCommon ? FIT.common * Math.max(0, confidence - MIN_TRUSTED_CONFIDENCE) : 0) -
    FIT.long * Math.max(0, stretch - MAX_STRETCH)
  );
}

/** Returns the best of overlapping candidates whose score is not negative, in order. */
function selectDisjoint(rated: readonly Rated[]): TermCandidate[] {
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
  return taken.toSorted((a, b) => a.from - b.from);
}
