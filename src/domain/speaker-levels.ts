/** Decides which takes and voices of a cut are played louder or softer, from the energy contour of the cut. Pure. */
import { computePercentile, computeSilenceThreshold } from "./energy";
import { ENERGY_HOP, type EnergyContour } from "./speech";
import type { Ticks } from "./time";

/** A span of the output and its gain in dB. Spans follow each other without gaps. */
export type SpeakerGain = { start: Ticks; end: Ticks; gainDb: number };

/** Voices that differ less keep their level. */
const MAX_DIFFERENCE_DB = 4;
/** More gain would mostly amplify noise. */
const MAX_GAIN_DB = 18;
/** Minimum pause within a segment after which another voice may start. */
const MIN_PAUSE_HOPS = 400_000 / ENERGY_HOP;
/** Minimum amount of speech for a reliable level. */
const MIN_SPEECH_HOPS = 300_000 / ENERGY_HOP;
/** Levels further below the loud ones of the same span are not those of its voice. */
const VOICE_RANGE_DB = 20;

/** Hops `[from, to)`. `level` is that of the voice in dB; null with too little of it. */
type Unit = { from: number; to: number; level: number | null; speech: number };

/**
 * Returns the gains of a cut. `joins` are the times in the output at which its segments start, ascending. Empty without
 * differences.
 */
export function planSpeakerGains(contour: EnergyContour, joins: readonly Ticks[], duration: Ticks): SpeakerGain[] {
  const threshold = computeSilenceThreshold(contour);
  const edges = new Set([0, contour.length]);
  for (const join of joins) edges.add(Math.min(contour.length, Math.round(join / ENERGY_HOP)));
  for (const pause of findPauses(contour, threshold)) edges.add(pause);
  const sorted = [...edges].sort((a, b) => a - b);
  const units = sorted.slice(1).map((to, n) => measureUnit(contour, threshold, sorted[n]!, to));
  const groups = groupUnits(units);
  const target = findMedianLevel(groups);
  if (target === null) return [];
  const gains = groups.map(({ level }) => {
    const difference = target - (level ?? target);
    const isFar = Math.abs(difference) > MAX_DIFFERENCE_DB;
    return isFar ? Math.max(-MAX_GAIN_DB, Math.min(MAX_GAIN_DB, difference)) : 0;
  });
  if (gains.every((gain) => gain === 0)) return [];
  return groups.map(({ from, to }, n) => ({
    start: from * ENERGY_HOP,
    end: n === groups.length - 1 ? Math.max(duration, to * ENERGY_HOP) : to * ENERGY_HOP,
    gainDb: gains[n]!,
  }));
}

/** Returns the middle of each pause. */
function findPauses(contour: EnergyContour, threshold: number): number[] {
  const middles: number[] = [];
  let from = 0;
  for (let hop = 0; hop <= contour.length; hop++) {
    if (hop < contour.length && contour[hop]! < threshold) continue;
    if (hop - from >= MIN_PAUSE_HOPS) middles.push((from + hop) >> 1);
    from = hop + 1;
  }
  return middles;
}

function measureUnit(contour: EnergyContour, threshold: number, from: number, to: number): Unit {
  const hops = contour.subarray(from, to);
  const floor = Math.max(threshold, computePercentile(hops, 0.95) - VOICE_RANGE_DB);
  let energy = 0;
  let speech = 0;
  for (const level of hops) {
    if (level < floor) continue;
    energy += 10 ** (level / 10);
    speech++;
  }
  return { from, to, speech, level: speech < MIN_SPEECH_HOPS ? null : 10 * Math.log10(energy / speech) };
}

/**
 * Joins neighbors with about the same level, so that one voice has one gain. A unit without a level belongs to the one
 * before it.
 */
function groupUnits(units: readonly Unit[]): Unit[] {
  const groups: Unit[] = [];
  for (const unit of units) {
    const group = groups.at(-1);
    const isNear =
      group !== undefined &&
      (group.level === null || unit.level === null || Math.abs(group.level - unit.level) <= MAX_DIFFERENCE_DB);
    if (!isNear) {
      groups.push({ ...unit });
      continue;
    }
    const isFirst = group.level === null;
    if (unit.level !== null) {
      const weights = [isFirst ? 0 : group.speech, unit.speech] as const;
      const mean = weights[0] * 10 ** ((group.level ?? 0) / 10) + weights[1] * 10 ** (unit.level / 10);
      group.level = 10 * Math.log10(mean / (weights[0] + weights[1]));
      group.speech = weights[0] + weights[1];
    }
    group.to = unit.to;
  }
  return groups;
}

/** Returns the level above which half of the speech is; null without speech. */
function findMedianLevel(groups: readonly Unit[]): number | null {
  const spoken = groups.filter(({ level }) => level !== null).sort((a, b) => b.level! - a.level!);
  const half = spoken.reduce((sum, { speech }) => sum + speech, 0) / 2;
  let seen = 0;
  for (const { level, speech } of spoken) {
    seen += speech;
    if (seen >= half) return level;
  }
  return null;
}
