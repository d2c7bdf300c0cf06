/** Recognises segments: words with times, checked for text that nobody said. */
import type { Utterance, Word } from "../domain/speech";
import { ENERGY_HOP } from "../domain/speech";
import { type Span, TICKS_PER_SECOND, type Ticks } from "../domain/time";
import { gainFor } from "./energy";
import type { Decoded, Encoded, Moonshine } from "./moonshine";
import type { Checkpoint } from "./order-control";
import { amplify, type PcmReader } from "./pcm";
import { NO_LOG, type RecordLog } from "./record-log";
import { clipped, cutToLength, quietest, type Segment } from "./segmentation";
import { snapToSound } from "./snapping";
import { textOf } from "./tokens";
import { onClock, timeWords } from "./word-timing";

/** What is recognised of a recording: its samples and their loudness. */
export type Sound = { pcm: PcmReader; energy: Float32Array };

/** Segments that are sorted by length together. */
const POOL = 32;
/** How many of them are decoded at once, and how much sound (padding counted): what they attend to should stay in the processor's cache. */
const BATCH = 8;
const BATCH_LENGTH: Ticks = 90_000_000;

/** A segment's text, as the log of an order keeps it. */
export type Recognized = { words: Word[]; utterance: Utterance };

type Heard = { segment: Segment; decoded: Decoded; meanLogProb: number };

/**
 * Recognises the segments, and calls `onHeard` with the share of the work done, several times a second. Utterances are in order and not
 * empty; their words too. `check` is called between steps and may throw to stop.
 */
export async function transcribe(
  moonshine: Moonshine,
  sound: Sound,
  segments: Segment[],
  onHeard: (share: number) => void,
  check: Checkpoint,
  log: RecordLog = NO_LOG,
): Promise<{ words: Word[]; utterances: Utterance[] }> {
  const total = segments.reduce((sum, s) => sum + s.end - s.start, 0);
  const words: Word[] = [];
  const utterances: Utterance[] = [];
  let done = 0;
  for (let from = 0; from < segments.length; from += POOL) {
    const pool = segments.slice(from, from + POOL);
    const texts: Recognized[] = [];
    for (const [n, batch] of batchesOf(pool).entries()) {
      const key = `moonshine ${from} ${n}`;
      const size = batch.reduce((sum, s) => sum + s.end - s.start, 0);
      const onPart = (share: number) => onHeard((done + share * size) / total);
      const saved = log.takeJson<Recognized[]>(key);
      if (saved !== null) {
        texts.push(...saved);
        done += size;
        onHeard(done / total);
        continue;
      }
      const heard: Heard[] = [];
      for (const result of await hear(moonshine, sound, batch, check, onPart))
        heard.push(...(await improve(moonshine, sound, result, check)));
      const found = heard.flatMap((one) => recognizedOf(one, sound.energy));
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
function recognizedOf(one: Heard, energy: Float32Array): Recognized[] {
  const words = wordsOf(one, energy);
  if (words.length === 0 || isInvented(one)) return [];
  const { start, end } = one.segment;
  return [{ words, utterance: { start, end, text: textOf(one.decoded.tokens), meanLogProb: one.meanLogProb } }];
}

/** Batches of segments of like length. */
function batchesOf(segments: Segment[]): Segment[][] {
  const batches: Segment[][] = [];
  for (const segment of [...segments].sort((a, b) => a.end - a.start - (b.end - b.start))) {
    const batch = batches.at(-1);
    const fits = batch && batch.length < BATCH && (batch.length + 1) * (segment.end - segment.start) <= BATCH_LENGTH;
    if (fits) batch.push(segment);
    else batches.push([segment]);
  }
  return batches;
}

/** Of the work on a batch, the encoder's share; and the tokens a second of speech takes at most, as a rule. */
const ENCODING = 0.45;
const TOKENS_A_SECOND = 4;

async function hear(
  moonshine: Moonshine,
  sound: Sound,
  segments: Segment[],
  check: Checkpoint,
  onPart: (share: number) => void = () => {},
): Promise<Heard[]> {
  const encoded: Encoded[] = [];
  for (const segment of segments) {
    await check();
    encoded.push(await moonshine.encode(await samplesOf(sound, segment)));
    onPart((ENCODING * encoded.length) / segments.length);
  }
  const expected = Math.max(...encoded.map((e) => e.seconds)) * TOKENS_A_SECOND;
  const decoded = await moonshine.decode(encoded, async (position) => {
    await check();
    // Grows with each step and never quite arrives: how long the text is shows only at its end.
    onPart(ENCODING + ((1 - ENCODING) * position) / (position + expected / 2));
  });
  return decoded.map((d, i) => ({ segment: segments[i]!, decoded: d, meanLogProb: mean(d.logProbs) }));
}

/** The samples of a stretch, its level raised when it is quiet. */
export async function samplesOf(sound: Sound, span: Span): Promise<Float32Array> {
  const from = Math.round((span.start * 16_000) / TICKS_PER_SECOND);
  const to = Math.round((span.end * 16_000) / TICKS_PER_SECOND);
  return amplify(await sound.pcm.read(from, to - from), gainFor(energyOf(sound.energy, span)));
}

/** The part of the contour that covers a span. */
export const energyOf = (energy: Float32Array, span: Span): Float32Array =>
  energy.subarray(Math.floor(span.start / ENERGY_HOP), Math.ceil(span.end / ENERGY_HOP));

/** Mean log-probability under which a text is taken for garbled. */
const GARBLED = -0.8;
/** Speech that must be there before a missing text is a fault. */
const MIN_SPEECH: Ticks = 600_000;
/** Pieces shorter than this are not split again. */
const MIN_PIECE: Ticks = 1_200_000;

const isGarbled = (heard: Heard): boolean =>
  heard.decoded.looped || heard.decoded.tokens.length === 0 || heard.meanLogProb < GARBLED;

/** Rapid repeats leave the decoder without text or with a wrong one: smaller pieces are tried, and kept when they fit better. */
async function improve(moonshine: Moonshine, sound: Sound, heard: Heard, check: Checkpoint): Promise<Heard[]> {
  const { segment } = heard;
  const spoken = segment.speech.reduce((sum, s) => sum + s.end - s.start, 0);
  if (!isGarbled(heard) || spoken < MIN_SPEECH || segment.end - segment.start < 2 * MIN_PIECE) return [heard];
  const pieces = await hear(moonshine, sound, halves(segment, sound.energy), check);
  const improved: Heard[] = [];
  for (const piece of pieces) improved.push(...(await improve(moonshine, sound, piece, check)));
  return overall(improved) > overall([heard]) ? improved : [heard];
}

/** Two parts of a segment: between two of its spans of speech when it has several, else where it is quietest. */
function halves(segment: Segment, energy: Float32Array): Segment[] {
  const middle = (segment.start + segment.end) / 2;
  const gaps = segment.speech.slice(1).map((s, i) => Math.round((segment.speech[i]!.end + s.start) / 2));
  const inside = gaps.filter((at) => at - segment.start >= MIN_PIECE / 2 && segment.end - at >= MIN_PIECE / 2);
  const nearest = inside.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0];
  const quarter = (segment.end - segment.start) / 4;
  const at = nearest ?? quietest(energy, segment.start + quarter, segment.end - quarter);
  return [clipped(segment, segment.start, at), clipped(segment, at, segment.end)].flatMap((s) =>
    cutToLength(s, energy, segment.end - segment.start),
  );
}

/** How well all texts fit, by their length; nothing heard counts as badly as a wrong text. */
function overall(results: Heard[]): number {
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
const INVENTED = -1.4;

const isInvented = (heard: Heard): boolean => heard.meanLogProb < INVENTED;

function wordsOf({ segment, decoded }: Heard, energy: Float32Array): Word[] {
  const timed = snapToSound(timeWords(decoded), energyOf(energy, segment));
  return timed
    .map((w) => ({
      text: w.text,
      start: onClock(w.start, segment.start, segment.end),
      end: onClock(w.end, segment.start, segment.end),
      confidence: Math.exp(w.meanLogProb),
    }))
    .filter((w) => w.text !== "" && w.end > w.start);
}

const mean = (values: Float32Array): number =>
  values.length === 0 ? Number.NEGATIVE_INFINITY : values.reduce((a, b) => a + b, 0) / values.length;
