/**
 * Finds the spans of a recording with and without a voice. Noise reduction leaves long spans without one, such as
 * music, unchanged. Pure.
 */
import type { SpeechAnalysis } from "./speech";
import { fromSeconds, type Span, type Ticks } from "./time";

/** The spans with a voice are sorted and disjoint. */
export type VoiceActivity = Pick<SpeechAnalysis, "duration" | "speech">;

/** Without a voice for this long, the recording plays as it is. */
const MIN_VOICELESS: Ticks = fromSeconds(3);
/** Noise is reduced this long after a voice and before one, so that the edges of a cut are as quiet as its pauses. */
const MARGIN: Ticks = fromSeconds(0.5);
/** Duration of the fade between the recording and its processed samples. */
export const VOICELESS_FADE: Ticks = fromSeconds(0.2);

/** Returns the spans without a voice. A fade begins at the start and at the end of each. */
export function findVoicelessSpans({ duration, speech }: VoiceActivity): Span[] {
  const spans: Span[] = [];
  let end: Ticks | null = null;
  for (const voice of [...speech, null]) {
    const next = voice?.start ?? duration;
    if (next - (end ?? 0) >= MIN_VOICELESS)
      spans.push({
        start: end === null ? 0 : end + MARGIN,
        end: voice === null ? Number.POSITIVE_INFINITY : next - MARGIN - VOICELESS_FADE,
      });
    end = voice === null ? end : Math.max(end ?? 0, voice.end);
  }
  return spans;
}
