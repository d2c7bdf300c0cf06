/**
 * Compares the whole text around a term with the alternatives by their audio. It restores words that the term has
 * replaced although they were said beside it ("Plymouth and" for "Pleven and"), and phrases of frequent words that only
 * sound like the term ("and the rest" for "Antares"). Pure.
 */
import type { AlignmentRequest, ForcedAlignment, Transcript, Word } from "../speech";
import { narrowCandidate, type TermCandidate } from "./candidates";
import { countAligned, findUtterance, listAround, MAX_REQUESTS } from "./compare";
import { removeAccents } from "./phones";

/**
 * Minimum lead of the text that keeps a word beside the term, in sums of log probabilities of words. In about 170
 * replacements of several words in the benchmark, words that were part of the name reached 0.7, and a word beside it
 * had 8.9.
 */
const MIN_EDGE_LEAD = 2;
/**
 * Minimum lead of frequent words over the term for which they stay: in the place of the term, or in the whole text if
 * they are a phrase that was recognized this clearly. In its place, names had up to 5, and "many" 5.3. A phrase that
 * was said had 6.8 and 0.77, names up to 4.3, or less clear words, but one with 8.7 and 0.78.
 */
const MIN_FREQUENT_LEAD = 5;
const MIN_PHRASE_CONFIDENCE = 0.7;

/** Place of a candidate's words in an alignment: the number of its request, and the range of its words. */
type Place = { text: number; from: number; to: number };

/** A candidate, its place, the numbers of the requests with narrower ones, and the place of the recognized words. */
type WholeTexts = {
  wide: TermCandidate;
  term: Place;
  narrower: { candidate: TermCandidate; text: number }[];
  /** Null if not all of the words are frequent. */
  recognized: Place | null;
};

/**
 * Lists the texts to align: of each candidate of several words as it is, with its first, and with its last word kept,
 * and of frequent words as they were recognized. Candidates beyond `maxRequests` are not compared.
 */
export function listWholeTexts(
  candidates: readonly TermCandidate[],
  { words, utterances }: Pick<Transcript, "words" | "utterances">,
  maxRequests = MAX_REQUESTS,
): { requests: AlignmentRequest[]; texts: WholeTexts[] } {
  const requests: AlignmentRequest[] = [];
  const texts = candidates.flatMap((wide): WholeTexts[] => {
    const { from, to, similar, term } = wide;
    const utterance = findUtterance(utterances, words[from]!);
    if (similar === null || (to - from === 1 && !similar.isCommon)) return [];
    if (!utterance || requests.length >= maxRequests) return [];
    const window = { start: utterance.start, end: utterance.end };
    const addRequest = (range: Pick<TermCandidate, "from" | "to">, inside: readonly string[]): Place => {
      const [before, after] = listAround(words, range, window);
      const text = requests.push({ window, text: [...before, ...inside, ...after].join(" ") }) - 1;
      const place = countAligned([...before, inside[0]!]) - 1;
      return { text, from: place, to: countAligned([...before, ...inside]) };
    };
    const name = term.texts.map(removeAccents);
    const ranges =
      to - from === 1
        ? []
        : [
            { from: from + 1, to },
            { from, to: to - 1 },
          ];
    const narrower = ranges.map((range) => ({
      candidate: narrowCandidate(words, wide, range),
      text: addRequest(range, name).text,
    }));
    const said = words.slice(from, to).map((word) => word.text);
    const recognized = similar.isCommon ? addRequest(wide, said) : null;
    return [{ wide, term: addRequest(wide, name), narrower, recognized }];
  });
  return { requests, texts };
}

/**
 * Returns the candidates without frequent words that were said, and without words at their edges that were. `wasSaid`
 * returns whether the term fits only the words that are left to it.
 */
export function compareWholeTexts(
  candidates: readonly TermCandidate[],
  texts: readonly WholeTexts[],
  { alignments, wasSaid }: { alignments: readonly ForcedAlignment[]; wasSaid: (candidate: TermCandidate) => boolean },
): TermCandidate[] {
  const totals = alignments.map(({ words }) => measureTotal(words));
  // Long texts are not aligned to their end.
  const isAligned = ({ text, to }: Place): boolean => alignments[text]!.words.length >= to;
  const measurePlace = ({ text, from, to }: Place): number => measureTotal(alignments[text]!.words.slice(from, to));
  const compared = new Map(texts.map((one) => [one.wide, one]));
  return candidates.flatMap((candidate) => {
    const one = compared.get(candidate);
    if (!one) return [candidate];
    const { term, recognized, narrower } = one;
    if (recognized !== null && isAligned(recognized) && isAligned(term)) {
      if (measurePlace(recognized) - measurePlace(term) > MIN_FREQUENT_LEAD) return [];
      const isPhrase = narrower.length > 0 && candidate.similar!.confidence > MIN_PHRASE_CONFIDENCE;
      if (isPhrase && totals[recognized.text]! - totals[term.text]! > MIN_FREQUENT_LEAD) return [];
    }
    const [best] = narrower.toSorted((a, b) => totals[b.text]! - totals[a.text]!);
    if (!best || totals[best.text]! - totals[term.text]! <= MIN_EDGE_LEAD) return [candidate];
    return wasSaid(best.candidate) ? [best.candidate] : [];
  });
}

/** Returns the sum of the log probabilities of words. */
const measureTotal = (words: readonly Word[]): number =>
  words.reduce((sum, { confidence }) => sum + Math.log(Math.max(confidence, 1e-9)), 0);
