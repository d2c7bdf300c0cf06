/** The lists of takes as an editor gets them: of each line what can be put in its place, none of it overlapping, the kept one among it. */
import type { Candidate, Segment, Take } from "../plan";
import type { Span, Ticks } from "../time";
import { findOverlapping, overlapDuration } from "./audio-activity";

/** A take of a line, before it is listed. Scores are 0 to 1. */
export type LineTakes = { line: string; chosen: Candidate; others: Candidate[] };

/** What each later take is worth: the last one wins unless it is clearly worse. */
const LATER = 0.12;
const WORSE = 0.4;

/** What a complete take of so good a quality (0 to 1) is worth when so many complete ones were made before it; a little above 0 at most. */
export const takeWorth = (quality: number, rank: number): number => LATER * rank - (1 - quality) * WORSE;

/** Shorter than this nobody can choose it. */
const SHORTEST_TAKE: Ticks = 100_000;

/**
 * The takes of lines in the order given. The chosen one is what of it is in the segments; a line of which nothing is there is left out.
 * Of other takes that overlap each other the better one stays whole, and what then is left of the rest is listed when it is long enough.
 */
export function listTakes(lines: readonly LineTakes[], segments: readonly Segment[]): Take[] {
  return lines.flatMap(({ line, chosen, others }) => {
    const kept = findKeptPart(chosen, segments);
    if (!kept) return [];
    const listed = [kept];
    for (const other of [...others].sort((a, b) => b.score - a.score || a.start - b.start)) {
      const free = largestOutside(other, listed);
      if (free) listed.push({ ...other, ...free });
    }
    const candidates = listed
      .map((one) => ({ ...one, score: rounded(one.score) }))
      .sort((a, b) => a.start - b.start || a.end - b.end);
    return [{ line, chosen: candidates.findIndex((one) => one.start === kept.start), candidates }];
  });
}

/** From where a take is first heard in the segments to where it is last heard. */
function findKeptPart(take: Candidate, segments: readonly Segment[]): Candidate | null {
  const inside = findOverlapping(segments, take);
  const [first, last] = [inside[0], inside[inside.length - 1]];
  if (!first || !last) return null;
  const [start, end] = [Math.max(take.start, first.start), Math.min(take.end, last.end)];
  return end > start ? { ...take, start, end } : null;
}

/** The longest part of a span that none of the others covers; null when no more than a moment, or less than half of it, is left. */
function largestOutside(span: Span, others: readonly Span[]): Span | null {
  const within = others.filter((other) => overlapDuration(other, span) > 0).sort((a, b) => a.start - b.start);
  let best: Span = { start: span.start, end: span.start };
  let at = span.start;
  for (const next of [...within, { start: span.end, end: span.end }]) {
    if (next.start - at > best.end - best.start) best = { start: at, end: next.start };
    at = Math.max(at, next.end);
  }
  const length = best.end - best.start;
  return length < SHORTEST_TAKE || 2 * length < span.end - span.start ? null : best;
}

const rounded = (score: number) => Math.round(1000 * Math.min(1, Math.max(0, score))) / 1000;
