/** Words with times: the attention of the decoder says which frames belong to which token. */
import { TICKS_PER_SECOND } from "../domain/time";
import type { DecodedText } from "./moonshine";
import { detokenize, isPunctuation, startsWord } from "./tokens";

/** Frame j of the encoder hears `FRAME_SECONDS * j + FRAME_OFFSET` seconds and the `FRAME_SECONDS` after it. */
const FRAME_SECONDS = 0.024;
const FRAME_OFFSET_SECONDS = 0.016;

/** A word on the clock of its segment, in seconds. `meanLogProb` and `minLogProb` are over its tokens. */
export type TimedWord = { text: string; start: number; end: number; meanLogProb: number; minLogProb: number };

/**
 * The monotonic path of most attention through `rows` x `frames`, each row getting at least one frame: for each row its first frame
 * and the one after its last.
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
      let least = diagonal;
      let step = DIAGONAL;
      if (above < least) {
        least = above;
        step = ABOVE;
      }
      if (before < least) {
        least = before;
        step = BEFORE;
      }
      cost[at] = least - attention[(row - 1) * frames + frame - 1]!;
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

/** How far around a token's frames its word's beginning is looked for. */
const MAX_ONSET_FRAMES = 10;
/** The onset heads look this much before the beginning of a word, in seconds from the start of the frame. */
const ONSET_LEAD_SECONDS = 0.011;
/** A word whose end is found this close to the next one's beginning touches it. */
const MAX_TOUCHING_SECONDS = 0.12;
const MIN_WORD_SECONDS = 0.02;

/** The words of decoded tokens. Punctuation belongs to the word before it and does not make it longer. */
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

/** Where a word begins, in seconds: the middle of what the onset heads look at, near the frames of its first token. */
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

/** Seconds on a segment's clock to ticks on the recording's, within its bounds. */
export const toRecordingTicks = (seconds: number, start: number, end: number): number =>
  Math.min(end, Math.max(start, start + Math.round(seconds * TICKS_PER_SECOND)));
