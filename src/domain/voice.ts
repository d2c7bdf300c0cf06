/** Measures a voice: its pitch by normalized autocorrelation, and its level. Pure functions over samples. */
import { fromSeconds, type Span, type Ticks } from "./time";

/** Median pitch in Hz and level in dBFS of a span's voiced parts, and their duration; null if there are too few. */
export type VoiceFeatures = { pitch: number; level: number; voiced: Ticks } | null;

const HOP_SECONDS = 0.01;
/** Two periods of the lowest voice. */
const FRAME_SECONDS = 0.04;
/** The pitch range of speech. */
const MIN_PITCH_HZ = 65;
const MAX_PITCH_HZ = 420;
/** Correlation of a voice with itself one period later. It is lower in noise and consonants. */
const MIN_PERIODICITY = 0.6;
/** Multiples of a period are just as periodic, so the shortest lag about as periodic as the best one is the period. */
const MIN_SHARE_OF_BEST = 0.9;
/** A frame this much quieter than the loudest one is room noise or a neighbor, regardless of its pitch. */
const MIN_RELATIVE_POWER = 10 ** (-25 / 10);
/** With fewer voiced frames, a voice cannot be judged. */
const MIN_VOICED_FRAMES = 5;

/** Returns the samples that `measureVoice` needs for a span: frames are centered, and compared with later samples. */
export function voiceWindow({ start, end }: Span): Span {
  const half = (FRAME_SECONDS / 2) * 1e6;
  const maxPeriod: Ticks = Math.ceil(1e6 / MIN_PITCH_HZ);
  return { start: Math.max(0, Math.round(start - half)), end: Math.round(end + half + maxPeriod) };
}

/** Measures the voice in samples (-1 to 1) of a `voiceWindow`. */
export function measureVoice(samples: Float32Array, sampleRate: number): VoiceFeatures {
  const hop = Math.round(HOP_SECONDS * sampleRate);
  const frame = Math.round(FRAME_SECONDS * sampleRate);
  const maxLag = Math.ceil(sampleRate / MIN_PITCH_HZ);
  const powers: number[] = [];
  for (let from = 0; from + frame + maxLag <= samples.length; from += hop)
    powers.push(sumProducts(samples, from, 0, frame));
  const loudest = powers.reduce((max, power) => Math.max(max, power), 0);
  const pitches: number[] = [];
  const levels: number[] = [];
  for (const [i, power] of powers.entries()) {
    if (power <= loudest * MIN_RELATIVE_POWER) continue;
    const period = findPeriod(samples, i * hop, frame, sampleRate);
    if (period === null) continue;
    pitches.push(sampleRate / period);
    levels.push(10 * Math.log10(power / frame));
  }
  if (pitches.length < MIN_VOICED_FRAMES) return null;
  return { pitch: median(pitches), level: median(levels), voiced: fromSeconds(pitches.length * HOP_SECONDS) };
}

/** Returns the period of a frame in samples; null if it has none. */
function findPeriod(samples: Float32Array, from: number, frame: number, sampleRate: number): number | null {
  const minLag = Math.floor(sampleRate / MAX_PITCH_HZ);
  const maxLag = Math.ceil(sampleRate / MIN_PITCH_HZ);
  const own = sumProducts(samples, from, 0, frame);
  let shifted = sumProducts(samples.subarray(from + minLag, from + minLag + frame), 0, 0, frame);
  const periodicity = new Float32Array(maxLag + 1);
  let best = 0;
  for (let lag = minLag; lag <= maxLag; lag++) {
    const value = sumProducts(samples, from, lag, frame) / Math.sqrt(Math.max(1e-12, own * shifted));
    periodicity[lag] = value;
    best = Math.max(best, value);
    shifted += (samples[from + lag + frame] ?? 0) ** 2 - samples[from + lag]! ** 2;
  }
  if (best < MIN_PERIODICITY) return null;
  for (let lag = minLag + 1; lag < maxLag; lag++) {
    const value = periodicity[lag]!;
    if (value >= MIN_SHARE_OF_BEST * best && value >= periodicity[lag - 1]! && value >= periodicity[lag + 1]!)
      return lag;
  }
  return null;
}

/** Returns the sum of the products of a frame with itself `lag` samples later. */
function sumProducts(samples: Float32Array, from: number, lag: number, count: number): number {
  let sum = 0;
  for (let i = from; i < from + count; i++) sum += samples[i]! * samples[i + lag]!;
  return sum;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;
