/** Where a recording is loud and where it is quiet: islands of sound between pauses, and the quietest place to cut. */
import { ENERGY_HOP, type EnergyContour, type SpeechAnalysis } from "../speech";
import type { Span, Ticks } from "../time";

export type AudioActivity = {
  duration: Ticks;
  energy: EnergyContour;
  /** How far the loud parts stand out of the quiet ones, in dB: 30 to 60 in a room, below 20 in noise. */
  contrast: number;
  /** Stretches of sound in or beside voice activity, sorted and disjoint. */
  speechRegions: Span[];
  /** Stretches of sound away from any voice, sorted and disjoint. */
  noiseRegions: Span[];
};

/** Shorter quiet than this belongs to the sound around it: the closure of a "t" or "k" lasts as long. */
const ISLAND_GAP: Ticks = 90_000;
/** Shorter sound than this is a click. */
const SHORTEST_ISLAND: Ticks = 25_000;
/** How far an island reaches out over its fading edges. */
const EDGE_REACH: Ticks = 120_000;

const frameOf = (time: Ticks) => Math.floor(time / ENERGY_HOP);

/** How far from voice activity a sound may still be the edge of a word. */
const VOICE_REACH: Ticks = 300_000;
/** Sound that goes on this much longer than the voice is not part of it. */
const LONG_NOISE: Ticks = 300_000;

/** Finds the islands of a recording. */
export function detectActivity(listening: Pick<SpeechAnalysis, "duration" | "energy" | "speech">): AudioActivity {
  const { duration, energy } = listening;
  const voice = widened(listening.speech, VOICE_REACH, duration);
  const speechRegions: Span[] = [];
  const noiseRegions: Span[] = [];
  for (const loudRegion of soundsIn(duration, energy)) {
    if (loudRegion.end - loudRegion.start < SHORTEST_ISLAND) continue;
    let at = loudRegion.start;
    for (const voiced of findOverlapping(voice, loudRegion)) {
      if (voiced.start - at >= LONG_NOISE) {
        noiseRegions.push({ start: at, end: voiced.start });
        at = voiced.start;
      }
      const last = speechRegions.at(-1);
      const end = loudRegion.end - voiced.end >= LONG_NOISE ? voiced.end : loudRegion.end;
      if (last && last.end === at) last.end = Math.max(last.end, end);
      else speechRegions.push({ start: at, end });
      at = end;
    }
    if (loudRegion.end > at) noiseRegions.push({ start: at, end: loudRegion.end });
  }
  const { low, high } = range(energy);
  return { duration, energy, contrast: high - low, speechRegions, noiseRegions };
}

/** Spans reaching `by` further on both sides, joined where they then meet. */
function widened(spans: readonly Span[], by: Ticks, duration: Ticks): Span[] {
  const out: Span[] = [];
  for (const span of spans) {
    const wide = { start: Math.max(0, span.start - by), end: Math.min(duration, span.end + by) };
    const last = out.at(-1);
    if (last && wide.start <= last.end) last.end = Math.max(last.end, wide.end);
    else if (wide.end > wide.start) out.push(wide);
  }
  return out;
}

function soundsIn(duration: Ticks, energy: EnergyContour): Span[] {
  const { loud, soft } = thresholds(energy);
  const speechRegions: Span[] = [];
  const maxExtension = EDGE_REACH / ENERGY_HOP;
  for (let i = 0; i < energy.length; i++) {
    if (energy[i]! < loud[i]!) continue;
    let from = i;
    let to = i + 1;
    while (to < energy.length && energy[to]! >= loud[to]!) to++;
    const next = to;
    for (let n = 0; n < maxExtension && from > 0 && energy[from - 1]! >= soft[from - 1]!; n++) from--;
    for (let n = 0; n < maxExtension && to < energy.length && energy[to]! >= soft[to]!; n++) to++;
    const span = { start: from * ENERGY_HOP, end: Math.min(duration, to * ENERGY_HOP) };
    const last = speechRegions.at(-1);
    if (last && span.start - last.end < ISLAND_GAP) last.end = Math.max(last.end, span.end);
    else if (span.end > span.start) speechRegions.push(span);
    i = next;
  }
  return speechRegions;
}

/** Levels over which sound begins (`loud`) and under which it has faded (`soft`), following the recording's level slowly. */
function thresholds(energy: EnergyContour): { loud: Float32Array; soft: Float32Array } {
  const loud = new Float32Array(energy.length);
  const soft = new Float32Array(energy.length);
  const block = 1_000;
  const whole = range(energy);
  const blocks: { low: number; high: number }[] = [];
  for (let from = 0; from < energy.length; from += block) {
    const voiced = range(energy.subarray(Math.max(0, from - 2 * block), from + 3 * block));
    // A stretch without any pause has no floor of its own, and one without speech no top.
    blocks.push({
      low: Math.min(Math.max(voiced.low, whole.low), whole.low + 12),
      high: Math.max(Math.min(voiced.high, whole.high), whole.high - 12),
    });
  }
  for (let i = 0; i < energy.length; i++) {
    const { low, high } = blocks[Math.floor(i / block)]!;
    const floor = Math.max(low, high - 55);
    loud[i] = floor + Math.max(3, Math.min(0.25 * (high - floor), 14));
    soft[i] = floor + Math.max(2, Math.min(0.14 * (high - floor), 8));
  }
  return { loud, soft };
}

function range(energy: Float32Array): { low: number; high: number } {
  const sorted = Float32Array.from(energy).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? -90;
  return { low: at(0.1), high: at(0.95) };
}

/** The middle of the quietest 20 ms inside a span; ties go to the place nearest its middle. The span's middle when it is too short. */
export function findQuietestPoint(loudRegion: AudioActivity, span: Span): Ticks {
  const middle = Math.round((span.start + span.end) / 2);
  const from = Math.max(2, frameOf(span.start) + 2);
  const to = Math.min(loudRegion.energy.length - 3, frameOf(span.end) - 2);
  let best = middle;
  let lowest = Number.POSITIVE_INFINITY;
  for (let i = from; i <= to; i++) {
    let level = 0;
    for (let k = -2; k <= 2; k++) level += loudRegion.energy[i + k]!;
    const time = i * ENERGY_HOP + ENERGY_HOP / 2;
    const cost = level / 5 + (0.01 * Math.abs(time - middle)) / ENERGY_HOP;
    if (cost < lowest - 1e-9) {
      lowest = cost;
      best = time;
    }
  }
  return best;
}

/** The index of the first of sorted, disjoint spans that ends after a time; the length when none does. */
export function indexEndingAfter(spans: readonly Span[], time: Ticks): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle]!.end <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The islands that overlap a span, in order. */
export function findOverlapping(speechRegions: readonly Span[], span: Span): Span[] {
  const out: Span[] = [];
  for (
    let i = indexEndingAfter(speechRegions, span.start);
    i < speechRegions.length && speechRegions[i]!.start < span.end;
    i++
  )
    out.push(speechRegions[i]!);
  return out;
}

/** How long two spans overlap. */
export const overlapDuration = (a: Span, b: Span): Ticks =>
  Math.max(0, Math.min(a.end, b.end) - Math.max(a.start, b.start));

/** In a room this quiet the edges of words are clear; each dB less hides more of them, up to the last. */
const CLEAR = 45;
const BLUR_PER_DB: Ticks = 2_500;
const MOST_BLUR: Ticks = 50_000;

/** How much of the beginnings and ends of speech is hidden in noise. */
export const estimateEdgeMargin = ({ contrast }: Pick<AudioActivity, "contrast">): Ticks =>
  Math.round(Math.min(MOST_BLUR, Math.max(0, CLEAR - contrast) * BLUR_PER_DB));

/** An unclipped wave is never this loud for 15 ms, in dB: a full sine has -3. */
const CLIPPED_LEVEL = -3.5;

/** How badly a stretch is clipped, 0 to 1: the share of its sound that is as loud as only a wave with its tops cut off can be. */
export function measureClipping({ energy }: Pick<AudioActivity, "energy">, span: Span): number {
  const part = energy.subarray(frameOf(span.start), Math.max(frameOf(span.start), frameOf(span.end)));
  const loudest = part.reduce((most, level) => Math.max(most, level), Number.NEGATIVE_INFINITY);
  if (loudest < CLIPPED_LEVEL) return 0;
  const confirmedByAudio = part.filter((level) => level >= loudest - 30).length;
  return part.filter((level) => level >= CLIPPED_LEVEL).length / confirmedByAudio;
}
