/** Handles removed audio that is too short for a splice: it is kept, or merged with an adjacent removal. */
import type { RemovedSpan, Segment } from "../plan";
import { joinTexts, mergeSegments, type SourceClock, snapEnd, snapStart } from "../segments";
import type { Ticks } from "../time";
import { durationOf, findOverlapping } from "./spans";

/** A shorter splice is more audible than the removed audio. Slightly above 60 ms, so that a float exceeds that too. */
export const MIN_REMOVAL_TICKS: Ticks = 61_000;

/** Merges segments with less than `MIN_REMOVAL_TICKS` of dropped audio between them. `dropped` is sorted, disjoint. */
export function closeShortGaps(
  segments: readonly Segment[],
  dropped: readonly RemovedSpan[],
  clock: SourceClock,
): Segment[] {
  const isShort = (start: Ticks, end: Ticks) =>
    end > start && end - start < MIN_REMOVAL_TICKS && findOverlapping(dropped, { start, end }).length > 0;
  const out: Segment[] = [];
  for (const segment of segments) {
    const last = out.at(-1);
    if (last && isShort(last.end, segment.start)) {
      const texts = findOverlapping(dropped, { start: last.end, end: segment.start }).map(({ text }) => text);
      out.pop();
      out.push(mergeSegments({ ...last, text: joinTexts([last.text, ...texts]) }, segment));
    } else out.push({ ...segment });
  }
  const first = out[0];
  if (first && isShort(0, first.start)) {
    const { time, frame } = snapStart(0, clock);
    Object.assign(first, { start: time, startFrame: frame });
  }
  const last = out.at(-1);
  if (last && isShort(last.end, clock.duration)) {
    const { time, frame } = snapEnd(clock.duration, clock);
    Object.assign(last, { end: time, endFrame: frame });
  }
  return out;
}

/**
 * Merges each removed span under `MIN_REMOVAL_TICKS` that is not silence with an adjacent removal: another span that is
 * not silence, otherwise the silence. Noise becomes silence, anything else takes the missing duration from the silence.
 */
export function mergeShortRemovals(removed: readonly RemovedSpan[]): RemovedSpan[] {
  const out = removed.map((span) => ({ ...span }));
  for (let i = 0; i < out.length; i++) {
    const span = out[i]!;
    while (span.reason !== "silence" && durationOf(span) < MIN_REMOVAL_TICKS) {
      const before = out[i - 1]?.end === span.start ? out[i - 1]! : null;
      const after = out[i + 1]?.start === span.end ? out[i + 1]! : null;
      const host = findHost(span, before, after);
      if (host) {
        const other = host === before ? after : before;
        const joined = host.reason === "silence" && other?.reason === "silence" ? [span, other] : [span];
        for (const one of joined) {
          joinRemovals(host, one);
          out.splice(out.indexOf(one), 1);
        }
        i = out.indexOf(host) - 1;
        break;
      }
      if (!before && !after) break;
      takeFromSilence(span, before, after);
      if (after && after.end === after.start) out.splice(i + 1, 1);
      if (before && before.end === before.start) out.splice(--i, 1);
    }
  }
  return out;
}

/** Returns the removal to merge a short one with: the longer adjacent one that is not silence; for noise, any. */
function findHost(span: RemovedSpan, before: RemovedSpan | null, after: RemovedSpan | null): RemovedSpan | null {
  const others = [before, after].filter((one) => one !== null);
  const audible = others.filter(({ reason }) => reason !== "silence");
  const hosts = audible.length === 0 && span.reason === "noise" ? others : audible;
  return hosts.reduce<RemovedSpan | null>(
    (best, one) => (best && durationOf(best) >= durationOf(one) ? best : one),
    null,
  );
}

/** Extends a removal over an adjacent one. */
function joinRemovals(host: RemovedSpan, other: RemovedSpan): void {
  host.text = joinTexts(host.start <= other.start ? [host.text, other.text] : [other.text, host.text]);
  host.start = Math.min(host.start, other.start);
  host.end = Math.max(host.end, other.end);
}

function takeFromSilence(span: RemovedSpan, before: RemovedSpan | null, after: RemovedSpan | null): void {
  if (after) {
    span.end = Math.min(after.end, span.start + MIN_REMOVAL_TICKS);
    after.start = span.end;
  }
  if (before) {
    span.start = Math.max(before.start, Math.min(span.start, span.end - MIN_REMOVAL_TICKS));
    before.end = span.start;
  }
}
