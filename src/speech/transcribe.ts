/** Transcribes segments with the built-in recognizer: words with times, without hallucinations. */

import { computeGain } from "../domain/energy";
import { ENERGY_HOP, type Transcript, type Utterance, type Word } from "../domain/speech";
import { type Span, TICKS_PER_SECOND, type Ticks } from "../domain/time";
import { runTogether } from "../lib/run-together";
import type { EncodedAudio } from "./cross-attention";
import type { EarlyEncoding } from "./early-encoding";
import type { Moonshine } from "./moonshine";
import { amplify, type PcmReader } from "./pcm";
import type { Decode, DecodedText } from "./recognizer";
import {
  clipSegment,
  findQuietest,
  MAX_BATCH_TICKS,
  MAX_POOL_SEGMENTS,
  type SpeechSegment,
  splitToLength,
} from "./segmentation";
import { snapWordEdges } from "./snapping";
import type { Checkpoint, TaskWork } from "./task-control";
import { detokenize } from "./tokens";
import { timeWords, toRecordingWords } from "./word-timing";

/** The samples of a recording, their energy contour, and segments that have already been encoded. */
export type AudioWithEnergy = { pcm: PcmReader; energy: Float32Array; early?: EarlyEncoding | null };

/** Maximum number of segments in a batch. */
const MAX_BATCH_SEGMENTS = 8;

/** The transcript of a segment, in the form stored in a task's log. */
export type RecognizedSegment = { words: Word[]; utterance: Utterance };

export type SegmentTexts = Pick<Transcript, "words" | "utterances">;

type Hypothesis = { segment: SpeechSegment; decoded: DecodedText; meanLogProb: number };

/**
 * Transcribes the segments and calls `onProgress` with the finished share of the work, several times a second, and
 * `onWords` when all segments before the next words are finished. Each decoder takes the next batch when it is free.
 * Utterances and words are in order and not empty. `check` is called between steps and may throw to stop.
 */
export async function transcribe(
  moonshine: Moonshine,
  audio: AudioWithEnergy,
  segments: SpeechSegment[],
  { check, onProgress, onWords, log }: TaskWork,
): Promise<SegmentTexts> {
  if (segments.length === 0) return joinSegments([]);
  const total = sumDurations(segments);
  const order = createOrder(segments);
  const batches = listBatches(segments);
  const decoders = moonshine.listDecoders();
  const shares = decoders.map(() => 0);
  let done = 0;
  const report = () => onProgress((done + shares.reduce((a, b) => a + b)) / total);

  async function recognizeBatch(batch: Batch, recognizer: BatchRecognizer, onShare: (share: number) => void) {
    const saved = log.takeJson<RecognizedSegment[]>(batch.key);
    if (saved !== null) return saved;
    const hypotheses: Hypothesis[] = [];
    for (const result of await recognizeSegments(recognizer, audio, batch.segments, onShare))
      hypotheses.push(...(await refineHypothesis(recognizer, audio, result)));
    const found = hypotheses.flatMap((hypothesis) => toRecognizedSegments(hypothesis, audio.energy));
    await log.putJson(batch.key, found);
    return found;
  }

  const recognizeBatches = async (n: number, signal: AbortSignal): Promise<void> => {
    const checkAll = async () => {
      signal.throwIfAborted();
      await check();
    };
    const recognizer = { moonshine, decode: decoders[n]!, check: checkAll };
    let isFirst = true;
    for (const batch of batches) {
      // The garbage collector does not see the memory of ONNX tensors, and would let hundreds of megabytes accumulate.
      if (!isFirst) Bun.gc(true);
      isFirst = false;
      const size = sumDurations(batch.segments);
      const found = await recognizeBatch(batch, recognizer, (share) => {
        shares[n] = share * size;
        report();
      });
      shares[n] = 0;
      done += size;
      report();
      const { words } = joinSegments(order.add(batch.segments, found));
      if (words.length > 0) onWords?.(words);
    }
  };
  await runTogether(
    undefined,
    decoders.map((_, n) => (signal) => recognizeBatches(n, signal)),
  );
  return joinSegments(order.all);
}

const sumDurations = (segments: readonly Span[]): Ticks => segments.reduce((sum, s) => sum + s.end - s.start, 0);

/** Segments that are recognized together. `key` identifies them in the log of the task. */
type Batch = { key: string; segments: SpeechSegment[] };

function* listBatches(segments: readonly SpeechSegment[]): Generator<Batch> {
  for (let from = 0; from < segments.length; from += MAX_POOL_SEGMENTS) {
    const pool = segments.slice(from, from + MAX_POOL_SEGMENTS);
    for (const [n, batch] of createBatches(pool).entries()) yield { key: `moonshine ${from} ${n}`, segments: batch };
  }
}

/** Collects the transcripts of segments in the order of the recording. */
function createOrder(segments: readonly SpeechSegment[]) {
  const finished = new Set<SpeechSegment>();
  const all: RecognizedSegment[] = [];
  let waiting: RecognizedSegment[] = [];
  /** The first segment that is not finished. */
  let next = 0;
  return {
    all,
    /** Returns the transcripts that are now next: all segments before their end are finished. */
    add(batch: readonly SpeechSegment[], found: readonly RecognizedSegment[]): RecognizedSegment[] {
      for (const segment of batch) finished.add(segment);
      while (next < segments.length && finished.delete(segments[next]!)) next++;
      const until = segments[next]?.start ?? Number.POSITIVE_INFINITY;
      const { ready = [], later = [] } = Object.groupBy([...waiting, ...found], ({ utterance }) =>
        utterance.start < until ? "ready" : "later",
      );
      waiting = later;
      ready.sort((a, b) => a.utterance.start - b.utterance.start);
      all.push(...ready);
      return ready;
    },
  };
}

/** Returns the words and utterances of segments in order. */
export const joinSegments = (segments: readonly RecognizedSegment[]): SegmentTexts => ({
  words: segments.flatMap(({ words }) => words),
  utterances: segments.map(({ utterance }) => utterance),
});

/** Returns the transcript of a segment; an empty list if nothing was said. */
function toRecognizedSegments(hypothesis: Hypothesis, energy: Float32Array): RecognizedSegment[] {
  const { segment, decoded } = hypothesis;
  const words = toWords(segment, decoded, sliceEnergy(energy, segment));
  if (words.length === 0 || isHallucination(hypothesis)) return [];
  const { start, end } = segment;
  const utterance = { start, end, text: detokenize(decoded.tokens), meanLogProb: hypothesis.meanLogProb };
  return [{ words, utterance }];
}

/** Groups segments of similar length into batches. */
export function createBatches<T extends Span>(segments: readonly T[]): T[][] {
  const batches: T[][] = [];
  for (const segment of [...segments].sort((a, b) => a.end - a.start - (b.end - b.start))) {
    const batch = batches.at(-1);
    const fits =
      batch &&
      batch.length < MAX_BATCH_SEGMENTS &&
      (batch.length + 1) * (segment.end - segment.start) <= MAX_BATCH_TICKS;
    if (fits) batch.push(segment);
    else batches.push([segment]);
  }
  return batches;
}

/** The encoder's share of the work on a batch, and the usual upper bound of tokens per second of speech. */
const ENCODER_SHARE = 0.45;
const TYPICAL_TOKENS_PER_SECOND = 4;

type BatchRecognizer = { moonshine: Moonshine; decode: Decode; check: Checkpoint };

/** `segments` are those of a batch: the longest ones are last. */
async function recognizeSegments(
  { moonshine, decode, check }: BatchRecognizer,
  audio: AudioWithEnergy,
  segments: SpeechSegment[],
  onProgress: (share: number) => void = () => {},
): Promise<Hypothesis[]> {
  const encoded: EncodedAudio[] = new Array(segments.length);
  let done = 0;
  const keep = async (index: number, encodedAudio: EncodedAudio): Promise<void> => {
    encoded[index] = encodedAudio;
    done++;
    onProgress((ENCODER_SHARE * done) / segments.length);
    await check();
  };
  const started = segments.map((segment) => audio.early?.take(segment));
  // The longest segment comes first.
  const missing = [...segments.keys()].filter((index) => started[index] === undefined).reverse();
  const read = async (n: number) => ({ audio: await readSamples(audio, segments[missing[n]!]!), texts: [] });
  for await (const part of moonshine.scoreAll(missing.length, read)) await keep(missing[part.index]!, part.audio);
  for (const [index, early] of started.entries()) if (early !== undefined) await keep(index, await early);
  const expected = Math.max(...encoded.map((e) => e.seconds)) * TYPICAL_TOKENS_PER_SECOND;
  const decoded = await decode(encoded, async (position) => {
    await check();
    // Approaches 1 without reaching it, because the length of the text is not known until its end.
    onProgress(ENCODER_SHARE + ((1 - ENCODER_SHARE) * position) / (position + expected / 2));
  });
  return decoded.map((d, i) => ({ segment: segments[i]!, decoded: d, meanLogProb: computeMean(d.logProbs) }));
}

/** Reads the samples of a span, amplified if they are quiet. */
export async function readSamples(audio: AudioWithEnergy, span: Span): Promise<Float32Array> {
  const from = Math.round((span.start * 16_000) / TICKS_PER_SECOND);
  const to = Math.round((span.end * 16_000) / TICKS_PER_SECOND);
  return amplify(await audio.pcm.read(from, to - from), computeGain(sliceEnergy(audio.energy, span)));
}

export const sliceEnergy = (energy: Float32Array, span: Span): Float32Array =>
  energy.subarray(Math.floor(span.start / ENERGY_HOP), Math.ceil(span.end / ENERGY_HOP));

/** A text with a lower mean log probability is considered garbled. */
const MIN_CLEAR_LOG_PROB = -0.8;
/** If a segment has at least this much speech, an empty text is considered an error. */
const MIN_SPEECH_TICKS: Ticks = 600_000;
/** Parts shorter than this are not split again. */
const MIN_SPLIT_TICKS: Ticks = 1_200_000;

const isGarbled = (hypothesis: Hypothesis): boolean =>
  hypothesis.decoded.isLoop || hypothesis.decoded.tokens.length === 0 || hypothesis.meanLogProb < MIN_CLEAR_LOG_PROB;

/**
 * Recognizes the parts of a garbled segment, and keeps them if they score better: rapid repetitions confuse the
 * decoder.
 */
async function refineHypothesis(
  recognizer: BatchRecognizer,
  audio: AudioWithEnergy,
  hypothesis: Hypothesis,
): Promise<Hypothesis[]> {
  const { segment } = hypothesis;
  const speechTicks = segment.speech.reduce((sum, s) => sum + s.end - s.start, 0);
  if (!isGarbled(hypothesis) || speechTicks < MIN_SPEECH_TICKS || segment.end - segment.start < 2 * MIN_SPLIT_TICKS)
    return [hypothesis];
  const parts = await recognizeSegments(recognizer, audio, splitSegment(segment, audio.energy));
  const improved: Hypothesis[] = [];
  for (const part of parts) improved.push(...(await refineHypothesis(recognizer, audio, part)));
  return computeOverallLogProb(improved) > computeOverallLogProb([hypothesis]) ? improved : [hypothesis];
}

/** Splits a segment in two: between two of its speech spans if it has several, otherwise where it is quietest. */
function splitSegment(segment: SpeechSegment, energy: Float32Array): SpeechSegment[] {
  const middle = (segment.start + segment.end) / 2;
  const gaps = segment.speech.slice(1).map((s, i) => Math.round((segment.speech[i]!.end + s.start) / 2));
  const inside = gaps.filter(
    (at) => at - segment.start >= MIN_SPLIT_TICKS / 2 && segment.end - at >= MIN_SPLIT_TICKS / 2,
  );
  const nearest = inside.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0];
  const quarter = (segment.end - segment.start) / 4;
  const at = nearest ?? findQuietest(energy, segment.start + quarter, segment.end - quarter);
  return [clipSegment(segment, segment.start, at), clipSegment(segment, at, segment.end)].flatMap((s) =>
    splitToLength(s, energy, segment.end - segment.start),
  );
}

/** Returns the mean log probability of all texts, weighted by duration. An empty text scores as a wrong one. */
function computeOverallLogProb(results: Hypothesis[]): number {
  let sum = 0;
  let weight = 0;
  for (const { segment, decoded, meanLogProb } of results) {
    const seconds = (segment.end - segment.start) / TICKS_PER_SECOND;
    sum += seconds * (decoded.tokens.length === 0 ? -2 : meanLogProb);
    weight += seconds;
  }
  return weight === 0 ? Number.NEGATIVE_INFINITY : sum / weight;
}

/** A text with a lower mean log probability is considered a hallucination. */
const MIN_SPOKEN_LOG_PROB = -1.4;

const isHallucination = (hypothesis: Hypothesis): boolean => hypothesis.meanLogProb < MIN_SPOKEN_LOG_PROB;

/** Returns the words of a decoded span. `energy` is the contour of the span. */
export const toWords = (span: Span, decoded: DecodedText, energy: Float32Array): Word[] =>
  toRecordingWords(snapWordEdges(timeWords(decoded), energy), span).filter((word) => word.text !== "");

/** Returns the mean; -Infinity without values. */
export const computeMean = (values: Float32Array): number =>
  values.length === 0 ? Number.NEGATIVE_INFINITY : values.reduce((a, b) => a + b, 0) / values.length;
