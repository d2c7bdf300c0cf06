/** Prepares a vocabulary for a search in recognized words. Pure. */
import { toFormKey, type VocabularyEntry } from "./entries";
import { measurePhoneDistance, toPhones, weighPhones } from "./phones";

/** A term. `spoken` contains the keys of its spoken forms. */
export type Term = { texts: string[]; key: string; spoken: ReadonlySet<string>; phones: string };

export type Terms = {
  /** The terms by the keys of all their forms. */
  forms: ReadonlyMap<string, Term>;
  /** Number of words of the longest form. */
  longest: number;
  /** Returns the terms that sound most like a text, closest first. */
  findSimilar: (text: string) => readonly SimilarTerm[];
};

export type SimilarTerm = { term: Term; distance: number };

/** Much sounds like a shorter term: it is found only as listed. */
const MIN_WEIGHT = 1.6;
/** A text that is further away does not sound like the term. */
const MAX_DISTANCE = 0.6;
/** Number of terms that are compared with the audio. */
const MAX_SIMILAR = 2;

export function prepareTerms(entries: readonly VocabularyEntry[]): Terms {
  const forms = new Map<string, Term>();
  const terms = entries.map(({ text, spoken_as }): Term => {
    const spoken = new Set(spoken_as.map(toFormKey));
    return { texts: text.split(" "), key: toFormKey(text), spoken, phones: toPhones(text) };
  });
  for (const term of terms) forms.set(term.key, term);
  // A form that is listed counts more than the text of another entry.
  for (const term of terms) for (const key of term.spoken) forms.set(key, term);
  const longest = entries.reduce(
    (most, { text, spoken_as }) => Math.max(most, ...[text, ...spoken_as].map((form) => form.split(" ").length)),
    1,
  );
  return {
    forms,
    longest,
    findSimilar: createComparison(terms.filter(({ phones }) => weighPhones(phones) >= MIN_WEIGHT)),
  };
}

function createComparison(terms: readonly Term[]): Terms["findSimilar"] {
  const known = new Map<string, readonly SimilarTerm[]>();
  return (text) => {
    const phones = toPhones(text);
    let found = known.get(phones);
    if (found === undefined) {
      found = terms
        .map((term) => ({ term, distance: measurePhoneDistance(term.phones, phones, MAX_DISTANCE) }))
        .filter(({ distance }) => distance < MAX_DISTANCE)
        .sort((a, b) => a.distance - b.distance)
        .slice(0, MAX_SIMILAR);
      known.set(phones, found);
    }
    return found;
  };
}
