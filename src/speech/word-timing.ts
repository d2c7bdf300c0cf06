/** Computes word times from the decoder's attention, which indicates the frames of each token. */
import type { Word } from "../domain/speech";
import { type Span, TICKS_PER_SECOND } from "../domain/time";
import type { DecodedText } from "./recognizer";
import { detokenize, isPunctuation, startsWord } from "./tokens";

/** Frame j of the encoder covers `FRAME_SECONDS`, starting at `FRAME_SECONDS * j + FRAME_OFFSET_SECONDS`. */
const FRAME_SECONDS = 0.024;
const FRAME_OFFSET_SECONDS = 0.016;

/** A word with times in seconds from the start of its segment. `meanLogProb` and `minLogProb` are over its tokens. */
export type TimedWord = { text: string; start: number; end: number; meanLogProb: number; minLogProb: number };

/**
 * Returns the monotonic path with the most attention through `rows` x `frames` (dynamic time warping), as the first
 * frame of each row and the one after its last. Each row gets at least one frame.
 */
export function alignTokens(
  attention: Float32Array,
  rows: number,
  frames: number,
): { first: Int32Array; end: Int32Array } {
  const width = frames + 1;
  const cost = new Float64Array((rows + 1) * width).fill(Number.POSITIVE_INFINITY);
  const cameFrom = new Uint8Array((rows + 1) * width);
  cost[0] = 0;
  for (let row = 1; row <= rows; row++) {
    for (let frame = 1; frame <= frames; frame++) {
      const at = row * width + frame;
      const diagonal = cost[at - width - 1]!;
      const above = cost[at - width]!;
      const before = cost[at - 1]!;
      let lowest = diagonal;
      let step = DIAGONAL;
      if (above < lowest) {
        lowest = above;
        step = ABOVE;
      }
      if (before < lowest) {
        lowest = before;
        step = BEFORE;
      }
      cost[at] = lowest - attention[(row - 1) * frames + frame - 1]!;
      cameFrom[at] = step;
    }
  }
  const first = new Int32Array(rows).fill(-1);
  const end = new Int32Array(rows).fill(-1);
  for (let row = rows, frame = frames; row > 0 && frame > 0; ) {
    if (end[row - 1]! < 0) end[row - 1] = frame;
    first[row - 1] = frame - 1;
    const step = cameFrom[row * width + frame]!;
    if (step !== BEFORE) row--;
    if (step !== ABOVE) frame--;
  }
  return { first, end };
}

const DIAGONAL = 0;
const ABOVE = 1;
const BEFORE = 2;

/** Distance around a token's frames within which the beginning of its word is searched. */
const MAX_ONSET_FRAMES = 10;
/** Time from the start of the frame to which the onset heads attend to the beginning of the word. */
const ONSET_LEAD_SECONDS = 0.011;
/** A word that ends this close to the next one is extended to it. */
const MAX_TOUCHING_SECONDS = 0.12;
const MIN_WORD_SECONDS = 0.02;

/** Returns the words of decoded tokens. Punctuation belongs to the previous word and does not extend it. */
export function timeWords(decoded: DecodedText): TimedWord[] {
  const { tokens, logProbs, attention, frames } = decoded;
  if (tokens.length === 0) return [];
  const path = alignTokens(attention, attention.length / frames, frames);
  const words: { from: number; to: number; start: number; end: number }[] = [];
  for (const [k, token] of tokens.entries()) {
    const end = path.end[k]! * FRAME_SECONDS + FRAME_OFFSET_SECONDS;
    const last = words.at(-1);
    const punctuation = isPunctuation(token);
    if (!last || (startsWord(token) && !punctuation)) {
      const start = findOnset(decoded, k, path.first[k]!, path.end[k]!);
      words.push({ from: k, to: k + 1, start: Math.max(start, last ? last.start + MIN_WORD_SECONDS : 0), end });
      continue;
    }
    last.to = k + 1;
    if (!punctuation) last.end = end;
  }
  return words.map((word, i) => {
    const next = words[i + 1]?.start ?? Number.POSITIVE_INFINITY;
    const end = next - word.end < MAX_TOUCHING_SECONDS ? next : word.end;
    const values = logProbs.subarray(word.from, word.to);
    return {
      text: detokenize(tokens.slice(word.from, word.to)),
      start: word.start,
      end: Math.max(end, word.start + MIN_WORD_SECONDS),
      meanLogProb: values.reduce((a, b) => a + b, 0) / values.length,
      minLogProb: Math.min(...values),
    };
  });
}

/** Returns the start of a word in seconds: the center of the onset heads' attention near its first token's frames. */
function findOnset({ onset, frames }: DecodedText, row: number, first: number, end: number): number {
  let sum = 0;
  let moment = 0;
  for (let j = Math.max(0, first - MAX_ONSET_FRAMES); j < Math.min(frames, end + MAX_ONSET_FRAMES); j++) {
    const weight = onset[row * frames + j]!;
    sum += weight;
    moment += weight * j;
  }
  return (sum > 0 ? moment / sum : first) * FRAME_SECONDS + ONSET_LEAD_SECONDS;
}

/** Converts seconds from the start of a segment to ticks of the recording, within the bounds of the segment. */
export const toRecordingTicks = (seconds: number, start: number, end: number): number =>
  Math.min(end, Math.max(start, start + Math.round(seconds * TICKS_PER_SECOND)));

/** Returns the words of a segment with times in the recording, without those that are then empty. */
export const toRecordingWords = (words: readonly TimedWord[], { start, end }: Span): Word[] =>
  words
    .map((word) => ({
      text: word.text,
      start: toRecordingTicks(word.start, start, end),
      end: toRecordingTicks(word.end, start, end),
      confidence: Math.exp(word.meanLogProb),
    }))
    .filter((word) => word.end > word.start);
