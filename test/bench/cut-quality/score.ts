/** Scores kept segments against what a perfect cut keeps, strictly enough that an editor would agree. Times in seconds. */
import type { Event } from "./talk";

export type Span = { start: number; end: number };
export type Score = {
  keptWords: number;
  lost: string[];
  droppedWords: number;
  leaked: string[];
  /** Seconds in the segments without a kept word, for each second of kept words. */
  deadAir: number;
  /** How far the segments reach beyond each kept event's edges; negative where speech is clipped. */
  margins: number[];
  /** Pauses heard between kept events. */
  pauses: number[];
  corrections: number;
  finishedMinutes: number;
};

/** Of a kept word, so much must be heard, with at most so much missing at its start and end. */
const HEARD = 0.9;
const START_LOSS = 0.03;
const END_LOSS = 0.05;
/** Of a dropped word, so much in one piece is a leak. */
const LEAK = 0.06;
const BREATH = 0.08;
const CLIPPED = 0.05;

const shared = (a: Span, b: Span) => Math.max(0, Math.min(a.end, b.end) - Math.max(a.start, b.start));
const named = (word: Span & { word: string }) => `${word.word}@${word.start.toFixed(2)}`;

/** Scores segments; events of the types in `neutral` may be kept or not. */
export function scoreSegments(
  events: readonly Event[],
  segments: readonly Span[],
  neutral: readonly Event["type"][] = [],
): Score {
  const kept = events.filter((event) => event.keep);
  const dropped = events.filter((event) => !event.keep && !neutral.includes(event.type));
  const isHeard = (word: Span) => {
    const parts = segments.filter((segment) => shared(segment, word) > 0);
    const first = parts[0];
    const last = parts[parts.length - 1];
    if (!first || !last) return false;
    const inside = parts.reduce((sum, part) => sum + shared(part, word), 0);
    const whole = inside >= HEARD * (word.end - word.start);
    return whole && first.start - word.start <= START_LOSS && word.end - last.end <= END_LOSS;
  };
  const isLeaked = (word: Span) => segments.some((segment) => shared(segment, word) > LEAK);
  const lost = kept.flatMap((event) => event.words.filter((word) => !isHeard(word)));
  const leaked = dropped.flatMap((event) => event.words.filter(isLeaked));
  const margins = kept.flatMap((event) => {
    const own = segments.filter((segment) => shared(segment, event) > 0.05);
    return own.length === 0 ? [] : [event.start - own[0]!.start, own[own.length - 1]!.end - event.end];
  });
  const heardUntil = (time: number) =>
    segments.reduce((sum, segment) => sum + shared(segment, { start: 0, end: time }), 0);
  const joins = kept.slice(1).map((event, i) => ({
    pause: heardUntil(event.start) - heardUntil(kept[i]!.end),
    sentences: event.sentence !== kept[i]!.sentence,
  }));
  const words = kept.flatMap((event) => event.words);
  const wordSeconds = words.reduce((sum, word) => sum + word.end - word.start, 0);
  const covered = words.reduce((sum, word) => sum + segments.reduce((all, part) => all + shared(part, word), 0), 0);
  const planned = segments.reduce((sum, segment) => sum + segment.end - segment.start, 0);
  return {
    keptWords: words.length,
    lost: lost.map(named),
    droppedWords: dropped.flatMap((event) => event.words).length,
    leaked: leaked.map(named),
    deadAir: (planned - covered) / Math.max(1e-9, wordSeconds),
    margins,
    pauses: joins.map((join) => join.pause),
    corrections:
      runs(kept, (word) => !isHeard(word)) +
      runs(dropped, isLeaked) +
      margins.filter((margin) => margin < -CLIPPED).length +
      joins.filter((join) => join.sentences && join.pause < BREATH).length,
    finishedMinutes: planned / 60,
  };
}

/** How many runs of neighbouring words there are for which something holds. */
function runs(events: readonly Event[], holds: (word: Span) => boolean): number {
  let count = 0;
  for (const event of events) {
    let inside = false;
    for (const word of event.words) {
      const now = holds(word);
      if (now && !inside) count++;
      inside = now;
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
  breathless: number;
  correctionsPerMinute: number;
};

/** Pools scores; the intervals are Wilson's at 95%. */
export function pooled(scores: readonly Score[]): Summary {
  const sum = (of: (score: Score) => number) => scores.reduce((total, score) => total + of(score), 0);
  const words = sum((score) => score.keptWords);
  const lost = sum((score) => score.lost.length);
  const dropped = sum((score) => score.droppedWords);
  const leaked = sum((score) => score.leaked.length);
  const margins = scores.flatMap((score) => score.margins).sort((a, b) => a - b);
  const pauses = scores.flatMap((score) => score.pauses);
  return {
    kept: 1 - lost / Math.max(1, words),
    keptInterval: wilson(words - lost, words),
    leaked: leaked / Math.max(1, dropped),
    leakedInterval: wilson(leaked, dropped),
    deadAir: sum((score) => score.deadAir) / Math.max(1, scores.length),
    marginP1: margins[Math.floor(0.01 * margins.length)] ?? Number.NaN,
    marginMedian: margins[margins.length >> 1] ?? Number.NaN,
    breathless: pauses.filter((pause) => pause < BREATH).length / Math.max(1, pauses.length),
    correctionsPerMinute:
      sum((score) => score.corrections) /
      Math.max(
        1e-9,
        sum((score) => score.finishedMinutes),
      ),
  };
}

function wilson(hits: number, count: number): [number, number] {
  if (count === 0) return [0, 1];
  const z = 1.96;
  const share = hits / count;
  const middle = (share + (z * z) / (2 * count)) / (1 + (z * z) / count);
  const half = (z / (1 + (z * z) / count)) * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
