/** Spans with a decision, and searches in sorted, disjoint spans. */
import { findFirst, type Span, type Ticks } from "../time";
import type { Finding, RemovalReason } from "./rules";

/** A stretch of audio with one outcome; `reason` is null if it is kept. `findings` are the rules for its words. */
export type DecidedSpan = Span & { text: string; reason: RemovalReason | null; findings: readonly Finding[] };

export const isKept = (span: Pick<DecidedSpan, "reason">): boolean => span.reason === null;

/** Returns the index of the first span that ends after `time`, or the number of spans. Uses binary search. */
export const indexEndingAfter = (spans: readonly Span[], time: Ticks): number =>
  findFirst(spans.length, (i) => spans[i]!.end > time);

/** Returns the index of the first of sorted times that is after `time`, or the number of times. Uses binary search. */
export const indexAfter = (times: readonly Ticks[], time: Ticks): number =>
  findFirst(times.length, (i) => times[i]! > time);

/** Returns the spans that overlap `span`, in order. */
export function findOverlapping<T extends Span>(spans: readonly T[], span: Span): T[] {
  const out: T[] = [];
  for (let i = indexEndingAfter(spans, span.start); i < spans.length && spans[i]!.start < span.end; i++)
    out.push(spans[i]!);
  return out;
}

/** Returns how long two spans overlap. */
export const overlapDuration = (a: Span, b: Span): Ticks =>
  Math.max(0, Math.min(a.end, b.end) - Math.max(a.start, b.start));

/** Returns whether a span is mostly inside another one, or fills most of it. */
export const isMostlyIn = (a: Span, b: Span): boolean =>
  overlapDuration(a, b) > Math.min(durationOf(a), durationOf(b)) / 2;

/** Returns the common part of two spans that overlap. */
export const intersect = (a: Span, b: Span): Span => ({
  start: Math.max(a.start, b.start),
  end: Math.min(a.end, b.end),
});

/** Returns how much of a span is covered by sorted, disjoint spans. */
export const coveredDuration = (spans: readonly Span[], span: Span): Ticks =>
  findOverlapping(spans, span).reduce((sum, one) => sum + overlapDuration(one, span), 0);

/** Returns how much of the spans is covered by others (sorted, disjoint). */
export const sumCovered = (others: readonly Span[], spans: readonly Span[]): Ticks =>
  spans.reduce((sum, span) => sum + coveredDuration(others, span), 0);

/** Returns a value as a share, 0 to 1. */
export const toShare = (value: number): number => Math.min(1, Math.max(0, value));

/** Returns a score as it is stored, with three decimals. Adding 0 makes 0 of -0, which is not stored. */
export const roundScore = (value: number): number => Math.round(value * 1000) / 1000 + 0;

/** Returns the quality of words with this mean log probability, 0 to 1. */
export const rateLogProb = (mean: number): number => toShare(1 + mean / 4);

export const durationOf = ({ start, end }: Span): Ticks => end - start;

/** Returns spans as sorted, disjoint ones that do not touch. */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const out: Span[] = [];
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    const last = out.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else out.push({ start, end });
  }
  return out;
}

/** Returns the parts of a span that none of the others (sorted, disjoint) covers. */
export function subtract(span: Span, others: readonly Span[]): Span[] {
  const out: Span[] = [];
  let at = span.start;
  for (const other of findOverlapping(others, span)) {
    if (other.start > at) out.push({ start: at, end: other.start });
    at = Math.max(at, other.end);
  }
  if (span.end > at) out.push({ start: at, end: span.end });
  return out;
}
