/** Recognizes loud stretches without voice activity again, before they are removed as noise: voice activity detection misses faint and distorted voices. */
import { ENERGY_HOP } from "../../speech";
import { fromSeconds, type Span, type Ticks } from "../../time";
import type { AudioActivity } from "../audio-activity";
import { type PlanSteps, requestRecognitions } from "../context";
import type { DecidedSpan } from "../decided-spans";
import { isFillerText } from "../fillers/filler-words";
import { durationOf } from "../spans";

/** A shorter stretch has no word that matters. */
const MIN_STRETCH_TICKS = fromSeconds(0.6);
/** How far below the speech in the recording a stretch can be and still be speech. */
const MAX_BELOW_SPEECH_DB = 15;
const CONTEXT_TICKS = fromSeconds(0.3);
const MAX_WINDOW_TICKS = fromSeconds(10);
/** Audio that is recognized at most: a share of the recording, and this much in a short one. */
const MAX_RECOGNIZED_SHARE = 0.03;
const MIN_BUDGET_TICKS = fromSeconds(60);
/** A text or a word with less is made up: noise and music are recognized as nothing, or as this. */
const MIN_LOG_PROB = -1.2;
const MIN_CONFIDENCE = 0.4;

/** Returns those of the spans removed as noise in which words are recognized. */
export function* findWordsInNoise(spans: readonly DecidedSpan[], activity: AudioActivity): PlanSteps<Span[]> {
  const noise = spans.filter((span) => span.reason === "noise" && durationOf(span) >= MIN_STRETCH_TICKS);
  if (noise.length === 0) return [];
  const minLevel = measureLevel(activity.speechRegions, activity) - MAX_BELOW_SPEECH_DB;
  const loud = noise
    .map((span) => ({ span, level: measureLevel([span], activity) }))
    .filter(({ level }) => level >= minLevel)
    .sort((a, b) => b.level - a.level);
  const windows = fitToBudget(
    loud.flatMap(({ span }) => toWindows(span, activity.duration)),
    activity.duration,
  );
  const results = yield* requestRecognitions(windows.map(({ window }) => ({ window })));
  return windows.flatMap(({ span }, i) => {
    const { words, meanLogProb } = results[i]!;
    const isSpoken = words.some(({ text, confidence }) => confidence >= MIN_CONFIDENCE && !isFillerText(text));
    return isSpoken && meanLogProb >= MIN_LOG_PROB ? [span] : [];
  });
}

type NoiseWindow = { span: Span; window: Span };

/** Returns windows that cover a span, each short enough to be recognized as one. */
function toWindows(span: Span, duration: Ticks): NoiseWindow[] {
  const count = Math.ceil(durationOf(span) / MAX_WINDOW_TICKS);
  const length = durationOf(span) / count;
  return Array.from({ length: count }, (_, i) => ({
    span,
    window: {
      start: Math.max(0, Math.round(span.start + i * length) - CONTEXT_TICKS),
      end: Math.min(duration, Math.round(span.start + (i + 1) * length) + CONTEXT_TICKS),
    },
  }));
}

function fitToBudget(windows: readonly NoiseWindow[], duration: Ticks): NoiseWindow[] {
  let left = Math.max(MIN_BUDGET_TICKS, MAX_RECOGNIZED_SHARE * duration);
  return windows.filter(({ window }) => {
    left -= durationOf(window);
    return left >= 0;
  });
}

/** Returns the median level of the spans in dB; -Infinity when they are empty. */
function measureLevel(spans: readonly Span[], { energy }: AudioActivity): number {
  const levels = spans.flatMap(({ start, end }) => [
    ...energy.subarray(Math.floor(start / ENERGY_HOP), Math.ceil(end / ENERGY_HOP)),
  ]);
  const sorted = Float32Array.from(levels).sort();
  return sorted[sorted.length >> 1] ?? Number.NEGATIVE_INFINITY;
}
