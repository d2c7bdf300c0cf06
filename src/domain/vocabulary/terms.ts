/** Prepares a vocabulary for a search in recognized words. Pure. */
import { toFormKey, type VocabularyEntry } from "./entries";
import {
  measureDistance,
  measureLeastCost,
  PROFILE_SIZE,
  type Pronunciation,
  ROUNDING,
  toPhones,
  toPronunciation,
} from "./phones";

/** A term. `spoken` contains the keys of its spoken forms. */
export type Term = { texts: string[]; key: string; spoken: ReadonlySet<string>; pronunciation: Pronunciation };

export type Terms = {
  /** The terms by the keys of all their forms. */
  forms: ReadonlyMap<string, Term>;
  /** Number of words of the form with the most words. */
  maxWords: number;
  /** Length of the longest key. */
  maxCharacters: number;
  /** Returns the terms that sound most like a text and are closer than a distance, closest first. */
  findSimilar: (text: string, maxDistance?: number) => readonly SimilarTerm[];
};

export type SimilarTerm = { term: Term; distance: number };

/** Much sounds like a shorter term: it is found only as listed. */
const MIN_WEIGHT = 1.6;
/** A text that is further away does not sound like the term. */
const MAX_DISTANCE = 0.64;
/** Number of terms that are compared with the audio. */
const MAX_SIMILAR = 3;
/** Number of groups of terms that are compared one after the other. */
const BUCKETS = 32;
/** Maximum number of pairs of phones that a search compares, about 5 ms: only hundreds of very long terms need more. */
const MAX_PAIRS = 1_000_000;

export function prepareTerms(entries: readonly VocabularyEntry[]): Terms {
  const forms = new Map<string, Term>();
  const terms = entries.map(({ text, spoken_as }): Term => {
    const spoken = new Set(spoken_as.map(toFormKey));
    return { texts: text.split(" "), key: toFormKey(text), spoken, pronunciation: toPronunciation(toPhones(text)) };
  });
  for (const term of terms) forms.set(term.key, term);
  // A form that is listed counts more than the text of another entry.
  for (const term of terms) for (const key of term.spoken) forms.set(key, term);
  const maxWords = entries.reduce(
    (most, { text, spoken_as }) => Math.max(most, ...[text, ...spoken_as].map((form) => form.split(" ").length)),
    1,
  );
  return {
    forms,
    maxWords,
    maxCharacters: forms.keys().reduce((most, key) => Math.max(most, key.length), 0),
    findSimilar: createComparison(terms.filter(({ pronunciation }) => pronunciation.weight >= MIN_WEIGHT)),
  };
}

/** Compares with the terms that may be closest first, until no other can be closer than those found so far. */
function createComparison(terms: readonly Term[]): Terms["findSimilar"] {
  const profiles = new Int32Array(terms.length * PROFILE_SIZE);
  for (const [n, { pronunciation }] of terms.entries()) profiles.set(pronunciation.profile, n * PROFILE_SIZE);
  const weights = Float64Array.from(terms, ({ pronunciation }) => pronunciation.weight);
  const buckets = Array.from({ length: BUCKETS }, (): number[] => []);
  const known = new Map<string, readonly SimilarTerm[]>();

  /** Puts the terms that may be closer than a distance into buckets by their least distance. */
  const fillBuckets = (pronunciation: Pronunciation, maxDistance: number): void => {
    for (const bucket of buckets) bucket.length = 0;
    for (let n = 0; n < terms.length; n++) {
      const most = maxDistance * Math.max(weights[n]!, pronunciation.weight);
      const least = measureLeastCost(pronunciation, profiles, n * PROFILE_SIZE);
      if (least < most) buckets[Math.floor((BUCKETS * least) / most)]!.push(n);
    }
  };

  return (text, maxDistance = MAX_DISTANCE) => {
    const phones = toPhones(text);
    const key = `${maxDistance} ${phones}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const pronunciation = toPronunciation(phones);
    fillBuckets(pronunciation, maxDistance);
    const found: (SimilarTerm & { index: number })[] = [];
    let limit = maxDistance;
    let pairs = 0;
    for (const [n, bucket] of buckets.entries()) {
      if ((n / BUCKETS) * maxDistance > limit) break;
      for (const index of bucket) {
        // One bucket may have all terms.
        if (pairs >= MAX_PAIRS) break;
        const term = terms[index]!;
        pairs += term.pronunciation.phones.length * pronunciation.phones.length;
        const distance = measureDistance(term.pronunciation, pronunciation, limit);
        if (distance >= limit) continue;
        const place = found.findIndex(
          (other) => other.distance > distance || (other.distance === distance && other.index > index),
        );
        found.splice(place < 0 ? found.length : place, 0, { term, distance, index });
        if (found.length > MAX_SIMILAR) found.pop();
        // Among terms at the same distance, the first ones of the vocabulary are found.
        if (found.length === MAX_SIMILAR) limit = Math.min(maxDistance, found.at(-1)!.distance + ROUNDING);
      }
    }
    known.set(key, found);
    return found;
  };
}
