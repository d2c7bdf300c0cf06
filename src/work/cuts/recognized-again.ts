/** Second recognition while a cut is planned: the recognizer, and its cost. */
import { durationOf } from "../../domain/planning/spans";
import type { Recognition, RecognitionRequest, Transcript } from "../../domain/speech";

/** The amount recognized again, and the planner's waiting time. */
export type RecognizedAgain = { windows: number; audio_ms: number; duration_ms: number };

type Recognize = (requests: RecognitionRequest[]) => Promise<Recognition[]>;

/** Returns the language of the installed model that created the transcript; null for the built-in recognizer. */
export const findRecognizerLanguage = (transcript: Transcript | null): string | null =>
  transcript?.forcing === false ? transcript.language : null;

/** Returns `recognize` with a record of its cost, which grows with each call. */
export function measureRecognitions(recognize: Recognize): { recognize: Recognize; recognized: RecognizedAgain } {
  const recognized: RecognizedAgain = { windows: 0, audio_ms: 0, duration_ms: 0 };
  return {
    recognized,
    recognize: async (requests) => {
      const startedMs = performance.now();
      const results = await recognize(requests);
      recognized.windows += requests.length;
      recognized.audio_ms += Math.round(requests.reduce((sum, { window }) => sum + durationOf(window), 0) / 1000);
      recognized.duration_ms += Math.round(performance.now() - startedMs);
      return results;
    },
  };
}
