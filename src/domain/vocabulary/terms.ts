/** Prepares a vocabulary for a search in recognized words. Pure. */
import { toFormKey, type VocabularyEntry } from "./entries";
import { measureDistance, type Pronunciation, toPhones, toPronunciation } from "./phones";

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

/** Compares with the terms of the most similar weights first, until no other can be closer than those found so far. */
function createComparison(terms: readonly Term[]): Terms["findSimilar"] {
  const sorted = terms.toSorted((a, b) => a.pronunciation.weight - b.pronunciation.weight);
  const known = new Map<string, readonly SimilarTerm[]>();
  return (text, maxDistance = MAX_DISTANCE) => {
    const phones = toPhones(text);
    const key = `${maxDistance} ${phones}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const pronunciation = toPronunciation(phones);
    const found: SimilarTerm[] = [];
    let limit = maxDistance;
    let pairs = 0;
    const compare = (term: Term): void => {
      pairs += term.pronunciation.phones.length * pronunciation.phones.length;
      const distance = measureDistance(term.pronunciation, pronunciation, limit);
      if (distance >= limit) return;
      const place = found.findIndex((other) => other.distance > distance);
      found.splice(place < 0 ? found.length : place, 0, { term, distance });
      if (found.length > MAX_SIMILAR) found.pop();
      if (found.length === MAX_SIMILAR) limit = found.at(-1)!.distance;
    };
    const isWithin = (term: Term | undefined): term is Term => {
      if (term === undefined) return false;
      const { weight } = term.pronunciation;
      return Math.abs(weight - pronunciation.weight) < limit * Math.max(weight, pronunciation.weight);
    };
    let above = findFirst(sorted, pronunciation.weight);
    let below = above - 1;
    while (pairs < MAX_PAIRS) {
      const [lighter, heavier] = [sorted[below], sorted[above]];
      const [goesDown, goesUp] = [isWithin(lighter), isWithin(heavier)];
      if (
        goesDown &&
        (!goesUp ||
          pronunciation.weight - lighter!.pronunciation.weight < heavier!.pronunciation.weight - pronunciation.weight)
      ) {
        compare(lighter!);
        below--;
      } else if (goesUp) {
        compare(heavier!);
        above++;
      } else break;
    }
    known.set(key, found);
    return found;
  };
}

/** Returns the index of the first term of at least this weight. */
function findFirst(sorted: readonly Term[], weight: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]!.pronunciation.weight < weight) low = middle + 1;
    else high = middle;
  }
  return low;
}
