/** Word times for installed models: from token times, or estimated from the text and the energy contour. */
import type { SherpaResult } from "./sherpa";
import { findSilences } from "./snapping";
import type { TimedWord } from "./word-timing";

/** Log probability of a word if the model reports none: neither certain nor doubtful. */
export const UNKNOWN_LOG_PROB = -0.25;

const HOP_SECONDS = 0.005;
/** Maximum duration of a token if the model reports none. */
const MAX_TOKEN_SECONDS = 0.5;
/** Scripts without spaces between words. */
const SPACELESS_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

type TextPart = { text: string; from: number; to: number };

/** Splits a text into words with offsets. Punctuation belongs to the previous word, opening punctuation to the next. */
export function splitWords(text: string, language: string): TextPart[] {
  const parts: TextPart[] = [];
  for (const match of text.matchAll(/\S+/g)) {
    if (!SPACELESS_SCRIPT.test(match[0]))
      parts.push({ text: match[0], from: match.index, to: match.index + match[0].length });
    else parts.push(...segmentSpaceless(match[0], match.index, language));
  }
  const words: TextPart[] = [];
  let opening: number | null = null;
  for (const part of parts) {
    if (isSpoken(part.text)) {
      const from = opening ?? part.from;
      words.push({ text: text.slice(from, part.to), from, to: part.to });
      opening = null;
      continue;
    }
    const last = words.at(-1);
    if (!last || OPENING_PUNCTUATION.test(part.text)) {
      opening ??= part.from;
      continue;
    }
    last.to = part.to;
    last.text = text.slice(last.from, last.to);
  }
  return words;
}

const isSpoken = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);
/** Punctuation that belongs to the next word. */
const OPENING_PUNCTUATION = /^[\p{Ps}\p{Pi}¿¡]+$/u;

function segmentSpaceless(run: string, offset: number, language: string): TextPart[] {
  const segmenter = new Intl.Segmenter(language, { granularity: "word" });
  return [...segmenter.segment(run)].map(({ segment, index }) => ({
    text: segment,
    from: offset + index,
    to: offset + index + segment.length,
  }));
}

/** Returns words timed by their tokens; null if the model reports no token times. `seconds` is the segment's length. */
export function timeTokens(result: SherpaResult, seconds: number, language: string): TimedWord[] | null {
  const { tokens, timestamps, durations, logProbs } = result;
  if (tokens.length === 0 || timestamps.length === 0) return null;
  let text = "";
  const starts = tokens.map((token) => {
    const at = text.length;
    text += token.replaceAll("▁", " ");
    return at;
  });
  const words: TimedWord[] = [];
  for (const { text: word, from, to } of splitWords(text, language)) {
    const own = tokens.flatMap((token, i) => {
      const begin = starts[i]!;
      const end = starts[i + 1] ?? text.length;
      return Math.max(begin, from) < Math.min(end, to) ? [{ i, spoken: isSpoken(token) }] : [];
    });
    const spoken = own.filter((token) => token.spoken).map((token) => token.i);
    const first = spoken[0];
    const last = spoken.at(-1);
    if (first === undefined || last === undefined) continue;
    const start = Math.min(Math.max(timestamps[first]!, words.at(-1)?.start ?? 0), seconds);
    const next = timestamps[last + 1] ?? seconds;
    const audible = durations.length > 0 && durations[last]! > 0 ? durations[last]! : MAX_TOKEN_SECONDS;
    const end = Math.min(seconds, Math.max(start, Math.min(next, timestamps[last]! + audible)));
    const previous = words.at(-1);
    if (previous && previous.end > start) previous.end = start;
    const values = logProbs.length > 0 ? own.map((token) => logProbs[token.i]!) : [UNKNOWN_LOG_PROB];
    const meanLogProb = values.reduce((a, b) => a + b, 0) / values.length;
    words.push({ text: word, start, end, meanLogProb, minLogProb: Math.min(...values) });
  }
  return words;
}

type SecondsSpan = { start: number; end: number };

/**
 * Estimates word times: distributes the words over the audible parts of a segment by how long they take to say. Pauses
 * are assigned where the lengths fit, preferably at punctuation. `speech` contains the speech spans of the segment, in
 * seconds; `energy` is its contour.
 */
export function estimateWords(
  text: string,
  speech: SecondsSpan[],
  energy: Float32Array,
  language: string,
): TimedWord[] {
  const words = splitWords(text, language);
  const audible = findAudibleParts(speech, energy);
  if (words.length === 0 || audible.length === 0) return [];
  const weights = words.map((word) => estimateWeight(word.text));
  const pauseAfter = words.map((word) =>
    /[.!?…。！？]["'”’)\]]*$/u.test(word.text) ? 1 : /[,;:—–，、；：]$/u.test(word.text) ? 0.6 : 0,
  );
  const ends = divideWords(weights, pauseAfter, audible);
  const timed: TimedWord[] = [];
  let from = 0;
  for (const [n, end] of ends.entries()) {
    const part = audible[n]!;
    const total = weights.slice(from, end).reduce((a, b) => a + b, 0);
    let at = part.start;
    for (let i = from; i < end; i++) {
      const until = at + ((part.end - part.start) * weights[i]!) / total;
      const logProb = UNKNOWN_LOG_PROB;
      timed.push({ text: words[i]!.text, start: at, end: until, meanLogProb: logProb, minLogProb: logProb });
      at = until;
    }
    from = end;
  }
  return timed;
}

/**
 * Estimates how long a word takes to say, in letters. Vowels weigh most. A digit counts as a word, and a character of a
 * spaceless script as a syllable.
 */
function estimateWeight(word: string): number {
  let weight = 1;
  for (const letter of word) {
    if (/\p{N}/u.test(letter)) weight += 4;
    else if (SPACELESS_SCRIPT.test(letter)) weight += 3;
    else if (/[aeiouyäöüàáâèéêëìíîòóôùúûæøåаеёиоуыэюя]/iu.test(letter)) weight += 1.2;
    else if (/\p{L}/u.test(letter)) weight += 0.9;
  }
  return weight;
}

/** Minimum duration of an audible part between two silences that can be a word. */
const MIN_AUDIBLE_SECONDS = 0.06;

/** Returns the audible parts from the start of the first speech span to the end of the last, without silences. */
function findAudibleParts(speech: SecondsSpan[], energy: Float32Array): SecondsSpan[] {
  const first = speech[0];
  const last = speech.at(-1);
  if (!first || !last) return [];
  const parts: SecondsSpan[] = [];
  let at = first.start;
  for (const run of findSilences(energy)) {
    const quiet = { start: run.from * HOP_SECONDS, end: run.to * HOP_SECONDS };
    if (quiet.end <= first.start || quiet.start >= last.end) continue;
    if (quiet.start - at >= MIN_AUDIBLE_SECONDS) parts.push({ start: at, end: quiet.start });
    at = Math.max(at, quiet.end);
  }
  if (last.end - at >= MIN_AUDIBLE_SECONDS) parts.push({ start: at, end: last.end });
  return parts.length > 0 ? parts : [{ start: first.start, end: last.end }];
}

/** The cost of a pause without punctuation, relative to a second of mismatch. */
const UNMARKED_PAUSE_COST = 0.35;

/**
 * Returns how many words have been spoken by the end of each part in the division that fits best. Parts may be empty.
 */
function divideWords(weights: number[], pauseAfter: number[], parts: SecondsSpan[]): number[] {
  const count = weights.length;
  const sums = [0];
  for (const weight of weights) sums.push(sums.at(-1)! + weight);
  const audible = parts.reduce((sum, p) => sum + p.end - p.start, 0);
  const secondsFor = audible / sums[count]!;
  let costs = new Float64Array(count + 1).fill(Number.POSITIVE_INFINITY);
  costs[0] = 0;
  const choices: Int32Array[] = [];
  for (const [k, part] of parts.entries()) {
    const length = part.end - part.start;
    const gap = k + 1 < parts.length ? parts[k + 1]!.start - part.end : 0;
    const next = new Float64Array(count + 1).fill(Number.POSITIVE_INFINITY);
    const choice = new Int32Array(count + 1).fill(-1);
    for (let to = 0; to <= count; to++) {
      const marked = to > 0 && to < count ? pauseAfter[to - 1]! : 1;
      const pause = k + 1 < parts.length ? UNMARKED_PAUSE_COST * Math.min(gap, 0.8) * (1 - marked) : 0;
      for (let from = 0; from <= to; from++) {
        if (costs[from]! === Number.POSITIVE_INFINITY) continue;
        const difference = (sums[to]! - sums[from]!) * secondsFor - length;
        const cost = costs[from]! + (difference * difference) / (length + 0.2) + pause;
        if (cost >= next[to]!) continue;
        next[to] = cost;
        choice[to] = from;
      }
    }
    costs = next;
    choices.push(choice);
  }
  const ends = new Array<number>(parts.length);
  let to = count;
  for (let k = parts.length - 1; k >= 0; k--) {
    ends[k] = to;
    to = choices[k]![to]!;
  }
  return ends;
}
