/** Divides a recording into segments, each of which is recognized as a unit. */
import { ENERGY_HOP } from "../domain/speech";
import type { Span, Ticks } from "../domain/time";

export type SegmentationOptions = {
  /** Speech spans closer than this are merged ... */
  maxGap: Ticks;
  /** ... if the merged segment is no longer than this. */
  maxMerged: Ticks;
  /** Silence kept around a segment, at most half of the gap. */
  padding: Ticks;
  /** Maximum length of a segment. Longer ones are split where they are quietest. */
  maxLength: Ticks;
};

export const DEFAULT_SEGMENTATION: SegmentationOptions = {
  maxGap: 600_000,
  maxMerged: 15_000_000,
  padding: 200_000,
  maxLength: 28_000_000,
};

/** Number of segments that are sorted by length and batched together. */
export const MAX_POOL_SEGMENTS = 32;
/** Maximum audio of a batch, including padding: keys and values should fit in the CPU cache. */
export const MAX_BATCH_TICKS: Ticks = 90_000_000;

/** A segment to recognize, and the spans of speech in it. */
export type SpeechSegment = Span & { speech: Span[] };

/** Returns segments that cover all spans of speech: sorted, disjoint, within `duration`, each at most `maxLength`. */
export function createSegments(
  speech: Span[],
  energy: Float32Array,
  duration: Ticks,
  options = DEFAULT_SEGMENTATION,
): SpeechSegment[] {
  const groups: SpeechSegment[] = [];
  for (const span of speech) {
    const group = groups.at(-1);
    if (group && span.start - group.end < options.maxGap && span.end - group.start <= options.maxMerged) {
      group.end = span.end;
      group.speech.push(span);
    } else groups.push({ ...span, speech: [span] });
  }
  return groups.flatMap((group, i) => {
    const before = group.start - (groups[i - 1]?.end ?? 0);
    const after = (groups[i + 1]?.start ?? duration) - group.end;
    const start = group.start - Math.min(options.padding, i === 0 ? before : before >> 1);
    const end = group.end + Math.min(options.padding, i === groups.length - 1 ? after : after >> 1);
    return splitToLength({ start, end, speech: group.speech }, energy, options.maxLength);
  });
}

/** Splits a segment at its quietest places until no part is longer than `maxLength`. */
export function splitToLength(segment: SpeechSegment, energy: Float32Array, maxLength: Ticks): SpeechSegment[] {
  const parts: SpeechSegment[] = [];
  let rest = segment;
  while (rest.end - rest.start > maxLength) {
    const at = findQuietest(energy, rest.start + (maxLength >> 1), rest.start + maxLength);
    parts.push(clipSegment(rest, rest.start, at));
    rest = clipSegment(rest, at, rest.end);
  }
  return [...parts, rest];
}

/** Returns the part of a segment between two times. */
export function clipSegment(segment: SpeechSegment, start: Ticks, end: Ticks): SpeechSegment {
  const speech = segment.speech
    .map((s) => ({ start: Math.max(s.start, start), end: Math.min(s.end, end) }))
    .filter((s) => s.end > s.start);
  return { start, end, speech };
}

/** The window in which the quietest place is searched: 200 ms. */
const QUIET_HOPS = 40;

/** Returns the middle of the quietest 200 ms between two times. */
export function findQuietest(energy: Float32Array, from: Ticks, to: Ticks): Ticks {
  const first = Math.floor(from / ENERGY_HOP);
  const last = Math.max(first + 1, Math.floor(to / ENERGY_HOP) - QUIET_HOPS);
  let best = first;
  let bestSum = Number.POSITIVE_INFINITY;
  let sum = 0;
  for (let i = first; i < last + QUIET_HOPS; i++) {
    sum += energy[i] ?? 0;
    if (i - first >= QUIET_HOPS) sum -= energy[i - QUIET_HOPS] ?? 0;
    if (i - first < QUIET_HOPS - 1) continue;
    if (sum < bestSum - 1e-3) {
      bestSum = sum;
      best = i - QUIET_HOPS + 1;
    }
  }
  return Math.min(to, Math.max(from, (best + QUIET_HOPS / 2) * ENERGY_HOP));
}
