/**
 * Recognizes places again where the audio hardly decides whether a term was said. With other audio around it, a
 * recognizer often writes an unknown name differently: more like the term if it was said, less like it if not. Pure.
 */
import { fitRecognitionBudget } from "../planning/context";
import type { Recognition, RecognitionRequest, Transcript } from "../speech";
import { type Span, TICKS_PER_SECOND } from "../time";
import type { Replacement } from "./candidates";
import { type Compared, type Comparison, findUtterance, middleOf } from "./compare";
import { measureDistance, toPhones, toPronunciation } from "./phones";
import type { Rated } from "./select";

/** Scores between these are doubtful: another spelling changes one by a few points. */
const MIN_SCORE = -5;
const MAX_SCORE = 1;
/** The audio before and after the words, for each window that is recognized. */
const CONTEXTS_TICKS = [0.35 * TICKS_PER_SECOND, 0.8 * TICKS_PER_SECOND];

/** Maximum distance of a reading. Unrelated readings count the same. */
const MAX_DISTANCE = 0.75;

/** Words to recognize again, from the first to before the last, in a window around them. */
export type SecondReading = Pick<Replacement, "from" | "to"> & RecognitionRequest;

/**
 * Lists what to recognize again: candidates with doubtful scores, where no other candidate has a better one. The best
 * scores come first, as many as fit the budget of second recognitions.
 */
export function listSecondReadings(
  rated: readonly Rated[],
  { words, utterances }: Pick<Transcript, "words" | "utterances">,
): SecondReading[] {
  const settled = new Set<number>();
  for (const { candidate, score } of rated)
    if (score >= MAX_SCORE) for (let word = candidate.from; word < candidate.to; word++) settled.add(word);
  const isSettled = ({ from, to }: Replacement): boolean => words.slice(from, to).some((_, i) => settled.has(from + i));
  const places: { from: number; to: number; score: number }[] = [];
  for (const { candidate, score } of rated.toSorted((a, b) => a.candidate.from - b.candidate.from)) {
    if (!(score >= MIN_SCORE) || isSettled(candidate)) continue;
    const { from, to } = candidate;
    const last = places.at(-1);
    if (last && from < last.to) Object.assign(last, { to: Math.max(last.to, to), score: Math.max(last.score, score) });
    else places.push({ from, to, score });
  }
  const readings = places
    .sort((a, b) => b.score - a.score)
    .flatMap(({ from, to }) => {
      const utterance = findUtterance(utterances, words[from]!);
      if (!utterance) return [];
      return CONTEXTS_TICKS.map((context) => ({
        from,
        to,
        window: {
          start: Math.max(utterance.start, words[from]!.start - context),
          end: Math.min(utterance.end, words[to - 1]!.end + context),
        },
      }));
    });
  return fitRecognitionBudget(readings, utterances.at(-1)?.end ?? 0);
}

/**
 * Returns the comparison with other distances where something was recognized again: the mean of the first one and that
 * of the most similar reading. `recognitions` are the results of the readings. A reading counts only for the words that
 * it was requested for.
 */
export function compareReadings(
  { requests, compared }: Comparison,
  readings: readonly SecondReading[],
  recognitions: readonly Recognition[],
): Comparison {
  const withReadings = (one: Compared): Compared => {
    const { from, to, term } = one.candidate;
    const span = { start: one.first.start, end: one.last.end };
    const distances = readings.flatMap((reading, i) => {
      if (from < reading.from || to > reading.to) return [];
      const phones = toPhones(readText(recognitions[i]!, span));
      return phones === "" ? [] : [measureDistance(term.pronunciation, toPronunciation(phones))];
    });
    if (distances.length === 0) return one;
    const closest = Math.min(MAX_DISTANCE, ...distances);
    return { ...one, similar: { ...one.similar, distance: (one.similar.distance + closest) / 2 } };
  };
  return { requests, compared: compared.map(withReadings) };
}

/** Returns the recognized text within a span. */
const readText = ({ words }: Recognition, { start, end }: Span): string =>
  words
    .filter((word) => middleOf(word) >= start && middleOf(word) <= end)
    .map(({ text }) => text)
    .join("");
