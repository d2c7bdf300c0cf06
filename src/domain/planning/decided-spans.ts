/** Converts decided words to spans of audio: whole speech regions if possible, else split at the quietest point. */

import { joinTexts } from "../segments";
import { ENERGY_HOP, type EnergyContour } from "../speech";
import type { Span, Ticks } from "../time";
import type { AudioActivity } from "./audio-activity";
import { isReviewRule, type RemovalRule, type ReviewRule, type RuleMatch, reasonOf } from "./rules";
import {
  type DecidedSpan,
  durationOf,
  findOverlapping,
  indexAfter,
  indexEndingAfter,
  isKept,
  overlapDuration,
  subtract,
} from "./spans";
import { ACTIVITY, COMMON, CUTTING } from "./thresholds";

/** `removal` is the rule that removes a stretch, or null if it is kept; `reviews` are the rules that mark it. */
export type Decision = { removal: RuleMatch<RemovalRule> | null; reviews: readonly RuleMatch<ReviewRule>[] };
export const KEEP: Decision = { removal: null, reviews: [] };

export type DecidedWord = Span & Decision & { text: string };

/** A span and the index of its speech region. */
type RegionSpan = DecidedSpan & { region: number | null };

/**
 * Returns sorted, disjoint spans. At least half of every kept word is inside one kept span. `decideWordless` decides on
 * a region in which no word was recognized and that is not attached to one; `noise` is true for a region away from any
 * voice.
 */
export function toDecidedSpans(
  words: readonly DecidedWord[],
  activity: AudioActivity,
  decideWordless: (region: Span, noise: boolean) => Decision,
): DecidedSpan[] {
  const sorted = words
    .map((word) => ({ ...word, start: Math.max(0, word.start), end: Math.min(activity.duration, word.end) }))
    .filter((word) => word.end > word.start)
    .sort((a, b) => a.start - b.start || a.end - b.end);
  const inRegions = groupWords(sorted, activity.speechRegions);
  extendToRegionEdges(inRegions, activity.speechRegions);
  const withWords = new Set(inRegions.map((span) => span.region));
  const spans: DecidedSpan[] = inRegions.map(({ region: _, ...span }) => span);
  const spoken = new Set(spans);
  const wordless = [
    ...activity.speechRegions.filter((_, i) => !withWords.has(i)).map((region) => ({ region, noise: false })),
    ...activity.noiseRegions.map((region) => ({ region, noise: true })),
  ];
  for (const { region, noise } of wordless) {
    const host = noise ? null : findHost(spans, region);
    if (host) {
      host.start = Math.min(host.start, region.start);
      host.end = Math.max(host.end, region.end);
    } else spans.push(toSpan({ ...region, ...decideWordless(region, noise), text: "" }));
  }
  const middles = sorted.filter(({ removal }) => removal === null).map(({ start, end }) => (start + end) / 2);
  return placeBoundaries(
    arrangeSpans(spans, spoken),
    activity,
    middles.sort((a, b) => a - b),
  );
}

function toSpan({ start, end, text, removal, reviews }: DecidedWord): DecidedSpan {
  const matches = removal === null ? reviews : [removal, ...reviews];
  return {
    start,
    end,
    text,
    reason: removal && reasonOf(removal.rule),
    findings: matches.map((match) => ({ start, end, ...match })),
  };
}

/** Merges consecutive words of one region that have the same outcome. */
function groupWords(words: readonly DecidedWord[], speechRegions: readonly Span[]): RegionSpan[] {
  const out: RegionSpan[] = [];
  for (const word of words) {
    const region = findMainRegion(word, speechRegions);
    const span = toSpan(word);
    const last = out.at(-1);
    const isSame = last?.reason === span.reason;
    if (last && isSame && (last.region === null ? span.start <= last.end : last.region === region)) {
      last.end = Math.max(last.end, span.end);
      last.text = joinTexts([last.text, span.text]);
      last.findings = [...last.findings, ...span.findings];
    } else out.push({ ...span, region });
  }
  return out;
}

/** Returns the index of the region that contains most of a word. */
function findMainRegion(word: Span, speechRegions: readonly Span[]): number | null {
  let best: number | null = null;
  let longest = 0;
  const first = indexEndingAfter(speechRegions, word.start);
  for (let i = first; i < speechRegions.length && speechRegions[i]!.start < word.end; i++) {
    const shared = overlapDuration(speechRegions[i]!, word);
    if (shared <= longest) continue;
    longest = shared;
    best = i;
  }
  return best;
}

/** Extends the first and the last span of each region to the region's edges. */
function extendToRegionEdges(spans: RegionSpan[], speechRegions: readonly Span[]): void {
  for (const [i, span] of spans.entries()) {
    if (span.region === null) continue;
    const region = speechRegions[span.region]!;
    if (spans[i - 1]?.region !== span.region) span.start = Math.min(span.start, region.start);
    if (spans[i + 1]?.region !== span.region) span.end = Math.max(span.end, region.end);
  }
}

/**
 * Returns the span of words to which a region without words belongs: that of a word that covers most of the region, or
 * of a word near a short region. Null if there is none.
 */
function findHost(spans: readonly DecidedSpan[], region: Span): DecidedSpan | null {
  const covering = spans.find((span) => span.text !== "" && 2 * overlapDuration(span, region) > durationOf(region));
  if (covering) return covering;
  if (durationOf(region) > COMMON.minPause) return null;
  let best: DecidedSpan | null = null;
  let smallest = Number.POSITIVE_INFINITY;
  for (const span of spans) {
    const gap = Math.max(span.start - region.end, region.start - span.end);
    const maxGap = span.start >= region.end ? CUTTING.maxGapBeforeWord : COMMON.minPause;
    if (gap >= maxGap || gap >= smallest || span.text === "") continue;
    smallest = gap;
    best = span;
  }
  return best;
}

/** Sorts the spans and makes them disjoint. Kept spans win over removed ones, and spans with words over others. */
function arrangeSpans(spans: DecidedSpan[], spoken: ReadonlySet<DecidedSpan>): DecidedSpan[] {
  const removed = spans.filter((span) => !isKept(span)).sort((a, b) => a.start - b.start || a.end - b.end);
  const layers = [removed.filter((span) => spoken.has(span)), removed.filter((span) => !spoken.has(span))];
  let out = joinOverlapping(spans.filter(isKept));
  for (const layer of layers) {
    const taken = out;
    const added: DecidedSpan[] = [];
    for (const span of layer) {
      for (const part of subtract(span, taken)) {
        const start = Math.max(part.start, added.at(-1)?.end ?? 0);
        if (part.end > start) added.push({ ...span, start, end: part.end });
      }
    }
    out = [...taken, ...added].sort((a, b) => a.start - b.start);
  }
  return out;
}

function joinOverlapping(spans: readonly DecidedSpan[]): DecidedSpan[] {
  const out: DecidedSpan[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = out.at(-1);
    if (last && span.start < last.end) {
      last.end = Math.max(last.end, span.end);
      last.text = joinTexts([last.text, span.text]);
      last.findings = [...last.findings, ...span.findings];
    } else out.push({ ...span });
  }
  return out;
}

/** A possible cut. `isClean` is false in full voice, away from every energy minimum. */
type CutPoint = { time: Ticks; isClean: boolean };

/**
 * Moves each boundary between a kept and a removed span to an energy minimum nearby: in the removed span, between both,
 * or up to `minDuration` into the kept one. Keeps short removals with an edge in full voice. `spans` are sorted
 * and disjoint. No boundary moves beyond the middle of a kept word; `middles` are sorted.
 */
export function placeBoundaries(
  spans: readonly DecidedSpan[],
  activity: AudioActivity,
  middles: readonly Ticks[] = [],
): DecidedSpan[] {
  const settled = keepInFullVoice(spans, activity, middles);
  const out = settled.map((span) => ({ ...span }));
  for (let i = 1; i < out.length; i++) {
    const point = findBoundary(settled[i - 1]!, settled[i]!, activity, middles);
    if (!point) continue;
    out[i - 1]!.end = point.time;
    out[i]!.start = point.time;
  }
  return out.filter((span) => span.end > span.start);
}

/** Keeps each short removed span between kept ones that has an edge in full voice, and merges it with them. */
function keepInFullVoice(
  spans: readonly DecidedSpan[],
  activity: AudioActivity,
  middles: readonly Ticks[],
): DecidedSpan[] {
  return spans.map((span, i) => {
    const [before, after] = [spans[i - 1], spans[i + 1]];
    if (isKept(span) || durationOf(span) > COMMON.maxFiller) return span;
    if ((before && !isKept(before)) || (after && !isKept(after))) return span;
    const points = [
      before && findBoundary(before, span, activity, middles),
      after && findBoundary(span, after, activity, middles),
    ];
    if (points.every((point) => !point || point.isClean)) return span;
    return { ...span, reason: null, findings: span.findings.filter(({ rule }) => isReviewRule(rule)) };
  });
}

/** Returns where to cut between two spans; null if both are kept or removed, or separated by a pause. */
function findBoundary(
  left: DecidedSpan,
  right: DecidedSpan,
  activity: AudioActivity,
  middles: readonly Ticks[],
): CutPoint | null {
  if (isKept(left) === isKept(right)) return null;
  const gap = { start: left.end, end: right.start };
  if (durationOf(gap) > 2 * COMMON.edge && !isWithinRegion(gap, activity)) return null;
  const [kept, removed] = isKept(left) ? [left, right] : [right, left];
  const nextMiddle = indexAfter(middles, isKept(left) ? gap.start : gap.end);
  const halfWord = isKept(left)
    ? gap.start - (middles[nextMiddle - 1] ?? Number.NEGATIVE_INFINITY)
    : (middles[nextMiddle] ?? Number.POSITIVE_INFINITY) - gap.end;
  const given =
    removed.reason === "noise" ? 0 : Math.min(COMMON.minDuration, CUTTING.maxGivenShare * durationOf(kept), halfWord);
  const voice = measureVoice((gap.start + gap.end) / 2, activity);
  const findWithin = (maxMove: Ticks, maxShare: number) => {
    const taken = Math.min(maxMove, maxShare * durationOf(removed));
    const [before, after] = isKept(left) ? [given, taken] : [taken, given];
    return findCutPoint({ start: gap.start - before, end: gap.end + after }, gap, activity.energy, voice);
  };
  if (removed.reason === "filler") return findWithin(COMMON.minDuration, CUTTING.maxGivenShare);
  const near = findWithin(COMMON.edge, CUTTING.maxGivenShare);
  return near.isClean ? near : findWithin(ACTIVITY.voiceEdge, CUTTING.maxGivenShare);
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
    const isClean = level <= voice - COMMON.minBelowVoiceDb || isMinimum(energy, hop);
    const time = (hop + 0.5) * ENERGY_HOP;
    const distance = Math.max(0, gap.start - time - COMMON.precision, time - gap.end - COMMON.precision) / ENERGY_HOP;
    const cost = Math.max(level, voice - COMMON.minContrastDb) + CUTTING.dbPerHop * distance;
    // A clean cut is better than any other one, whatever it costs.
    if (isClean === best.isClean ? cost >= lowest : best.isClean) continue;
    lowest = cost;
    best = { time, isClean };
  }
  return best;
}

/** Returns whether a hop is the quietest around it and in a dip of the energy. */
function isMinimum(energy: EnergyContour, hop: number): boolean {
  const level = meanLevel(energy, hop);
  for (let i = hop - CUTTING.minimumHops; i <= hop + CUTTING.minimumHops; i++)
    if (meanLevel(energy, i) < level) return false;
  let [before, after] = [level, level];
  for (let n = 1; n <= COMMON.surroundingHops; n++) {
    before = Math.max(before, meanLevel(energy, hop - n));
    after = Math.max(after, meanLevel(energy, hop + n));
  }
  return Math.min(before, after) - level >= CUTTING.minDipDb;
}

/** Returns the mean level of a hop and its neighbors. */
function meanLevel(energy: EnergyContour, hop: number): number {
  const at = (i: number) => energy[Math.max(0, Math.min(energy.length - 1, i))]!;
  return (at(hop - 1) + at(hop) + at(hop + 1)) / 3;
}

/** Returns the level of the loud parts of speech near a time. */
function measureVoice(time: Ticks, { energy, speechRegions }: AudioActivity): number {
  const near = { start: time - ACTIVITY.surroundings, end: time + ACTIVITY.surroundings };
  const levels = new Float32Array((2 * ACTIVITY.surroundings) / ENERGY_HOP + 2);
  let count = 0;
  for (const { start, end } of findOverlapping(speechRegions, near)) {
    const from = Math.floor(Math.max(0, start, near.start) / ENERGY_HOP);
    const part = energy.subarray(from, Math.max(from, Math.floor(Math.min(end, near.end) / ENERGY_HOP)));
    levels.set(part, count);
    count += part.length;
  }
  const voice = levels.subarray(0, count).sort();
  return voice[Math.floor(CUTTING.voiceShare * count)] ?? Number.NEGATIVE_INFINITY;
}
