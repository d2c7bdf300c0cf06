/** Voice in which the recogniser heard no words. */

import type { SpeechAnalysis, Word } from "../speech";
import type { Span, Ticks } from "../time";
import { type AudioActivity, findOverlapping, overlapDuration } from "./audio-activity";

/** Whether at least a third of a stretch is voice. */
export function isVoiced(span: Span, { speech }: Pick<SpeechAnalysis, "speech">): boolean {
  const voiced = findOverlapping(speech, span).reduce((sum, part) => sum + overlapDuration(part, span), 0);
  return 3 * voiced >= span.end - span.start;
}

/**
 * Voiced sound of at least `shortest` in which no word was heard, as words without text: it may be an attempt at what is said next, or a
 * line that was not understood. Sound in one of `except` is left out.
 */
export function findUnrecognizedSpeech(
  words: readonly Word[],
  activity: AudioActivity,
  listening: Pick<SpeechAnalysis, "speech">,
  shortest: Ticks,
  except: readonly Span[] = [],
): Word[] {
  const taken = [...words, ...except];
  return activity.speechRegions
    .filter((region) => region.end - region.start >= shortest && isVoiced(region, listening))
    .filter((region) => taken.every((other) => overlapDuration(other, region) === 0))
    .map(({ start, end }) => ({ text: "", start, end, confidence: 0 }));
}
