/**
 * Recognizes places again where the audio hardly decides whether a term was said. With other audio around it, a recognizer often writes an unknown name
 * differently: more like the term if it was said, less like it if not. Pure.
 */
import type { Recognition, RecognitionRequest, Transcript } from "../speech";
import { type Span, TICKS_PER_SECOND } from "../time";
import type { Replacement } from "./candidates";
import { type Compared, type Comparison, findUtterance, middleOf } from "./compare";
import { measureDistance, toPhones, toPronunciation } from "./phones";
import type { Rated } from "./select";

/** Scores between these are doubtful: another spelling changes one by a few points. */
const MIN_SCORE = -5;
const MAX_SCORE = 1;
/** Maximum number of doubtful candidates of a recording: the best ones. */
const MAX_DOUBTFUL = 500;
/** The audio before and after the words, for each window that is recognized. */
const CONTEXTS_TICKS = [0.35 * TICKS_PER_SECOND, 0.8 * TICKS_PER_SECOND];

/** A reading that is further away counts no more: nothing may have been recognized. */
const MAX_DISTANCE = 0.75;

/** Lists the windows to recognize: around candidates with doubtful scores, where none has a better one. */
export function listSecondReadings(
  rated: readonly Rated[],
  { words, utterances }: Pick<Transcript, "words" | "utterances">,
): RecognitionRequest[] {
  const settled = new Set<number>();
  for (const { candidate, score } of rated)
    if (score >= MAX_SCORE) for (let word = candidate.from; word < candidate.to; word++) settled.add(word);
  const isSettled = ({ from, to }: Replacement): boolean => words.slice(from, to).some((_, i) => settled.has(from + i));
  const doubtful = rated
    .filter(({ candidate, score }) => score >= MIN_SCORE && !isSettled(candidate))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MAX_DOUBTFUL);
  const places: { from: number; to: number }[] = [];
  for (const { from, to } of doubtful.map(({ candidate }) => candidate).sort((a, b) => a.from - b.from)) {
    const last = places.at(-1);
    if (last && from < last.to) last.to = Math.max(last.to, to);
    else places.push({ from, to });
  }
  return places.flatMap(({ from, to }) => {
    const utterance = findUtterance(utterances, words[from]!);
    if (!utterance) return [];
    return CONTEXTS_TICKS.map((context) => ({
      window: {
        start: Math.max(utterance.start, words[from]!.start - context),
        end: Math.min(utterance.end, words[to - 1]!.end + context),
      },
    }));
  });
}

/**
 * Returns the comparison with other distances where something was recognized again: the mean of the first one and that of the most similar reading.
 * `readings` are the results of the requests.
 */
export function compareReadings(
  { requests, compared }: Comparison,
  windows: readonly RecognitionRequest[],
  readings: readonly Recognition[],
): Comparison {
  const withReadings = (one: Compared): Compared => {
    const span = { start: one.first.start, end: one.last.end };
    const { pronunciation } = one.candidate.term;
    const distances = windows.flatMap(({ window }, i) =>
      window.start <= span.start && window.end >= span.end
        ? [measureDistance(pronunciation, toPronunciation(toPhones(readText(readings[i]!, span))))]
        : [],
    );
    if (distances.length === 0) return one;
    const closest = Math.min(MAX_DISTANCE, ...distances);
    return { ...one, similar: { ...one.similar, distance: (one.similar.distance + closest) / 2 } };
  };
  return { requests, compared: compared.map(withReadings) };
}

/** Returns what was recognized within a span. */
const readText = ({ words }: Recognition, { start, end }: Span): string =>
  words
    .filter((word) => middleOf(word) >= start && middleOf(word) <= end)
    .map(({ text }) => text)
    .join("");
