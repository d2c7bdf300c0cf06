/** Moves cuts between kept and removed audio without a pause to an energy minimum, or removes nothing there. */
import { ENERGY_HOP, type EnergyContour } from "../speech";
import { fromSeconds, type Span, type Ticks } from "../time";
import type { AudioActivity } from "./audio-activity";
import { isReviewRule } from "./rules";
import { type DecidedSpan, durationOf, findOverlapping, isKept } from "./spans";

/** Maximum distance that a cut may move into a removed span, also as a share of the span. */
const MAX_MOVE_TICKS = fromSeconds(0.12);
const MAX_FAR_MOVE_TICKS = fromSeconds(0.3);
const MAX_MOVED_SHARE = 0.4;
/** Maximum distance that a cut may move into a kept span, also as a share: word edges without a pause are uncertain. */
export const MAX_GIVEN_TICKS = fromSeconds(0.08);
const MAX_GIVEN_SHARE = 0.2;
/** A filler is removed completely, so the cut stays near its edge. */
const MAX_FILLER_MOVE_TICKS = fromSeconds(0.06);
const MAX_MOVED_FILLER_SHARE = 0.25;
/** A single removed span up to this duration is kept if there is no minimum at one of its edges. */
const MAX_STAYING_TICKS = fromSeconds(1.2);

/** Audio this far below the surrounding voice, in dB, is a pause or the fading end of a word. */
const MIN_QUIET_DB = 8;
/** Lower levels are not better. */
const MAX_QUIET_DB = 20;
/** Minimum depth of a dip between words, in dB below the loudest audio on each side. */
const MIN_DIP_DB = 1;
const DIP_HOPS = 20;
/** An energy minimum is the quietest of this many hops on both sides. */
const MINIMUM_HOPS = 4;
/** Being 10 ms nearer is worth this many dB. */
const DB_PER_HOP = 0.3;
/** A clean point is better than any other. */
const UNCLEAN_DB = 100;
/** The voice level is measured this far around a cut. */
const VOICE_TICKS = fromSeconds(4);
const VOICE_SHARE = 0.75;

/** A possible cut. `isClean` is false in full voice, away from every energy minimum. */
type CutPoint = { time: Ticks; isClean: boolean };

/**
 * Moves each boundary between a kept and a removed span to an energy minimum nearby: in the removed span, between both,
 * or at most `MAX_GIVEN_TICKS` into the kept one. Keeps short removals with an edge in full voice. `spans` are sorted
 * and disjoint.
 */
export function placeBoundaries(spans: readonly DecidedSpan[], activity: AudioActivity): DecidedSpan[] {
  const settled = keepInFullVoice(spans, activity);
  const out = settled.map((span) => ({ ...span }));
  for (let i = 1; i < out.length; i++) {
    const point = findBoundary(settled[i - 1]!, settled[i]!, activity);
    if (!point) continue;
    out[i - 1]!.end = point.time;
    out[i]!.start = point.time;
  }
  return out.filter((span) => span.end > span.start);
}

/** Keeps each short removed span between kept ones that has an edge in full voice, and merges it with them. */
function keepInFullVoice(spans: readonly DecidedSpan[], activity: AudioActivity): DecidedSpan[] {
  return spans.map((span, i) => {
    const [before, after] = [spans[i - 1], spans[i + 1]];
    if (isKept(span) || durationOf(span) > MAX_STAYING_TICKS) return span;
    if ((before && !isKept(before)) || (after && !isKept(after))) return span;
    const points = [before && findBoundary(before, span, activity), after && findBoundary(span, after, activity)];
    if (points.every((point) => !point || point.isClean)) return span;
    return { ...span, reason: null, findings: span.findings.filter(({ rule }) => isReviewRule(rule)) };
  });
}

/** Returns where to cut between two spans; null if both are kept or removed, or separated by a pause. */
function findBoundary(left: DecidedSpan, right: DecidedSpan, activity: AudioActivity): CutPoint | null {
  if (isKept(left) === isKept(right)) return null;
  const gap = { start: left.end, end: right.start };
  if (durationOf(gap) > 2 * MAX_MOVE_TICKS && !isWithinRegion(gap, activity)) return null;
  const [kept, removed] = isKept(left) ? [left, right] : [right, left];
  const given = removed.reason === "noise" ? 0 : Math.min(MAX_GIVEN_TICKS, MAX_GIVEN_SHARE * durationOf(kept));
  const voice = measureVoice((gap.start + gap.end) / 2, activity);
  const findWithin = (maxMove: Ticks, maxShare: number) => {
    const taken = Math.min(maxMove, maxShare * durationOf(removed));
    const [before, after] = isKept(left) ? [given, taken] : [taken, given];
    return findCutPoint({ start: gap.start - before, end: gap.end + after }, gap, activity.energy, voice);
  };
  if (removed.reason === "filler") return findWithin(MAX_FILLER_MOVE_TICKS, MAX_MOVED_FILLER_SHARE);
  const near = findWithin(MAX_MOVE_TICKS, MAX_MOVED_SHARE);
  return near.isClean ? near : findWithin(MAX_FAR_MOVE_TICKS, MAX_MOVED_SHARE);
}

const isWithinRegion = (span: Span, { speechRegions, noiseRegions }: AudioActivity) =>
  [speechRegions, noiseRegions].some((regions) =>
    findOverlapping(regions, span).some((region) => region.start <= span.start && region.end >= span.end),
  );

/** Returns the best cut in `range`: at a low level near `gap`, at an energy minimum or below the voice. */
function findCutPoint(range: Span, gap: Span, energy: EnergyContour, voice: number): CutPoint {
  const first = Math.ceil(range.start / ENERGY_HOP - 0.5);
  const last = Math.floor(range.end / ENERGY_HOP - 0.5);
  let best = { time: Math.round((gap.start + gap.end) / 2), isClean: false };
  let lowest = Number.POSITIVE_INFINITY;
  for (let hop = Math.max(0, first); hop <= last && hop < energy.length; hop++) {
    const level = meanLevel(energy, hop);
    const isClean = level <= voice - MIN_QUIET_DB || isMinimum(energy, hop);
    const time = (hop + 0.5) * ENERGY_HOP;
    const distance = Math.max(0, gap.start - time, time - gap.end) / ENERGY_HOP;
    const cost = Math.max(level, voice - MAX_QUIET_DB) + DB_PER_HOP * distance + (isClean ? 0 : UNCLEAN_DB);
    if (cost >= lowest) continue;
    lowest = cost;
    best = { time, isClean };
  }
  return best;
}

/** Returns whether a hop is the quietest around it and in a dip of the energy. */
function isMinimum(energy: EnergyContour, hop: number): boolean {
  const level = meanLevel(energy, hop);
  for (let i = hop - MINIMUM_HOPS; i <= hop + MINIMUM_HOPS; i++) if (meanLevel(energy, i) < level) return false;
  let [before, after] = [level, level];
  for (let n = 1; n <= DIP_HOPS; n++) {
    before = Math.max(before, meanLevel(energy, hop - n));
    after = Math.max(after, meanLevel(energy, hop + n));
  }
  return Math.min(before, after) - level >= MIN_DIP_DB;
}

/** Returns the mean level of a hop and its neighbors. */
function meanLevel(energy: EnergyContour, hop: number): number {
  const at = (i: number) => energy[Math.max(0, Math.min(energy.length - 1, i))]!;
  return (at(hop - 1) + at(hop) + at(hop + 1)) / 3;
}

/** Returns the level of the loud parts of speech near a time. */
function measureVoice(time: Ticks, { energy, speechRegions }: AudioActivity): number {
  const near = { start: time - VOICE_TICKS, end: time + VOICE_TICKS };
  const levels = new Float32Array((2 * VOICE_TICKS) / ENERGY_HOP + 2);
  let count = 0;
  for (const { start, end } of findOverlapping(speechRegions, near)) {
    const from = Math.floor(Math.max(0, start, near.start) / ENERGY_HOP);
    const part = energy.subarray(from, Math.max(from, Math.floor(Math.min(end, near.end) / ENERGY_HOP)));
    levels.set(part, count);
    count += part.length;
  }
  const voice = levels.subarray(0, count).sort();
  return voice[Math.floor(VOICE_SHARE * count)] ?? Number.NEGATIVE_INFINITY;
}
