/** Lists the takes of each line, which an editor can swap. */

import type { Candidate, Segment, Take } from "../plan";
import type { Span } from "../time";
import { durationOf, findOverlapping, overlapDuration, roundScore, toShare } from "./spans";
import { COMMON, RETAKES } from "./thresholds";

/** The takes of a line before they are listed. Scores are 0 to 1. */
export type LineTakes = { line: string; chosen: Candidate; others: Candidate[] };

/** Returns the worth of a complete take. `quality` is 0 to 1, `rank` the number of earlier complete takes. */
export const takeWorth = (quality: number, rank: number): number =>
  RETAKES.laterTakeBonus * rank - (1 - quality) * RETAKES.qualityWeight;

/**
 * Returns the takes of the lines in the given order. The chosen take is reduced to its part in the segments; a line
 * without one is omitted. Of other overlapping takes, the better one stays whole, and the rest of the others is listed
 * if it is long enough.
 */
export function listTakes(lines: readonly LineTakes[], segments: readonly Segment[]): Take[] {
  return lines.flatMap(({ line, chosen, others }) => {
    const kept = findKeptPart(chosen, segments);
    if (!kept) return [];
    const listed = [kept];
    for (const other of [...others].sort((a, b) => b.score - a.score || a.start - b.start)) {
      const free = findLargestGap(other, listed);
      if (free) listed.push({ ...other, ...free });
    }
    const candidates = listed
      .map((one) => ({ ...one, score: roundScore(toShare(one.score)) }))
      .sort((a, b) => a.start - b.start || a.end - b.end);
    return [{ line, chosen: candidates.findIndex((one) => one.start === kept.start), candidates }];
  });
}

/** Returns the part of a take within the segments, from its first to its last moment; null if there is none. */
function findKeptPart(take: Candidate, segments: readonly Segment[]): Candidate | null {
  const inside = findOverlapping(segments, take);
  const [first, last] = [inside[0], inside[inside.length - 1]];
  if (!first || !last) return null;
  const [start, end] = [Math.max(take.start, first.start), Math.min(take.end, last.end)];
  return end > start ? { ...take, start, end } : null;
}

/** Returns the longest part of a span that no other covers; null if it is too short, or under half of the span. */
function findLargestGap(span: Span, others: readonly Span[]): Span | null {
  const within = others.filter((other) => overlapDuration(other, span) > 0).sort((a, b) => a.start - b.start);
  let best: Span = { start: span.start, end: span.start };
  let at = span.start;
  for (const next of [...within, { start: span.end, end: span.end }]) {
    if (next.start - at > durationOf(best)) best = { start: at, end: next.start };
    at = Math.max(at, next.end);
  }
  return durationOf(best) < COMMON.minDuration || 2 * durationOf(best) < durationOf(span) ? null : best;
}
