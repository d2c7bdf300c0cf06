/** Converts decided words to spans of audio: whole speech regions if possible, else split at the quietest point. */
import { joinTexts } from "../segments";
import type { Span, Ticks } from "../time";
import type { AudioActivity } from "./audio-activity";
import { placeBoundaries } from "./boundaries";
import { type RemovalRule, type ReviewRule, type RuleMatch, reasonOf } from "./rules";
import { type DecidedSpan, durationOf, findOverlapping, indexEndingAfter, isKept, overlapDuration } from "./spans";

/** `removal` is the rule that removes a stretch, or null if it is kept; `reviews` are the rules that mark it. */
export type Decision = { removal: RuleMatch<RemovalRule> | null; reviews: readonly RuleMatch<ReviewRule>[] };
export const KEEP: Decision = { removal: null, reviews: [] };

export type DecidedWord = Span & Decision & { text: string };

/** Maximum gap to a word for a short wordless region that belongs to it: the final "t" of a word can be late. */
const MAX_GAP_BEFORE_WORD_TICKS: Ticks = 160_000;
const MAX_GAP_AFTER_WORD_TICKS: Ticks = 240_000;
const MAX_ATTACHED_REGION_TICKS: Ticks = 220_000;

/** A span and the index of its speech region. */
type RegionSpan = DecidedSpan & { region: number | null };

/**
 * Returns sorted, disjoint spans. Every kept word is completely inside one kept span. `decideWordless` decides on a
 * region in which no word was recognized and that is not attached to one; `noise` is true for a region away from any
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
  return arrangeSpans(spans, spoken, activity);
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

/** Returns the span with words to which a short wordless region belongs; null if there is none. */
function findHost(spans: readonly DecidedSpan[], region: Span): DecidedSpan | null {
  if (durationOf(region) > MAX_ATTACHED_REGION_TICKS) return null;
  let best: DecidedSpan | null = null;
  let smallest = Number.POSITIVE_INFINITY;
  for (const span of spans) {
    const gap = Math.max(span.start - region.end, region.start - span.end);
    const maxGap = span.start >= region.end ? MAX_GAP_BEFORE_WORD_TICKS : MAX_GAP_AFTER_WORD_TICKS;
    if (gap >= maxGap || gap >= smallest || span.text === "") continue;
    smallest = gap;
    best = span;
  }
  return best;
}

/** Sorts the spans and makes them disjoint. Kept spans win over removed ones, and spans with words over others. */
function arrangeSpans(spans: DecidedSpan[], spoken: ReadonlySet<DecidedSpan>, activity: AudioActivity): DecidedSpan[] {
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
  return placeBoundaries(out, activity);
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

/** Returns the parts of a span that none of the others (sorted, disjoint) covers. */
function subtract(span: Span, others: readonly Span[]): Span[] {
  const out: Span[] = [];
  let at = span.start;
  for (const other of findOverlapping(others, span)) {
    if (other.start > at) out.push({ start: at, end: other.start });
    at = Math.max(at, other.end);
  }
  if (span.end > at) out.push({ start: at, end: span.end });
  return out;
}
