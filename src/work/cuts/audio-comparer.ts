/** Compares two parts of analysis audio for the planner: whether one sounds like the beginning of the other. */
import { type AnalysisAudioFile, type AudioMatch, type AudioPair, PCM_SAMPLE_RATE_HZ } from "../../domain/speech";
import { fromSeconds, type Span } from "../../domain/time";
import { type AudioReader, openAudioFile } from "../../lib/analysis-audio/reader";
import { RealFft } from "../../lib/real-fft";

const HOP_SAMPLES = 320;
const WINDOW_SAMPLES = 400;
/** Bands on the mel scale between the frequencies of speech, and cepstral coefficients that describe their shape. */
const BANDS = 24;
const COEFFICIENTS = 13;
const MIN_HZ = 120;
const MAX_HZ = 5_500;
/** Raises high frequencies, which are quieter in speech. */
const PRE_EMPHASIS = 0.95;
/** Weight of the level, in which takes differ. The shape of the spectrum has the weight 1. */
const LEVEL_WEIGHT = 0.3;
/** Level below which a band is silent, relative to its loud frames. */
const SILENCE_SHARE = 1e-4;
/** Maximum length of the retake, relative to the take and beyond that. */
const MAX_SLOWER = 1.6;
const MAX_LATE_FRAMES = 18;
/** Maximum number of frames before the retake starts. */
const MAX_START_FRAMES = 5;
/** Maximum number of cells of an alignment, 13 bytes each: takes of half a minute. */
const MAX_CELLS = 4_000_000;
/** Number of frames over which the worst distance is averaged: a fifth of a second, a short word. */
const WORST_FRAMES = 10;

const fft = new RealFft(512);
const spectrum = fft.createSpectrum();
const hann = Float64Array.from(
  { length: WINDOW_SAMPLES },
  (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (i + 0.5)) / WINDOW_SAMPLES),
);
const toMel = (hz: number) => 1127 * Math.log(1 + hz / 700);
const toBin = (mel: number) => (700 * (Math.exp(mel / 1127) - 1) * fft.size) / PCM_SAMPLE_RATE_HZ;
/** The borders of the bands in bins; each band is a triangle over two of them. */
const borders = Array.from({ length: BANDS + 2 }, (_, i) =>
  toBin(toMel(MIN_HZ) + ((toMel(MAX_HZ) - toMel(MIN_HZ)) * i) / (BANDS + 1)),
);
const filters = Array.from({ length: BANDS }, (_, band) => {
  const [low, middle, high] = [borders[band]!, borders[band + 1]!, borders[band + 2]!];
  const first = Math.ceil(low);
  const weights = Float64Array.from({ length: Math.floor(high) - first + 1 }, (_, n) =>
    first + n < middle ? (first + n - low) / (middle - low) : (high - first - n) / (high - middle),
  );
  return { first, weights };
});
const cosines = Array.from({ length: COEFFICIENTS }, (_, k) =>
  Float64Array.from(
    { length: BANDS },
    (_, band) => (Math.cos((Math.PI * k * (band + 0.5)) / BANDS) * (k === 0 ? LEVEL_WEIGHT : 1)) / Math.sqrt(BANDS / 2),
  ),
);

/**
 * Returns how the take and the retake of each pair differ; null if one is too short or silent, if both are too
 * long, or if they cannot be aligned. Throws `DamagedAudioError` and file system errors.
 */
export async function compareAudio(
  file: AnalysisAudioFile,
  pairs: readonly AudioPair[],
): Promise<(AudioMatch | null)[]> {
  const audio = await openAudioFile(file.path);
  try {
    const out: (AudioMatch | null)[] = [];
    for (const { take, retake } of pairs)
      out.push(matchAudio(await readFrames(audio, take), await readFrames(audio, retake)));
    return out;
  } finally {
    await audio.close();
  }
}

async function readFrames(audio: AudioReader, { start, end }: Span): Promise<Float32Array[]> {
  const from = Math.round((start * PCM_SAMPLE_RATE_HZ) / 1e6);
  return describeAudio(await audio.read(from, Math.round((end * PCM_SAMPLE_RATE_HZ) / 1e6) - from));
}

/**
 * Returns the cepstrum of each frame without the mean of all frames, which contains the effect of the room and of the
 * microphone.
 */
export function describeAudio(samples: Int16Array): Float32Array[] {
  const count = Math.max(0, Math.floor((samples.length - WINDOW_SAMPLES) / HOP_SAMPLES) + 1);
  const values = new Float64Array(fft.size);
  const frames = Array.from({ length: count }, (_, frame) => {
    const from = frame * HOP_SAMPLES;
    for (let i = 0; i < WINDOW_SAMPLES; i++)
      values[i] = ((samples[from + i]! - PRE_EMPHASIS * (samples[from + i - 1] ?? 0)) * hann[i]!) / 32_768;
    fft.transform(values, spectrum);
    return measureBands();
  });
  const silence = Array.from({ length: BANDS }, (_, band) => {
    const powers = Float64Array.from(frames, (frame) => frame[band]!).sort();
    return SILENCE_SHARE * (powers[Math.floor(0.9 * count)] ?? 0) + Number.EPSILON;
  });
  const levels = new Float64Array(BANDS);
  const cepstra = frames.map((bands) => {
    for (let band = 0; band < BANDS; band++) levels[band] = Math.log(bands[band]! + silence[band]!);
    const cepstrum = new Float32Array(COEFFICIENTS);
    for (let k = 0; k < COEFFICIENTS; k++) {
      let sum = 0;
      for (let band = 0; band < BANDS; band++) sum += levels[band]! * cosines[k]![band]!;
      cepstrum[k] = sum;
    }
    return cepstrum;
  });
  const mean = cosines.map((_, k) => cepstra.reduce((sum, frame) => sum + frame[k]!, 0) / count);
  return cepstra.map((frame) => frame.map((value, k) => value - mean[k]!));
}

/** Returns the power in each band of the spectrum. */
function measureBands(): Float64Array {
  const powers = new Float64Array(BANDS);
  for (let band = 0; band < BANDS; band++) {
    const { first, weights } = filters[band]!;
    let power = 0;
    for (let n = 0; n < weights.length; n++)
      power += weights[n]! * (spectrum.re[first + n]! ** 2 + spectrum.im[first + n]! ** 2);
    powers[band] = power;
  }
  return powers;
}

/** Step between the frames whose usual distance is measured. */
const SAMPLED_FRAMES = 4;

/**
 * Aligns a take with the beginning of its retake by dynamic time warping. Each step advances by one frame in both, or
 * by two in one of them, so neither is more than twice as fast as the other. Distances are relative to the mean
 * distance between frames of both. Returns null if one of them is too short or silent, if both are too long, or if they
 * cannot be aligned.
 */
export function matchAudio(take: readonly Float32Array[], retake: readonly Float32Array[]): AudioMatch | null {
  const rows = take.length;
  const columns = Math.min(retake.length, Math.ceil(MAX_SLOWER * rows) + MAX_LATE_FRAMES);
  if (rows < WORST_FRAMES || columns < WORST_FRAMES || rows * columns > MAX_CELLS) return null;
  const distances = new Float32Array(rows * columns);
  const costs = new Float64Array(rows * columns).fill(Number.POSITIVE_INFINITY);
  const steps = new Uint8Array(rows * columns);
  const usual = measureUsualDistance(take, retake.slice(0, columns));
  // Both are silent.
  if (usual === 0) return null;
  for (let i = 0; i < rows; i++) {
    const last = Math.min(columns - 1, 2 * i + MAX_START_FRAMES + 2);
    for (let j = Math.max(0, (i >> 1) - 1); j <= last; j++)
      distances[i * columns + j] = distanceBetween(take[i]!, retake[j]!);
  }
  costs.set(distances.subarray(0, Math.min(columns, MAX_START_FRAMES + 1)));
  for (let i = 1; i < rows; i++) {
    const last = Math.min(columns - 1, 2 * i + MAX_START_FRAMES);
    for (let j = Math.max(1, i >> 1); j <= last; j++) {
      const at = i * columns + j;
      const own = distances[at]!;
      let best = costs[at - columns - 1]! + own;
      let step = BOTH;
      const faster = j > 1 ? costs[at - columns - 2]! + (own + distances[at - 1]!) / 2 : Number.POSITIVE_INFINITY;
      if (faster < best) [best, step] = [faster, FASTER];
      const slower = i > 1 ? costs[at - 2 * columns - 1]! + own + distances[at - columns]! : Number.POSITIVE_INFINITY;
      if (slower < best) [best, step] = [slower, SLOWER];
      costs[at] = best;
      steps[at] = step;
    }
  }
  const lastRow = costs.subarray((rows - 1) * columns);
  const end = lastRow.reduce((best, cost, j) => (cost < lastRow[best]! ? j : best), 0);
  if (!Number.isFinite(lastRow[end])) return null;
  const path: number[] = [];
  for (let at = (rows - 1) * columns + end; at >= columns; ) {
    const own = distances[at]!;
    const step = steps[at]!;
    path.push(step === FASTER ? (own + distances[at - 1]!) / 2 : own);
    if (step === SLOWER) path.push(distances[at - columns]!);
    at -= (step === SLOWER ? 2 * columns : columns) + (step === FASTER ? 2 : 1);
  }
  const duration = fromSeconds(((end + 1) * HOP_SAMPLES) / PCM_SAMPLE_RATE_HZ);
  return { distance: lastRow[end]! / rows / usual, worst: findWorst(path) / usual, duration };
}

const BOTH = 0;
const FASTER = 1;
const SLOWER = 2;

function measureUsualDistance(take: readonly Float32Array[], retake: readonly Float32Array[]): number {
  let [sum, count] = [0, 0];
  for (let i = 0; i < take.length; i += SAMPLED_FRAMES)
    for (let j = 0; j < retake.length; j += SAMPLED_FRAMES, count++) sum += distanceBetween(take[i]!, retake[j]!);
  return sum / count;
}

function distanceBetween(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < COEFFICIENTS; k++) sum += (a[k]! - b[k]!) ** 2;
  return Math.sqrt(sum);
}

/** Returns the highest mean of consecutive frames. */
function findWorst(path: readonly number[]): number {
  let sum = 0;
  let worst = 0;
  for (const [i, distance] of path.entries()) {
    sum += distance - (path[i - WORST_FRAMES] ?? 0);
    if (i >= WORST_FRAMES - 1) worst = Math.max(worst, sum / WORST_FRAMES);
  }
  return worst;
}
