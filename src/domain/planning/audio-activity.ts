/** Finds where a recording is loud: speech regions between pauses, and noise away from any voice. */

import { ENERGY_HOP, type EnergyContour, type SpeechAnalysis } from "../speech";
import type { Span, Ticks } from "../time";
import { findOverlapping, mergeSpans } from "./spans";
import { ACTIVITY, COMMON } from "./thresholds";

export type AudioActivity = {
  duration: Ticks;
  energy: EnergyContour;
  /** Difference between loud and quiet parts, in dB: 30 to 60 in a room, below 20 in noise. */
  contrast: number;
  /** Loud stretches in or next to voice activity, sorted and disjoint. */
  speechRegions: Span[];
  /** Loud stretches away from any voice, sorted and disjoint. */
  noiseRegions: Span[];
};

const frameOf = (time: Ticks) => Math.floor(time / ENERGY_HOP);

/** Divides the loud stretches of a recording into speech regions and noise regions. */
export function detectActivity(analysis: Pick<SpeechAnalysis, "duration" | "energy" | "speech">): AudioActivity {
  const { duration, energy } = analysis;
  const voice = widenSpans(analysis.speech, ACTIVITY.voiceEdge, duration);
  const speechRegions: Span[] = [];
  const noiseRegions: Span[] = [];
  const whole = levelRange(energy);
  for (const loud of findLoudRegions(duration, energy, analysis.speech, whole)) {
    if (loud.end - loud.start < COMMON.precision) continue;
    let at = loud.start;
    for (const voiced of findOverlapping(voice, loud)) {
      if (voiced.start - at >= ACTIVITY.voiceEdge) {
        noiseRegions.push({ start: at, end: voiced.start });
        at = voiced.start;
      }
      const last = speechRegions.at(-1);
      const end = loud.end - voiced.end >= ACTIVITY.voiceEdge ? voiced.end : loud.end;
      if (last && last.end === at) last.end = Math.max(last.end, end);
      else speechRegions.push({ start: at, end });
      at = end;
    }
    if (loud.end > at) noiseRegions.push({ start: at, end: loud.end });
  }
  return { duration, energy, contrast: whole.high - whole.low, speechRegions, noiseRegions };
}

/** Extends spans by `by` on both sides and merges those that then meet. */
const widenSpans = (spans: readonly Span[], by: Ticks, duration: Ticks): Span[] =>
  mergeSpans(
    spans
      .map(({ start, end }) => ({ start: Math.max(0, start - by), end: Math.min(duration, end + by) }))
      .filter(({ start, end }) => start < end),
  );

/** Returns the stretches above the start threshold, with edges down to the fade threshold. */
function findLoudRegions(duration: Ticks, energy: EnergyContour, speech: readonly Span[], whole: LevelRange): Span[] {
  const thresholds = levelThresholds(energy, whole);
  raiseOverRoomNoise(thresholds, energy, speech, duration, whole);
  const { loud, faded } = thresholds;
  const regions: Span[] = [];
  const maxFrames = COMMON.edge / ENERGY_HOP;
  for (let i = 0; i < energy.length; i++) {
    if (energy[i]! < loud[i]!) continue;
    let from = i;
    let to = i + 1;
    while (to < energy.length && energy[to]! >= loud[to]!) to++;
    const next = to;
    for (let n = 0; n < maxFrames && from > 0 && energy[from - 1]! >= faded[from - 1]!; n++) from--;
    for (let n = 0; n < maxFrames && to < energy.length && energy[to]! >= faded[to]!; n++) to++;
    const span = { start: from * ENERGY_HOP, end: Math.min(duration, to * ENERGY_HOP) };
    const last = regions.at(-1);
    if (last && span.start - last.end < COMMON.minDuration) last.end = Math.max(last.end, span.end);
    else if (span.end > span.start) regions.push(span);
    i = next;
  }
  return regions;
}

/** A block has at least half of this range. */
const MIN_RANGE_DB = 12;

type Thresholds = { loud: Float32Array; faded: Float32Array };

/** Returns the levels per frame at which a region starts (`loud`) and ends (`faded`). They follow blocks of 5 s. */
function levelThresholds(energy: EnergyContour, whole: LevelRange): Thresholds {
  const loud = new Float32Array(energy.length);
  const faded = new Float32Array(energy.length);
  const block = ACTIVITY.surroundings / ENERGY_HOP;
  const blocks: LevelRange[] = [];
  for (let from = 0; from < energy.length; from += block) {
    const near = levelRange(energy.subarray(Math.max(0, from - 2 * block), from + block + 2 * block));
    // A block without a pause has no noise floor, and one without speech has no peak.
    blocks.push({
      low: Math.min(Math.max(near.low, whole.low), whole.low + MIN_RANGE_DB),
      high: Math.max(Math.min(near.high, whole.high), whole.high - MIN_RANGE_DB),
    });
  }
  for (let i = 0; i < energy.length; i++) {
    const { low, high } = blocks[Math.floor(i / block)]!;
    const floor = Math.max(low, high - 55);
    loud[i] = floor + Math.max(3, Math.min(0.25 * (high - floor), 14));
    faded[i] = floor + Math.max(2, Math.min(0.14 * (high - floor), 8));
  }
  return { loud, faded };
}

/**
 * Raises the thresholds at the edges of gaps in the voice activity to the room noise in the gap, as in a car or a café:
 * a sound no louder than the rest of the gap is not a word boundary.
 */
function raiseOverRoomNoise(
  { loud, faded }: Thresholds,
  energy: EnergyContour,
  speech: readonly Span[],
  duration: Ticks,
  { high }: LevelRange,
): void {
  const near = ACTIVITY.voiceEdge / ENERGY_HOP;
  let last = 0;
  for (const { start, end } of [...speech, { start: duration, end: duration }]) {
    const from = frameOf(last);
    const to = Math.min(energy.length, frameOf(start));
    last = Math.max(last, end);
    if ((to - from) * ENERGY_HOP < ACTIVITY.voiceEdge) continue;
    const edge = COMMON.minDuration / ENERGY_HOP;
    const levels = energy.slice(from + edge, to - edge).sort();
    const at = (share?: number) => findLevel(levels, share)!;
    const room = at();
    const isSteady = at(1 - STEADY_SHARE) - at(STEADY_SHARE) <= COMMON.minLevelChangeDb;
    if (!isSteady || room > high - COMMON.minBelowVoiceDb || room < high - COMMON.minContrastDb) continue;
    const spread = room - at(QUIET_SHARE);
    const most = Math.min(COMMON.minBelowVoiceDb, high - room - COMMON.minBelowVoiceDb / 2);
    const margin = Math.min(most, ACTIVITY.overRoomSpreads * spread);
    for (let i = from; i < to; i++) {
      if (i - from >= near && to - i > near) continue;
      loud[i] = Math.max(loud[i]!, room + margin);
      faded[i] = Math.max(faded[i]!, room + margin / 2);
    }
  }
}

type LevelRange = { low: number; high: number };

/** Shares of a recording that are quieter than its quiet parts, and than its loud parts. */
export const QUIET_SHARE = 0.1;
const LOUD_SHARE = 0.95;
const STEADY_SHARE = 0.2;
const SILENCE_DB = -90;

/** Returns the levels of quiet and of loud parts; both are digital silence without audio. */
export function levelRange(energy: Float32Array): LevelRange {
  const sorted = energy.slice().sort();
  return { low: findLevel(sorted, QUIET_SHARE) ?? SILENCE_DB, high: findLevel(sorted, LOUD_SHARE) ?? SILENCE_DB };
}

/** Returns the level below which a share of sorted levels is. */
const findLevel = (sorted: Float32Array, share = 1 / 2): number | undefined =>
  sorted[Math.floor(share * sorted.length)];

/** Returns the median level (or another percentile) of spans in dB; -Infinity if they are empty. */
export function measureLevel(
  spans: readonly Span[],
  { energy }: Pick<AudioActivity, "energy">,
  share?: number,
): number {
  const parts = spans.map(({ start, end }) => energy.subarray(frameOf(start), Math.ceil(end / ENERGY_HOP)));
  const levels = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    levels.set(part, at);
    at += part.length;
  }
  return findLevel(levels.sort(), share) ?? Number.NEGATIVE_INFINITY;
}

/** Returns by how many dB the speech around a span exceeds the background there. */
export function measureContrast({ energy, speechRegions, noiseRegions, contrast }: AudioActivity, span: Span): number {
  const around = { start: span.start - ACTIVITY.surroundings, end: span.end + ACTIVITY.surroundings };
  const from = Math.max(0, frameOf(around.start));
  const surroundings = energy.subarray(from, Math.max(from, frameOf(around.end)));
  const kinds = new Uint8Array(surroundings.length);
  const mark = (regions: readonly Span[], kind: number) => {
    for (const region of findOverlapping(regions, around))
      kinds.fill(kind, Math.max(0, frameOf(region.start) - from), Math.max(0, frameOf(region.end) - from));
  };
  mark(speechRegions, SPEECH);
  mark(noiseRegions, NOISE);
  const quiet = surroundings.filter((_, i) => kinds[i] === QUIET).sort();
  const speech = surroundings.filter((_, i) => kinds[i] === SPEECH).sort();
  if (quiet.length < COMMON.surroundingHops || speech.length === 0) return contrast;
  return findLevel(speech, LOUD_SHARE)! - findLevel(quiet)!;
}

const QUIET = 0;
const SPEECH = 1;
const NOISE = 2;

/** Estimates how much of the starts and ends of speech is hidden in noise. */
export const estimateEdgeMargin = ({ contrast }: Pick<AudioActivity, "contrast">): Ticks =>
  Math.round(
    Math.min(ACTIVITY.maxEdgeMargin, Math.max(0, ACTIVITY.clearContrastDb - contrast) * ACTIVITY.edgeMarginPerDb),
  );

/** Returns the share of clipped frames among the audible frames of a stretch, 0 to 1. */
export function measureClipping({ energy }: Pick<AudioActivity, "energy">, span: Span): number {
  const part = energy.subarray(frameOf(span.start), Math.max(frameOf(span.start), frameOf(span.end)));
  const peak = part.reduce((max, level) => Math.max(max, level), Number.NEGATIVE_INFINITY);
  if (peak < ACTIVITY.clippedLevel) return 0;
  const audible = part.filter((level) => level >= peak - 30).length;
  return part.filter((level) => level >= ACTIVITY.clippedLevel).length / audible;
}
