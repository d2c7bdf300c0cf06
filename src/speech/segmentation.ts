/** Cuts a recording into the stretches that are recognised in one piece. */
import { ENERGY_HOP } from "../domain/speech";
import type { Span, Ticks } from "../domain/time";

export type SegmentationOptions = {
  /** Spans closer than this are recognised together. */
  maxGap: Ticks;
  /** ... as long as the whole stays within this. */
  maxMerged: Ticks;
  /** Quiet kept around a segment, never past the middle of a gap. */
  padding: Ticks;
  /** No segment is longer: longer ones are cut where it is quietest. */
  maxLength: Ticks;
};

export const DEFAULT_SEGMENTATION: SegmentationOptions = {
  maxGap: 600_000,
  maxMerged: 15_000_000,
  padding: 200_000,
  maxLength: 28_000_000,
};

/** A stretch to recognise, and the spans of speech in it. */
export type SpeechSegment = Span & { speech: Span[] };

/** Segments of the spans of speech: sorted, disjoint, within `duration`, each at most `longest`, together covering all speech. */
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

/** Cuts a segment at its quietest places until no piece is longer than `longest`. */
export function splitToLength(segment: SpeechSegment, energy: Float32Array, longest: Ticks): SpeechSegment[] {
  const pieces: SpeechSegment[] = [];
  let rest = segment;
  while (rest.end - rest.start > longest) {
    const at = findQuietest(energy, rest.start + (longest >> 1), rest.start + longest);
    pieces.push(clipSegment(rest, rest.start, at));
    rest = clipSegment(rest, at, rest.end);
  }
  return [...pieces, rest];
}

/** The part of a segment between two times. */
export function clipSegment(segment: SpeechSegment, start: Ticks, end: Ticks): SpeechSegment {
  const speech = segment.speech
    .map((s) => ({ start: Math.max(s.start, start), end: Math.min(s.end, end) }))
    .filter((s) => s.end > s.start);
  return { start, end, speech };
}

/** Over how many values of the contour quiet is looked for: 200 ms. */
const QUIET_HOPS = 40;

/** The middle of the quietest 200 ms between two times. */
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
