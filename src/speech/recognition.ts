/** Recognizes single windows of a recording again, for a planner that doubts the transcript there. */
import type { Recognition, RecognitionRequest } from "../domain/speech";
import { TICKS_PER_SECOND } from "../domain/time";
import { clipWindow, encodeWindow, readWindow, type WindowSource } from "./encoded-windows";
import type { PcmReader } from "./pcm";
import type { Checkpoint } from "./task-control";
import { computeMean, toWords } from "./transcribe";
import type { SherpaTranscriber } from "./transcriber-selector";

/** The longest window that every recognizer accepts. The rest is cut off. */
const MAX_WINDOW_TICKS = 30 * TICKS_PER_SECOND;

/**
 * Recognizes each window with the built-in recognizer. A result depends on its window alone, whatever else is in the batch. `check` is
 * called between steps and may throw to stop.
 */
export async function recognizeWindows(
  source: WindowSource,
  requests: RecognitionRequest[],
  check: Checkpoint,
): Promise<Recognition[]> {
  const results: Recognition[] = [];
  for (const request of requests) {
    await check();
    const span = clipWindow(request.window, source.pcm, MAX_WINDOW_TICKS);
    const { audio, energy } = await encodeWindow(source, { span, mute: [] });
    // Rows of one batch would share a quantization scale.
    const [decoded] = await source.moonshine.decode([audio], async () => {
      await check();
    });
    results.push({ words: toWords(span, decoded!, energy), meanLogProb: computeMean(decoded!.logProbs) });
  }
  return results;
}

/** Recognizes each window with an installed model. */
export async function recognizeWithModel(
  { transcribe }: SherpaTranscriber,
  pcm: PcmReader,
  requests: RecognitionRequest[],
  check: Checkpoint,
): Promise<Recognition[]> {
  const results: Recognition[] = [];
  for (const request of requests) {
    const span = clipWindow(request.window, pcm, MAX_WINDOW_TICKS);
    const { samples, energy } = await readWindow(pcm, { span, mute: [] });
    const audio = {
      pcm: { ...pcm, read: async (from: number, count: number) => samples.slice(from, from + count) },
      energy,
    };
    const segment = { start: 0, end: span.end - span.start };
    const { words, utterances } = await transcribe(audio, [{ ...segment, speech: [segment] }], () => {}, check);
    results.push({
      words: words.map((word) => ({ ...word, start: word.start + span.start, end: word.end + span.start })),
      meanLogProb: utterances[0]?.meanLogProb ?? Number.NEGATIVE_INFINITY,
    });
  }
  return results;
}

/** The results when no recognizer is available: the model was removed since the recording was transcribed. */
export const recognizeNothing = (requests: RecognitionRequest[]): Recognition[] =>
  requests.map(() => ({ words: [], meanLogProb: Number.NEGATIVE_INFINITY }));
