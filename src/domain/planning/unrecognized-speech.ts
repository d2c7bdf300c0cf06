/** Voice in which the recogniser heard no words. */

import type { SpeechAnalysis, Word } from "../speech";
import type { Span, Ticks } from "../time";
import { islandsIn, overlap, type Sound } from "./audio-activity";

/** Whether at least a third of a stretch is voice. */
export function isVoiced(span: Span, { speech }: Pick<SpeechAnalysis, "speech">): boolean {
  const voiced = islandsIn(speech, span).reduce((sum, part) => sum + overlap(part, span), 0);
  return 3 * voiced >= span.end - span.start;
}

/**
 * Voiced sound of at least `shortest` in which no word was heard, as words without text: it may be an attempt at what is said next, or a
 * line that was not understood. Sound in one of `except` is left out.
 */
export function notUnderstood(
  words: readonly Word[],
  sound: Sound,
  listening: Pick<SpeechAnalysis, "speech">,
  shortest: Ticks,
  except: readonly Span[] = [],
): Word[] {
  const taken = [...words, ...except];
  return sound.islands
    .filter((island) => island.end - island.start >= shortest && isVoiced(island, listening))
    .filter((island) => taken.every((other) => overlap(other, island) === 0))
    .map(({ start, end }) => ({ text: "", start, end, confidence: 0 }));
}
