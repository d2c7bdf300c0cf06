/** Lists the texts that are compared with the audio to decide whether a term was said. Pure. */

import type { AlignmentRequest, Transcript, Utterance, Word } from "../speech";
import { type Span, TICKS_PER_SECOND, type Ticks } from "../time";
import type { Replacement, Similarity, TermCandidate } from "./candidates";
import { removeAccents } from "./phones";

/** Maximum number of texts of a recording that each step compares with the audio: about 15 ms each. */
export const MAX_REQUESTS = 3_000;

/** Text before a term when its prior is measured, and duration of the silent audio. */
const PRIOR_CONTEXT = "I spoke with";
const PRIOR_TICKS = 3 * TICKS_PER_SECOND;

/** Words that were recognized this clearly, and have as many characters, show how fast somebody speaks. */
const MIN_PACE_CONFIDENCE = 0.9;
const MIN_PACE_CHARACTERS = 4;
/** Time of a character without such words. */
const DEFAULT_PACE_TICKS = 0.08 * TICKS_PER_SECOND;
/**
 * A capital letter or a digit beside another one is said as its name, which is about as long as this many characters of
 * a word.
 */
const SPELLED_CHARACTERS = 3;

/**
 * The aligned words of the term are the `count` from `place` on in the request `fit`, and the last ones in the request
 * `prior`. `first` and `last` are the first and the last of the words that the term replaces, `stretch` is the
 * logarithm of how much longer they are than the term at the pace of the recording.
 */
export type Compared = {
  candidate: TermCandidate;
  similar: Similarity;
  fit: number;
  prior: number;
  place: number;
  count: number;
  first: Span;
  last: Span;
  stretch: number;
};

/** Candidates that only sound like a term, and the numbers of the requests that compare them with the audio. */
export type Comparison = { requests: AlignmentRequest[]; compared: Compared[] };

/**
 * Lists the comparisons of the most similar candidates: how likely a term is between the words that were recognized
 * around it, and how likely it is without audio, because a recognizer expects some names more than others.
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
  const pace = measurePace(words);
  const similarOnes = candidates.flatMap((candidate) =>
    candidate.similar === null ? [] : [{ candidate, similar: candidate.similar }],
  );
  for (const { candidate, similar } of similarOnes.sort((a, b) => a.similar.distance - b.similar.distance)) {
    if (requests.length >= maxRequests) break;
    const { from, to, term } = candidate;
    const utterance = findUtterance(utterances, words[from]!);
    if (!utterance) continue;
    const window = { start: utterance.start, end: utterance.end };
    const texts = term.texts.map(removeAccents);
    const text = texts.join(" ");
    const [before, after] = listAround(words, candidate, window);
    const fit = addRequest(`${from} ${to} ${text}`, { window, text: [...before, text, ...after].join(" ") });
    const silence = { start: utterances[0]!.start, end: utterances[0]!.start + PRIOR_TICKS };
    const prior = addRequest(text, { window: silence, mute: [silence], text: `${PRIOR_CONTEXT} ${text}` });
    const place = countAligned([...before, texts[0]!]) - 1;
    const count = countAligned([...before, ...texts]) - place;
    const [first, last] = [words[from]!, words[to - 1]!];
    const length = isSpelled(words.slice(from, to)) ? SPELLED_CHARACTERS * text.length : countSpoken(text);
    const stretch = Math.log(Math.max(1, last.end - first.start) / (pace * length));
    compared.push({ candidate, similar, fit, prior, place, count, first, last, stretch });
  }
  return { requests, compared };
}

/** Returns the median time of a character in clearly recognized words. */
function measurePace(words: readonly Word[]): Ticks {
  const times = words.flatMap(({ text, start, end, confidence }) => {
    const length = countSpoken(text);
    return confidence > MIN_PACE_CONFIDENCE && length >= MIN_PACE_CHARACTERS ? [(end - start) / length] : [];
  });
  return times.sort((a, b) => a - b)[times.length >> 1] ?? DEFAULT_PACE_TICKS;
}

/** Returns how long a text is when it is said, in characters of a word. */
const countSpoken = (text: string): number =>
  Math.max(
    1,
    (text.match(/[\p{L}\p{N}]/gu)?.length ?? 0) +
      (SPELLED_CHARACTERS - 1) *
        (text.match(/(?<=[\p{Lu}\p{N}])[\p{Lu}\p{N}]|[\p{Lu}\p{N}](?=[\p{Lu}\p{N}])/gu)?.length ?? 0),
  );

/** Returns whether most of the words are single letters: the name was spelled. */
const isSpelled = (words: readonly Word[]): boolean =>
  2 * words.filter(({ text }) => /^\P{L}*\p{L}\P{L}*$/u.test(text)).length > Math.max(2, words.length);

/**
 * Returns the number of words in the alignment of texts, where a piece that starts with punctuation belongs to the word
 * before it.
 */
export function countAligned(texts: readonly string[]): number {
  const pieces = texts.join(" ").split(/\s+/).filter(Boolean);
  return pieces.filter((piece, i) => i === 0 || /^[\p{L}\p{M}\p{N}]/u.test(piece)).length;
}

/** Returns the texts of the words of an utterance before and after some of them. */
export function listAround(
  words: readonly Word[],
  { from, to }: Pick<Replacement, "from" | "to">,
  { start, end }: Span,
): [string[], string[]] {
  let [first, last] = [from, to];
  while (first > 0 && middleOf(words[first - 1]!) >= start) first--;
  while (last < words.length && middleOf(words[last]!) < end) last++;
  const toTexts = (range: readonly Word[]): string[] => range.map(({ text }) => text);
  return [toTexts(words.slice(first, from)), toTexts(words.slice(to, last))];
}

export const findUtterance = (utterances: readonly Utterance[], word: Word): Utterance | undefined =>
  utterances.find(({ start, end }) => middleOf(word) >= start && middleOf(word) < end);

export const middleOf = ({ start, end }: Span): number => (start + end) / 2;
