/** Converts decided spans to the plan's segments: chooses which pauses stay, the padding of speech, and the joins. */

import type { CutOptions, Plan, RemovedSpan, Segment } from "../plan";
import {
  joinReviews,
  joinTexts,
  type KeptSpan,
  listRemovedSpans,
  mergeSegments,
  type SourceClock,
  snapEnd,
  snapStart,
  toSegments,
} from "../segments";
import { fromSeconds, type Span, type Ticks } from "../time";
import { type Finding, isReviewRule, type RemovalRule, reviewText } from "./rules";
import { type DecidedSpan, durationOf, findOverlapping, indexEndingAfter, isKept, overlapDuration } from "./spans";
import { COMMON, CUTTING } from "./thresholds";

/** How pauses are treated. `remove_pauses` defaults to true. */
export type PauseOptions = Pick<
  CutOptions,
  "min_silence_seconds" | "padding_before_seconds" | "padding_after_seconds"
> & { remove_pauses?: boolean };

/** Kept spans with only short pauses between them. Padding must stay between `floor` and `ceiling`. */
type KeptRun = { start: Ticks; end: Ticks; texts: string[]; reviews: string[]; floor: Ticks; ceiling: Ticks };

/**
 * Returns a plan's segments and removed spans. `edgeMargin` pads for the part of speech that noise hides. Without
 * `remove_pauses` all silence stays that is not beside a removed span.
 */
export function assembleSegments(
  spans: readonly DecidedSpan[],
  clock: SourceClock,
  options: PauseOptions,
  edgeMargin: Ticks = 0,
): Pick<Plan, "segments" | "removed" | "keptDuration" | "findings"> {
  const { remove_pauses = true } = options;
  const before = remove_pauses ? fromSeconds(options.padding_before_seconds) + edgeMargin : clock.duration;
  const after = remove_pauses ? fromSeconds(options.padding_after_seconds) + edgeMargin : clock.duration;
  const minPause = Math.max(fromSeconds(options.min_silence_seconds), before + after);
  const runs = groupRuns(spans, minPause, clock);
  const padded = padRuns(runs, before, after, COMMON.minDuration + 2 * (COMMON.precision + edgeMargin));
  const dropped = spans.flatMap(({ start, end, reason, text }) =>
    reason === null ? [] : [{ start, end, reason, text }],
  );
  const segments: Segment[] = closeShortGaps(toSegments(padded, clock), dropped, clock);
  const removed = mergeShortRemovals(listRemovedSpans(segments, dropped, clock.duration, COMMON.minTakePause));
  const listed = spans.filter(
    (span) => isKept(span) || findOverlapping(removed, span).some(({ reason }) => reason === span.reason),
  );
  return {
    segments,
    ...attachRules(removed, listed, minPause, clock.duration),
    keptDuration: segments.reduce((sum, segment) => sum + segment.end - segment.start, 0),
  };
}

function groupRuns(spans: readonly DecidedSpan[], minPause: Ticks, clock: SourceClock): KeptRun[] {
  const runs: KeptRun[] = [];
  let droppedEnd = 0;
  let open = false;
  for (const span of spans) {
    const last = runs.at(-1);
    if (!isKept(span)) {
      if (span.reason === "noise" && last && open && isInShortPause(spans, span, last.end, minPause)) continue;
      if (last && open) last.ceiling = ceilingBefore(last.end, span.start, clock);
      droppedEnd = span.end;
      open = false;
    } else if (last && open && span.start - last.end < minPause) {
      last.end = span.end;
      last.texts.push(span.text);
      last.reviews.push(...reviewsOf(span));
    } else {
      const floor = open || droppedEnd === 0 ? droppedEnd : floorAfter(droppedEnd, span.start, clock);
      runs.push({
        start: span.start,
        end: span.end,
        texts: [span.text],
        reviews: reviewsOf(span),
        floor: open && last ? last.end : floor,
        ceiling: clock.duration,
      });
      if (open && last) last.ceiling = span.start;
      open = true;
    }
  }
  return runs;
}

const reviewsOf = ({ findings }: DecidedSpan): string[] =>
  findings.flatMap(({ rule }) => (isReviewRule(rule) ? [reviewText(rule)] : []));

/** Returns whether a noise is in a pause that is too short to be shortened, and so stays with it. */
function isInShortPause(spans: readonly DecidedSpan[], noise: DecidedSpan, end: Ticks, minPause: Ticks): boolean {
  const next = spans.slice(spans.indexOf(noise) + 1).find((span) => span.reason !== "noise");
  return next !== undefined && isKept(next) && next.start - end < minPause;
}

/** Returns the latest end of padding after `end`, such that snapping up to a frame stays clear of `dropped`. */
function ceilingBefore(end: Ticks, dropped: Ticks, clock: SourceClock): Ticks {
  const limit = Math.max(end, dropped - Math.min(COMMON.precision, (dropped - end) / 2));
  const { frame, time } = snapStart(limit, clock);
  if (frame === null) return Math.floor(limit);
  return time >= end ? time : end;
}

function floorAfter(dropped: Ticks, start: Ticks, clock: SourceClock): Ticks {
  const limit = Math.min(start, dropped + Math.min(COMMON.precision, (start - dropped) / 2));
  const { frame, time } = snapEnd(limit, clock);
  if (frame === null) return Math.ceil(limit);
  return time <= start ? time : start;
}

/** Pads each run within its bounds. A join shorter than `minJoinPause` gets all the available silence. */
function padRuns(runs: readonly KeptRun[], before: Ticks, after: Ticks, minJoinPause: Ticks): KeptSpan[] {
  const spans = runs.map((run) => ({
    start: Math.max(Math.min(run.floor, run.start), run.start - before),
    end: Math.min(Math.max(run.ceiling, run.end), run.end + after),
    text: joinTexts(run.texts),
    review: joinReviews(run.reviews),
  }));
  for (let i = 1; i < runs.length; i++) {
    const [left, right] = [runs[i - 1]!, runs[i]!];
    const [a, b] = [spans[i - 1]!, spans[i]!];
    let missing = minJoinPause - (a.end - left.end) - (right.start - b.start);
    if (missing <= 0) continue;
    const later = Math.min(missing, Math.max(0, left.ceiling - a.end));
    a.end += later;
    missing -= later;
    b.start -= Math.min(missing, Math.max(0, b.start - right.floor));
  }
  return spans;
}

/** Merges segments with less than `MIN_REMOVAL_TICKS` of dropped audio between them. `dropped` is sorted, disjoint. */
export function closeShortGaps(
  segments: readonly Segment[],
  dropped: readonly RemovedSpan[],
  clock: SourceClock,
): Segment[] {
  const isShort = (start: Ticks, end: Ticks) =>
    end > start && end - start < CUTTING.minRemoval && findOverlapping(dropped, { start, end }).length > 0;
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
    while (span.reason !== "silence" && durationOf(span) < CUTTING.minRemoval) {
      const before = out[i - 1]?.end === span.start ? out[i - 1]! : null;
      const after = out[i + 1]?.start === span.end ? out[i + 1]! : null;
      const host = findMergedRemoval(span, before, after);
      if (host) {
        const other = host === before ? after : before;
        const joined = other?.reason === host.reason ? [span, other] : [span];
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
function findMergedRemoval(
  span: RemovedSpan,
  before: RemovedSpan | null,
  after: RemovedSpan | null,
): RemovedSpan | null {
  const others = [before, after].filter((one) => one !== null);
  const audible = others.filter(({ reason }) => reason !== "silence");
  const hosts = audible.length === 0 && span.reason === "noise" ? others : audible;
  return hosts.reduce<RemovedSpan | null>(
    (best, one) => (best && durationOf(best) >= durationOf(one) ? best : one),
    null,
  );
}

/** Extends a removal over an adjacent one. A noise takes the reason of words that it joins. */
function joinRemovals(host: RemovedSpan, other: RemovedSpan): void {
  if (host.reason === "noise") host.reason = other.reason;
  host.text = joinTexts(host.start <= other.start ? [host.text, other.text] : [other.text, host.text]);
  host.start = Math.min(host.start, other.start);
  host.end = Math.max(host.end, other.end);
}

function takeFromSilence(span: RemovedSpan, before: RemovedSpan | null, after: RemovedSpan | null): void {
  if (after) {
    span.end = Math.min(after.end, span.start + CUTTING.minRemoval);
    after.start = span.end;
  }
  if (before) {
    span.start = Math.max(before.start, Math.min(span.start, span.end - CUTTING.minRemoval));
    before.end = span.start;
  }
}

/**
 * Returns the removed spans with their rules, and the findings of the plan in order of time. A span that several rules
 * removed gets the rule that covers most of it. `spans` are sorted and disjoint.
 */
export function attachRules(
  removed: readonly RemovedSpan[],
  spans: readonly DecidedSpan[],
  minPause: Ticks,
  duration: Ticks,
): Pick<Plan, "removed" | "findings"> {
  const findings: Finding[] = spans.filter(isKept).flatMap((span) => joinFindings(clipFindings(span)));
  const ruled = removed.map((span) => {
    const own = span.reason === "silence" ? [pauseFinding(span, spans, minPause, duration)] : removalsIn(span, spans);
    findings.push(...own);
    return { ...span, rule: mainRule(own) };
  });
  return { removed: ruled, findings: findings.sort((a, b) => a.start - b.start || a.end - b.end) };
}

/** Returns the findings that removed a span: those of the overlapping decided spans with the same reason. */
function removalsIn(removed: RemovedSpan, spans: readonly DecidedSpan[]): Finding[] {
  const same = findOverlapping(spans, removed).filter((span) => span.reason === removed.reason);
  const findings = joinFindings(same.flatMap(clipFindings).filter(({ rule }) => !isReviewRule(rule)));
  // A word may be kept in part, because segments have a minimum duration. Its finding then applies to the rest.
  const { start, end } = removed;
  return findings.map((one) => (overlapDuration(one, removed) > 0 ? one : { ...one, start, end }));
}

/** Returns the findings of a span, clipped to it. */
export const clipFindings = ({ start, end, findings }: DecidedSpan): Finding[] =>
  findings.map((finding) => {
    const clipped = { start: Math.max(start, finding.start), end: Math.min(end, finding.end) };
    return { ...finding, ...(clipped.end > clipped.start ? clipped : { start, end }) };
  });

/** Merges findings with the same rule and scores. */
export function joinFindings(findings: readonly Finding[]): Finding[] {
  const out: Finding[] = [];
  for (const finding of findings) {
    const last = out.findLast((one) => isSameMatch(one, finding));
    if (last) last.end = Math.max(last.end, finding.end);
    else out.push({ ...finding });
  }
  return out;
}

const isSameMatch = (a: Finding, b: Finding) =>
  a.rule === b.rule && (a.scores === b.scores || JSON.stringify(a.scores) === JSON.stringify(b.scores));

/** Returns the rule that covers most of what the findings remove; at least one must remove. */
export function mainRule(findings: readonly Finding[]): RemovalRule {
  const durations = new Map<RemovalRule, Ticks>();
  for (const finding of findings) {
    if (isReviewRule(finding.rule)) continue;
    durations.set(finding.rule, (durations.get(finding.rule) ?? 0) + durationOf(finding));
  }
  return [...durations].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

/** Returns the finding of removed silence, from the speech and the removed spans on both sides of it. */
function pauseFinding(silence: Span, spans: readonly DecidedSpan[], minPause: Ticks, duration: Ticks): Finding {
  const middle = (silence.start + silence.end) / 2;
  const index = indexEndingAfter(spans, middle);
  const [before, after] = [spans[index - 1], spans[index]];
  const scores = { pause: (after?.start ?? duration) - (before?.end ?? 0), minPause };
  const { start, end } = silence;
  if (!before) return { start, end, rule: "pause.leading", scores };
  if (!after) return { start, end, rule: "pause.trailing", scores };
  const isBetweenSpeech = isKept(before) && isKept(after);
  return { start, end, rule: isBetweenSpeech ? "pause.long" : "pause.beside_removed", scores };
}
