/** From words with a verdict to pieces of sound with a verdict: whole islands where it can be, else divided where it is quietest. */

import type { RemovalReason } from "../plan";
import { joinReviews, joinTexts } from "../segments";
import type { Span, Ticks } from "../time";
import {
  type AudioActivity,
  findOverlapping,
  findQuietestPoint,
  indexEndingAfter,
  overlapDuration,
} from "./audio-activity";

/** What becomes of a stretch. `reason` is why it goes when `keep` is false; `review` why an editor should look. */
export type Decision = { keep: boolean; reason: RemovalReason; review: string | null };
export type DecidedWord = Span & Decision & { text: string };
export type DecidedSpan = DecidedWord;

/** Short sound without a word, this near to one, is part of it: the "t" at the end of a word may come late. */
const NEAR_BEFORE: Ticks = 160_000;
const NEAR_AFTER: Ticks = 240_000;
const SHORT_SOUND: Ticks = 220_000;
/** How far a boundary may move into a dropped word to find quiet. */
const INTO_DROPPED: Ticks = 60_000;

type Owned = DecidedSpan & { region: number | null };

/**
 * Makes pieces: sorted, disjoint, every kept word wholly inside one kept piece. `wordless` judges an island in which no word was
 * heard and that is not the fringe of one; `noise` tells whether it is away from any voice.
 */
export function toDecidedSpans(
  words: readonly DecidedWord[],
  activity: AudioActivity,
  decideWordless: (region: Span, noise: boolean) => Decision,
): DecidedSpan[] {
  const spoken = words
    .map((word) => ({ ...word, start: Math.max(0, word.start), end: Math.min(activity.duration, word.end) }))
    .filter((word) => word.end > word.start)
    .sort((a, b) => a.start - b.start || a.end - b.end);
  const owned = grouped(spoken, activity.speechRegions);
  reachIslandEdges(owned, activity.speechRegions);
  const taken = new Set(owned.map((decided) => decided.region));
  const decidedSpans: DecidedSpan[] = owned.map(({ region: _, ...decided }) => decided);
  const spokenPieces = new Set(decidedSpans);
  const rest = [
    ...activity.speechRegions.filter((_, i) => !taken.has(i)).map((region) => ({ region, noise: false })),
    ...activity.noiseRegions.map((region) => ({ region, noise: true })),
  ];
  for (const { region, noise } of rest) {
    const host = noise ? null : nearest(decidedSpans, region);
    if (host) {
      host.start = Math.min(host.start, region.start);
      host.end = Math.max(host.end, region.end);
    } else decidedSpans.push({ ...region, ...decideWordless(region, noise), text: "" });
  }
  return settled(decidedSpans, spokenPieces, activity);
}

/** Words of one island and one verdict, in a row, are one piece. */
function grouped(words: readonly DecidedWord[], speechRegions: readonly Span[]): Owned[] {
  const out: Owned[] = [];
  for (const word of words) {
    const region = home(word, speechRegions);
    const last = out.at(-1);
    if (last && alike(last, word) && (last.region === null ? word.start <= last.end : last.region === region)) {
      last.end = Math.max(last.end, word.end);
      last.text = joinTexts([last.text, word.text]);
      last.review = joinReviews([last.review, word.review]);
    } else out.push({ ...word, region });
  }
  return out;
}

const alike = (a: Decision, b: Decision) => a.keep === b.keep && (a.keep || a.reason === b.reason);

/** The index of the island that a word lies in for the most part. */
function home(word: Span, speechRegions: readonly Span[]): number | null {
  let best: number | null = null;
  let most = 0;
  for (
    let i = indexEndingAfter(speechRegions, word.start);
    i < speechRegions.length && speechRegions[i]!.start < word.end;
    i++
  ) {
    const shared = overlapDuration(speechRegions[i]!, word);
    if (shared <= most) continue;
    most = shared;
    best = i;
  }
  return best;
}

/** The first and last piece of an island reach to its edges; between two of its pieces the edges meet where it is quietest. */
function reachIslandEdges(decidedSpans: Owned[], speechRegions: readonly Span[]): void {
  for (const [i, decided] of decidedSpans.entries()) {
    if (decided.region === null) continue;
    const region = speechRegions[decided.region]!;
    if (decidedSpans[i - 1]?.region !== decided.region) decided.start = Math.min(decided.start, region.start);
    if (decidedSpans[i + 1]?.region !== decided.region) decided.end = Math.max(decided.end, region.end);
  }
}

/** The piece that a short wordless island is the fringe of. */
function nearest(decidedSpans: readonly DecidedSpan[], region: Span): DecidedSpan | null {
  if (region.end - region.start > SHORT_SOUND) return null;
  let best: DecidedSpan | null = null;
  let smallest = Number.POSITIVE_INFINITY;
  for (const decided of decidedSpans) {
    const gap = Math.max(decided.start - region.end, region.start - decided.end);
    const maxGap = decided.start >= region.end ? NEAR_BEFORE : NEAR_AFTER;
    if (gap >= maxGap || gap >= smallest || decided.text === "") continue;
    smallest = gap;
    best = decided;
  }
  return best;
}

/**
 * Sorts the pieces and makes them disjoint: kept ones come before dropped ones, those with words before those without, and a cut between
 * them goes to the quietest place.
 */
function settled(
  decidedSpans: DecidedSpan[],
  spoken: ReadonlySet<DecidedSpan>,
  activity: AudioActivity,
): DecidedSpan[] {
  const dropped = decidedSpans.filter((decided) => !decided.keep).sort((a, b) => a.start - b.start || a.end - b.end);
  const layers = [dropped.filter((decided) => spoken.has(decided)), dropped.filter((decided) => !spoken.has(decided))];
  let out = merged(decidedSpans.filter((decided) => decided.keep));
  for (const layer of layers) {
    const taken = out;
    const added: DecidedSpan[] = [];
    for (const decided of layer) {
      for (const part of outside(decided, taken)) {
        const start = Math.max(part.start, added.at(-1)?.end ?? 0);
        if (part.end > start) added.push({ ...decided, start, end: part.end });
      }
    }
    out = [...taken, ...added].sort((a, b) => a.start - b.start);
  }
  return quietBoundaries(out, activity);
}

function merged(decidedSpans: readonly DecidedSpan[]): DecidedSpan[] {
  const out: DecidedSpan[] = [];
  for (const decided of [...decidedSpans].sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = out.at(-1);
    if (last && decided.start < last.end) {
      last.end = Math.max(last.end, decided.end);
      last.text = joinTexts([last.text, decided.text]);
      last.review = joinReviews([last.review, decided.review]);
    } else out.push({ ...decided });
  }
  return out;
}

/** The stretches of a span that none of the others, sorted and disjoint, covers. */
function outside(span: Span, others: readonly Span[]): Span[] {
  const out: Span[] = [];
  let at = span.start;
  for (const decided of findOverlapping(others, span)) {
    if (decided.start > at) out.push({ start: at, end: decided.start });
    at = Math.max(at, decided.end);
  }
  if (span.end > at) out.push({ start: at, end: span.end });
  return out;
}

/** Where kept and dropped sound touch or nearly touch, the kept piece reaches on to the quietest place between. */
function quietBoundaries(decidedSpans: DecidedSpan[], activity: AudioActivity): DecidedSpan[] {
  for (let i = 1; i < decidedSpans.length; i++) {
    const a = decidedSpans[i - 1]!;
    const b = decidedSpans[i]!;
    if (a.keep === b.keep || b.start - a.end > 2 * INTO_DROPPED) continue;
    const room = Math.min(INTO_DROPPED, ((a.keep ? b : a).end - (a.keep ? b : a).start) / 2);
    const cut = a.keep
      ? findQuietestPoint(activity, { start: a.end, end: b.start + room })
      : findQuietestPoint(activity, { start: a.end - room, end: b.start });
    if (a.keep) {
      a.end = Math.max(a.end, Math.round(cut));
      b.start = Math.max(b.start, a.end);
    } else {
      b.start = Math.min(b.start, Math.round(cut));
      a.end = Math.min(a.end, b.start);
    }
  }
  return decidedSpans.filter((decided) => decided.end > decided.start);
}
