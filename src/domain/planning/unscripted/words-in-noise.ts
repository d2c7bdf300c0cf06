/**
 * Looks for voice in loud stretches without voice activity, before they are removed as noise: voice activity detection
 * misses faint and distorted voices, and single letters and syllables. All stretches are measured, and longer ones are
 * recognized again.
 */

import type { Span, Ticks } from "../../time";
import { type AudioActivity, measureLevel, QUIET_SHARE } from "../audio-activity";
import { fitRecognitionBudget, type PlanSteps, requestRecognitions, requestVoices } from "../context";
import { isFillerText, type Lexicon } from "../lexicon/lexicon";
import { type DecidedSpan, durationOf } from "../spans";
import { ACTIVITY, COMMON } from "../thresholds";

/**
 * Returns the spans removed as noise that contain a syllable: for a while they have pitch, and are as loud as the
 * recording's speech and louder than their surroundings. A language that the recognizer does not know leaves no other
 * evidence.
 */
export function* findSyllablesInNoise(spans: readonly DecidedSpan[], activity: AudioActivity): PlanSteps<Span[]> {
  const noise = spans.filter((span) => span.reason === "noise" && durationOf(span) >= ACTIVITY.minVoiced);
  if (noise.length === 0) return [];
  const minLevel = measureLevel(activity.speechRegions, activity) - COMMON.minLevelChangeDb;
  const loud = noise.filter((span) => {
    const around = { start: Math.max(0, span.start - ACTIVITY.voiceEdge), end: span.end + ACTIVITY.voiceEdge };
    const level = measureLevel([span], activity, 1 - ACTIVITY.minVoiced / durationOf(span));
    return level >= minLevel && level - measureLevel([around], activity, QUIET_SHARE) >= ACTIVITY.minRiseDb;
  });
  const windows = loud.map(({ start, end }) => ({ start, end: Math.min(end, start + ACTIVITY.surroundings) }));
  const voices = yield* requestVoices(windows);
  return loud.filter((_, i) => {
    const voice = voices[i];
    return voice && voice.voiced >= ACTIVITY.minVoiced && voice.level >= minLevel;
  });
}

/** Returns the spans removed as noise in which words are recognized. */
export function* findWordsInNoise(
  spans: readonly DecidedSpan[],
  activity: AudioActivity,
  lexicon: Lexicon,
): PlanSteps<Span[]> {
  const noise = spans.filter((span) => span.reason === "noise" && durationOf(span) >= ACTIVITY.minStretch);
  if (noise.length === 0) return [];
  const minLevel = measureLevel(activity.speechRegions, activity) - ACTIVITY.maxBelowSpeechDb;
  const loud = noise
    .map((span) => ({ span, level: measureLevel([span], activity) }))
    .filter(({ level }) => level >= minLevel)
    .sort((a, b) => b.level - a.level);
  const windows = fitRecognitionBudget(
    loud.flatMap(({ span }) => toWindows(span, activity.duration)),
    activity.duration,
  );
  const results = yield* requestRecognitions(windows.map(({ window }) => ({ window })));
  return windows.flatMap(({ span }, i) => {
    const { words, meanLogProb } = results[i]!;
    const isSpoken = words.some(
      ({ text, confidence }) => confidence >= COMMON.minConfidence && !isFillerText(text, lexicon),
    );
    return isSpoken && meanLogProb >= ACTIVITY.minLogProb ? [span] : [];
  });
}

type NoiseWindow = { span: Span; window: Span };

/** Returns windows that cover a span, each short enough to be recognized as one. */
function toWindows(span: Span, duration: Ticks): NoiseWindow[] {
  const count = Math.ceil(durationOf(span) / ACTIVITY.maxWindow);
  const length = durationOf(span) / count;
  return Array.from({ length: count }, (_, i) => ({
    span,
    window: {
      start: Math.max(0, Math.round(span.start + i * length) - ACTIVITY.voiceEdge),
      end: Math.min(duration, Math.round(span.start + (i + 1) * length) + ACTIVITY.voiceEdge),
    },
  }));
}
