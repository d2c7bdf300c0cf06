/** Recognises segments: words with times, checked for text that nobody said. */
import type { Utterance, Word } from "../domain/speech";
import { ENERGY_HOP } from "../domain/speech";
import { type Span, TICKS_PER_SECOND, type Ticks } from "../domain/time";
import { computeGain } from "./energy";
import type { DecodedText, EncodedAudio, Moonshine } from "./moonshine";
import { amplify, type PcmReader } from "./pcm";
import { NO_LOG, type RecordLog } from "./record-log";
import { clipSegment, findQuietest, type SpeechSegment, splitToLength } from "./segmentation";
import { snapWordEdges } from "./snapping";
import type { Checkpoint } from "./task-control";
import { detokenize } from "./tokens";
import { timeWords, toRecordingTicks } from "./word-timing";

/** What is recognised of a recording: its samples and their loudness. */
export type AudioWithEnergy = { pcm: PcmReader; energy: Float32Array };

/** Segments that are sorted by length together. */
const MAX_POOL_SEGMENTS = 32;
/** How many of them are decoded at once, and how much sound (padding counted): what they attend to should stay in the processor's cache. */
const MAX_BATCH_SEGMENTS = 8;
const MAX_BATCH_TICKS: Ticks = 90_000_000;

/** A segment's text, as the log of an order keeps it. */
export type RecognizedSegment = { words: Word[]; utterance: Utterance };

type Hypothesis = { segment: SpeechSegment; decoded: DecodedText; meanLogProb: number };

/**
 * Recognises the segments, and calls `onHeard` with the share of the work done, several times a second. Utterances are in order and not
 * empty; their words too. `check` is called between steps and may throw to stop.
 */
export async function transcribe(
  moonshine: Moonshine,
  sound: AudioWithEnergy,
  segments: SpeechSegment[],
  onHeard: (share: number) => void,
  check: Checkpoint,
  log: RecordLog = NO_LOG,
): Promise<{ words: Word[]; utterances: Utterance[] }> {
  const total = segments.reduce((sum, s) => sum + s.end - s.start, 0);
  const words: Word[] = [];
  const utterances: Utterance[] = [];
  let done = 0;
  for (let from = 0; from < segments.length; from += MAX_POOL_SEGMENTS) {
    const pool = segments.slice(from, from + MAX_POOL_SEGMENTS);
    const texts: RecognizedSegment[] = [];
    for (const [n, batch] of createBatches(pool).entries()) {
      const key = `moonshine ${from} ${n}`;
      const size = batch.reduce((sum, s) => sum + s.end - s.start, 0);
      const onPart = (share: number) => onHeard((done + share * size) / total);
      const saved = log.takeJson<RecognizedSegment[]>(key);
      if (saved !== null) {
        texts.push(...saved);
        done += size;
        onHeard(done / total);
        continue;
      }
      const heard: Hypothesis[] = [];
      for (const result of await recognizeSegments(moonshine, sound, batch, check, onPart))
        heard.push(...(await refineHypothesis(moonshine, sound, result, check)));
      const found = heard.flatMap((one) => toRecognizedSegments(one, sound.energy));
      texts.push(...found);
      await log.putJson(key, found);
      done += size;
      onHeard(done / total);
      // The runtime's tensors lie outside the collector's sight, which would let hundreds of megabytes pile up.
      Bun.gc(true);
    }
    texts.sort((a, b) => a.utterance.start - b.utterance.start);
    for (const text of texts) {
      words.push(...text.words);
      utterances.push(text.utterance);
    }
  }
  return { words, utterances };
}

/** What was said in a segment; nothing when nothing was. */
function toRecognizedSegments(one: Hypothesis, energy: Float32Array): RecognizedSegment[] {
  const words = toWords(one, energy);
  if (words.length === 0 || isHallucination(one)) return [];
  const { start, end } = one.segment;
  return [{ words, utterance: { start, end, text: detokenize(one.decoded.tokens), meanLogProb: one.meanLogProb } }];
}

/** Batches of segments of like length. */
function createBatches(segments: SpeechSegment[]): SpeechSegment[][] {
  const batches: SpeechSegment[][] = [];
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

/** Of the work on a batch, the encoder's share; and the tokens a second of speech takes at most, as a rule. */
const ENCODER_SHARE = 0.45;
const TYPICAL_TOKENS_PER_SECOND = 4;

async function recognizeSegments(
  moonshine: Moonshine,
  sound: AudioWithEnergy,
  segments: SpeechSegment[],
  check: Checkpoint,
  onPart: (share: number) => void = () => {},
): Promise<Hypothesis[]> {
  const encoded: EncodedAudio[] = [];
  for (const segment of segments) {
    await check();
    encoded.push(await moonshine.encode(await readSamples(sound, segment)));
    onPart((ENCODER_SHARE * encoded.length) / segments.length);
  }
  const expected = Math.max(...encoded.map((e) => e.seconds)) * TYPICAL_TOKENS_PER_SECOND;
  const decoded = await moonshine.decode(encoded, async (position) => {
    await check();
    // Grows with each step and never quite arrives: how long the text is shows only at its end.
    onPart(ENCODER_SHARE + ((1 - ENCODER_SHARE) * position) / (position + expected / 2));
  });
  return decoded.map((d, i) => ({ segment: segments[i]!, decoded: d, meanLogProb: computeMean(d.logProbs) }));
}

/** The samples of a stretch, its level raised when it is quiet. */
export async function readSamples(sound: AudioWithEnergy, span: Span): Promise<Float32Array> {
  const from = Math.round((span.start * 16_000) / TICKS_PER_SECOND);
  const to = Math.round((span.end * 16_000) / TICKS_PER_SECOND);
  return amplify(await sound.pcm.read(from, to - from), computeGain(sliceEnergy(sound.energy, span)));
}

/** The part of the contour that covers a span. */
export const sliceEnergy = (energy: Float32Array, span: Span): Float32Array =>
  energy.subarray(Math.floor(span.start / ENERGY_HOP), Math.ceil(span.end / ENERGY_HOP));

/** Mean log-probability under which a text is taken for garbled. */
const MIN_CLEAR_LOG_PROB = -0.8;
/** Speech that must be there before a missing text is a fault. */
const MIN_SPEECH_TICKS: Ticks = 600_000;
/** Pieces shorter than this are not split again. */
const MIN_SPLIT_TICKS: Ticks = 1_200_000;

const isGarbled = (heard: Hypothesis): boolean =>
  heard.decoded.isLoop || heard.decoded.tokens.length === 0 || heard.meanLogProb < MIN_CLEAR_LOG_PROB;

/** Rapid repeats leave the decoder without text or with a wrong one: smaller pieces are tried, and kept when they fit better. */
async function refineHypothesis(
  moonshine: Moonshine,
  sound: AudioWithEnergy,
  heard: Hypothesis,
  check: Checkpoint,
): Promise<Hypothesis[]> {
  const { segment } = heard;
  const spoken = segment.speech.reduce((sum, s) => sum + s.end - s.start, 0);
  if (!isGarbled(heard) || spoken < MIN_SPEECH_TICKS || segment.end - segment.start < 2 * MIN_SPLIT_TICKS)
    return [heard];
  const pieces = await recognizeSegments(moonshine, sound, splitSegment(segment, sound.energy), check);
  const improved: Hypothesis[] = [];
  for (const piece of pieces) improved.push(...(await refineHypothesis(moonshine, sound, piece, check)));
  return computeOverallLogProb(improved) > computeOverallLogProb([heard]) ? improved : [heard];
}

/** Two parts of a segment: between two of its spans of speech when it has several, else where it is quietest. */
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

/** How well all texts fit, by their length; nothing heard counts as badly as a wrong text. */
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

/** Mean log-probability under which a text was not said at all. */
const MIN_SPOKEN_LOG_PROB = -1.4;

const isHallucination = (heard: Hypothesis): boolean => heard.meanLogProb < MIN_SPOKEN_LOG_PROB;

function toWords({ segment, decoded }: Hypothesis, energy: Float32Array): Word[] {
  const timed = snapWordEdges(timeWords(decoded), sliceEnergy(energy, segment));
  return timed
    .map((w) => ({
      text: w.text,
      start: toRecordingTicks(w.start, segment.start, segment.end),
      end: toRecordingTicks(w.end, segment.start, segment.end),
      confidence: Math.exp(w.meanLogProb),
    }))
    .filter((w) => w.text !== "" && w.end > w.start);
}

const computeMean = (values: Float32Array): number =>
  values.length === 0 ? Number.NEGATIVE_INFINITY : values.reduce((a, b) => a + b, 0) / values.length;
