/**
 * Looks for voice in loud stretches without voice activity, before they are removed as noise: voice activity detection
 * misses faint and distorted voices, and single letters and syllables. All stretches are measured, and longer ones are
 * recognized again.
 */
import { ENERGY_HOP } from "../../speech";
import { fromSeconds, type Span, type Ticks } from "../../time";
import type { AudioActivity } from "../audio-activity";
import { type PlanSteps, requestRecognitions, requestVoices } from "../context";
import { isFillerText } from "../fillers/filler-words";
import { type DecidedSpan, durationOf } from "../spans";

/** A shorter stretch contains no word that matters. */
const MIN_STRETCH_TICKS = fromSeconds(0.6);
/** Maximum difference between the level of speech in the recording and a stretch that may be speech. */
const MAX_BELOW_SPEECH_DB = 15;
const CONTEXT_TICKS = fromSeconds(0.3);
const MAX_WINDOW_TICKS = fromSeconds(10);
/** Maximum audio to recognize: a share of the recording, and a minimum for short ones. */
const MAX_RECOGNIZED_SHARE = 0.03;
const MIN_BUDGET_TICKS = fromSeconds(60);
/** A text or word with a lower value is made up: noise and music are recognized as nothing, or as this. */
const MIN_LOG_PROB = -1.2;
const MIN_CONFIDENCE = 0.4;

/** Minimum duration of voice in a syllable. Breath, steps, keys and hiss have none. */
const MIN_VOICED_TICKS = fromSeconds(0.15);
/** Maximum difference between the level of speech, mostly consonants and word endings, and the voice of a syllable. */
const MAX_SYLLABLE_BELOW_SPEECH_DB = 6;
/** A syllable is louder than its surroundings. Hum also has pitch, but is steady. */
const MIN_RISE_DB = 10;
const MAX_MEASURED_TICKS = fromSeconds(5);

/**
 * Returns the spans removed as noise that contain a syllable: for a while they have pitch, and are as loud as the
 * recording's speech and louder than their surroundings. A language that the recognizer does not know leaves no other
 * evidence.
 */
export function* findSyllablesInNoise(spans: readonly DecidedSpan[], activity: AudioActivity): PlanSteps<Span[]> {
  const noise = spans.filter((span) => span.reason === "noise" && durationOf(span) >= MIN_VOICED_TICKS);
  if (noise.length === 0) return [];
  const minLevel = measureLevel(activity.speechRegions, activity) - MAX_SYLLABLE_BELOW_SPEECH_DB;
  const loud = noise.filter((span) => {
    const around = { start: Math.max(0, span.start - CONTEXT_TICKS), end: span.end + CONTEXT_TICKS };
    const level = measureLevel([span], activity, 1 - MIN_VOICED_TICKS / durationOf(span));
    return level >= minLevel && level - measureLevel([around], activity, 0.1) >= MIN_RISE_DB;
  });
  const windows = loud.map(({ start, end }) => ({ start, end: Math.min(end, start + MAX_MEASURED_TICKS) }));
  const voices = yield* requestVoices(windows);
  return loud.filter((_, i) => {
    const voice = voices[i];
    return voice && voice.voiced >= MIN_VOICED_TICKS && voice.level >= minLevel;
  });
}

/** Returns the spans removed as noise in which words are recognized. */
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

/** Returns the median level (or another percentile) of the spans in dB; -Infinity if they are empty. */
function measureLevel(spans: readonly Span[], { energy }: AudioActivity, percentile = 0.5): number {
  const levels = spans.flatMap(({ start, end }) => [
    ...energy.subarray(Math.floor(start / ENERGY_HOP), Math.ceil(end / ENERGY_HOP)),
  ]);
  const sorted = Float32Array.from(levels).sort();
  return sorted[Math.floor(percentile * sorted.length)] ?? Number.NEGATIVE_INFINITY;
}
