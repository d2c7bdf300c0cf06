/** Scores kept segments against a perfect cut, as strictly as an editor would. Times are in seconds. */
import type { Event } from "./talk";

export type Span = { start: number; end: number };
export type Score = {
  keptWords: number;
  lost: string[];
  droppedWords: number;
  leaked: string[];
  /** The words behind these counts, and the unwanted ones that are removed. */
  lostWords: Span[];
  leakedWords: Span[];
  removedWords: Span[];
  /** Seconds of the segments without a kept word, per second of kept words. */
  deadAir: number;
  /** Seconds from the edges of a segment to the edges of its kept event; negative where speech is clipped. */
  margins: number[];
  /** Seconds of pause between kept events in the cut. */
  pauses: number[];
  corrections: number;
  finishedMinutes: number;
};

/** Share of a kept word that must be in the cut, and seconds that may be missing at its start and end. */
const MIN_KEPT_SHARE = 0.9;
const MAX_START_LOSS_SECONDS = 0.03;
const MAX_END_LOSS_SECONDS = 0.05;
/** Seconds of a removed word that may stay in one segment. */
const MAX_LEAKED_SECONDS = 0.06;
/** A shorter pause between two sentences needs a correction. */
const MIN_PAUSE_SECONDS = 0.08;
const MAX_CLIPPED_SECONDS = 0.05;

const getOverlap = (a: Span, b: Span) => Math.max(0, Math.min(a.end, b.end) - Math.max(a.start, b.start));
const formatWord = (word: Span & { word: string }) => `${word.word}@${word.start.toFixed(2)}`;

/** Scores segments. Events with a type in `neutral` may be kept or removed. */
export function scoreSegments(
  events: readonly Event[],
  segments: readonly Span[],
  neutral: readonly Event["type"][] = [],
): Score {
  const kept = events.filter((event) => event.keep);
  const dropped = events.filter((event) => !event.keep && !neutral.includes(event.type));
  const isKept = (word: Span) => {
    const parts = segments.filter((segment) => getOverlap(segment, word) > 0);
    const first = parts[0];
    const last = parts[parts.length - 1];
    if (!first || !last) return false;
    const inside = parts.reduce((sum, part) => sum + getOverlap(part, word), 0);
    const whole = inside >= MIN_KEPT_SHARE * (word.end - word.start);
    return whole && first.start - word.start <= MAX_START_LOSS_SECONDS && word.end - last.end <= MAX_END_LOSS_SECONDS;
  };
  const isLeaked = (word: Span) => segments.some((segment) => getOverlap(segment, word) > MAX_LEAKED_SECONDS);
  const lost = kept.flatMap((event) => event.words.filter((word) => !isKept(word)));
  const leaked = dropped.flatMap((event) => event.words.filter(isLeaked));
  const margins = kept.flatMap((event) => {
    const own = segments.filter((segment) => getOverlap(segment, event) > 0.05);
    return own.length === 0 ? [] : [event.start - own[0]!.start, own[own.length - 1]!.end - event.end];
  });
  const getCutTime = (time: number) =>
    segments.reduce((sum, segment) => sum + getOverlap(segment, { start: 0, end: time }), 0);
  const joins = kept.slice(1).map((event, i) => ({
    pause: getCutTime(event.start) - getCutTime(kept[i]!.end),
    sentences: event.sentence !== kept[i]!.sentence,
  }));
  const words = kept.flatMap((event) => event.words);
  const wordSeconds = words.reduce((sum, word) => sum + word.end - word.start, 0);
  const covered = words.reduce((sum, word) => sum + segments.reduce((all, part) => all + getOverlap(part, word), 0), 0);
  const planned = segments.reduce((sum, segment) => sum + segment.end - segment.start, 0);
  return {
    keptWords: words.length,
    lost: lost.map(formatWord),
    droppedWords: dropped.flatMap((event) => event.words).length,
    leaked: leaked.map(formatWord),
    lostWords: lost,
    leakedWords: leaked,
    removedWords: dropped.flatMap((event) => event.words.filter((word) => !isLeaked(word))),
    deadAir: (planned - covered) / Math.max(1e-9, wordSeconds),
    margins,
    pauses: joins.map((join) => join.pause),
    corrections:
      countRuns(kept, (word) => !isKept(word)) +
      countRuns(dropped, isLeaked) +
      margins.filter((margin) => margin < -MAX_CLIPPED_SECONDS).length +
      joins.filter((join) => join.sentences && join.pause < MIN_PAUSE_SECONDS).length,
    finishedMinutes: planned / 60,
  };
}

/** Counts runs of consecutive words that match. */
function countRuns(events: readonly Event[], matches: (word: Span) => boolean): number {
  let count = 0;
  for (const event of events) {
    let inside = false;
    for (const word of event.words) {
      const isMatch = matches(word);
      if (isMatch && !inside) count++;
      inside = isMatch;
    }
  }
  return count;
}

export type Summary = {
  kept: number;
  keptInterval: [number, number];
  leaked: number;
  leakedInterval: [number, number];
  deadAir: number;
  marginP1: number;
  marginMedian: number;
  withoutPause: number;
  correctionsPerMinute: number;
};

/** Combines scores. Intervals are Wilson score intervals at 95%. */
export function summarizeScores(scores: readonly Score[]): Summary {
  const sum = (of: (score: Score) => number) => scores.reduce((total, score) => total + of(score), 0);
  const words = sum((score) => score.keptWords);
  const lost = sum((score) => score.lost.length);
  const dropped = sum((score) => score.droppedWords);
  const leaked = sum((score) => score.leaked.length);
  const margins = scores.flatMap((score) => score.margins).sort((a, b) => a - b);
  const pauses = scores.flatMap((score) => score.pauses);
  return {
    kept: 1 - lost / Math.max(1, words),
    keptInterval: getWilsonInterval(words - lost, words),
    leaked: leaked / Math.max(1, dropped),
    leakedInterval: getWilsonInterval(leaked, dropped),
    deadAir: sum((score) => score.deadAir) / Math.max(1, scores.length),
    marginP1: margins[Math.floor(0.01 * margins.length)] ?? Number.NaN,
    marginMedian: margins[margins.length >> 1] ?? Number.NaN,
    withoutPause: pauses.filter((pause) => pause < MIN_PAUSE_SECONDS).length / Math.max(1, pauses.length),
    correctionsPerMinute:
      sum((score) => score.corrections) /
      Math.max(
        1e-9,
        sum((score) => score.finishedMinutes),
      ),
  };
}

function getWilsonInterval(hits: number, count: number): [number, number] {
  if (count === 0) return [0, 1];
  const z = 1.96;
  const share = hits / count;
  const middle = (share + (z * z) / (2 * count)) / (1 + (z * z) / count);
  const half = (z / (1 + (z * z) / count)) * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
