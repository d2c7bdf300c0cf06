/**
 * Compares the whole text around a term with what else may have been said there: the audio decides. It gives back words
 * that the term has replaced although they were said beside it ("Plymouth and" for "Pleven and"), and phrases of
 * frequent words that only sound like the term ("and the rest" for "Antares"). Pure.
 */
import type { AlignmentRequest, ForcedAlignment, Transcript, Word } from "../speech";
import { narrowCandidate, type TermCandidate } from "./candidates";
import { findUtterance, listAround, MAX_REQUESTS } from "./compare";
import { removeAccents } from "./phones";

/**
 * How much likelier a text must be with a word kept beside the term: sums of the log probabilities of words. Of some 170
 * replacements of several words in the benchmark, a word that was part of the name reached 0.7, one beside it had 8.9.
 */
const MIN_EDGE_LEAD = 2;
/**
 * How much likelier the recognized text must be than the one with the term, for frequent words that were recognized this
 * clearly. A phrase that was said had 6.8 and 0.77, names up to 4.3, or less clear words, but one with 8.7 and 0.78.
 */
const MIN_PHRASE_LEAD = 5;
const MIN_PHRASE_CONFIDENCE = 0.7;

/** A candidate, and the numbers of the requests with its text, those of narrower ones, and the recognized text. */
type WholeTexts = {
  wide: TermCandidate;
  text: number;
  narrower: { candidate: TermCandidate; text: number }[];
  /** Null if the words are not a phrase of frequent words. */
  recognized: number | null;
};

/**
 * Lists the texts to align: of each candidate of several words as it is, with its first, and with its last word kept.
 * Candidates beyond `maxRequests` are not compared.
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
    if (similar === null || to - from === 1 || !utterance || requests.length >= maxRequests) return [];
    const window = { start: utterance.start, end: utterance.end };
    const addRequest = (range: Pick<TermCandidate, "from" | "to">, inside: readonly string[]): number => {
      const [before, after] = listAround(words, range, window);
      return requests.push({ window, text: [...before, ...inside, ...after].join(" ") }) - 1;
    };
    const name = term.texts.map(removeAccents);
    const narrower = [
      { from: from + 1, to },
      { from, to: to - 1 },
    ].map((range) => ({ candidate: narrowCandidate(words, wide, range), text: addRequest(range, name) }));
    const isPhrase = similar.isCommon && similar.confidence > MIN_PHRASE_CONFIDENCE;
    const said = words.slice(from, to).map((word) => word.text);
    return [{ wide, text: addRequest(wide, name), narrower, recognized: isPhrase ? addRequest(wide, said) : null }];
  });
  return { requests, texts };
}

/** Returns the candidates without phrases that were said, and without words at their edges that were. */
export function compareWholeTexts(
  candidates: readonly TermCandidate[],
  texts: readonly WholeTexts[],
  alignments: readonly ForcedAlignment[],
): TermCandidate[] {
  const totals = alignments.map(({ words }) => measureTotal(words));
  const compared = new Map(texts.map((one) => [one.wide, one]));
  return candidates.flatMap((candidate) => {
    const one = compared.get(candidate);
    if (!one) return [candidate];
    const total = totals[one.text]!;
    if (one.recognized !== null && totals[one.recognized]! - total > MIN_PHRASE_LEAD) return [];
    const [best] = one.narrower.toSorted((a, b) => totals[b.text]! - totals[a.text]!);
    return best && totals[best.text]! - total > MIN_EDGE_LEAD ? [best.candidate] : [candidate];
  });
}

/** Returns the sum of the log probabilities of words. */
const measureTotal = (words: readonly Word[]): number =>
  words.reduce((sum, { confidence }) => sum + Math.log(Math.max(confidence, 1e-9)), 0);
