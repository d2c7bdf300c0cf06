/** Stage 3: finds voice in which the recognizer found no words. */
import type { SpeechAnalysis, Word } from "../speech";
import type { Span, Ticks } from "../time";
import type { AudioActivity } from "./audio-activity";
import type { RuleMatch } from "./rules";
import { coveredDuration, durationOf, overlapDuration } from "./spans";

/** Minimum share of voice in a stretch that is not noise. */
const MIN_VOICED_SHARE = 1 / 3;

/** Returns the share of a stretch with voice activity, 0 to 1. */
export const measureVoicedShare = (span: Span, { speech }: Pick<SpeechAnalysis, "speech">): number =>
  coveredDuration(speech, span) / durationOf(span);

/** Returns whether at least a third of a stretch is voice. */
export const isVoiced = (span: Span, analysis: Pick<SpeechAnalysis, "speech">): boolean =>
  measureVoicedShare(span, analysis) >= MIN_VOICED_SHARE;

/**
 * Returns the voiced regions of at least `minDuration` without a recognized word, as words without text: each may be a
 * take of the next line, or a line that was not recognized. Regions that overlap one of `except` are omitted.
 */
export function findUnrecognizedSpeech(
  words: readonly Word[],
  activity: AudioActivity,
  analysis: Pick<SpeechAnalysis, "speech">,
  minDuration: Ticks,
  except: readonly Span[] = [],
): Word[] {
  const taken = [...words, ...except];
  return activity.speechRegions
    .filter((region) => durationOf(region) >= minDuration && isVoiced(region, analysis))
    .filter((region) => taken.every((other) => overlapDuration(other, region) === 0))
    .map(({ start, end }) => ({ text: "", start, end, confidence: 0 }));
}

/** Returns the rule that removes a wordless region as noise; null if it is voice. `noise`: away from any voice. */
export function decideNoise(
  region: Span,
  noise: boolean,
  analysis: Pick<SpeechAnalysis, "speech">,
): RuleMatch<"noise.outside_speech" | "noise.unvoiced"> | null {
  const scores = toVoiceScores(region, analysis);
  if (noise) return { rule: "noise.outside_speech", scores };
  return isVoiced(region, analysis) ? null : { rule: "noise.unvoiced", scores };
}

/** Returns the rule that marks unrecognized speech for review. */
export const unrecognizedSpeech = (
  region: Span,
  analysis: Pick<SpeechAnalysis, "speech">,
): RuleMatch<"review.unrecognized_speech"> => ({
  rule: "review.unrecognized_speech",
  scores: toVoiceScores(region, analysis),
});

export const toVoiceScores = (region: Span, analysis: Pick<SpeechAnalysis, "speech">) => ({
  duration: durationOf(region),
  voicedShare: measureVoicedShare(region, analysis),
});
