/** Recognizes single windows of a recording again, for a planner that doubts the transcript there. */
import type { Recognition, RecognitionRequest } from "../domain/speech";
import { TICKS_PER_SECOND } from "../domain/time";
import { copyAudio } from "./cross-attention";
import { clipWindow, type EncodedWindow, readWindow, scoreWindows, type WindowSource } from "./encoded-windows";
import type { PcmReader } from "./pcm";
import { NO_LOG } from "./record-log";
import type { Checkpoint } from "./task-control";
import { computeMean, createBatches, toWords } from "./transcribe";
import type { SherpaTranscriber } from "./transcriber-selector";

/** Maximum length of the window that every recognizer accepts. The rest is cut off. */
const MAX_WINDOW_TICKS = 30 * TICKS_PER_SECOND;

/** Recognizes each window with the built-in recognizer. `check` is called between steps and may throw to stop. */
export async function recognizeWindows(
  source: WindowSource,
  requests: RecognitionRequest[],
  check: Checkpoint,
): Promise<Recognition[]> {
  const spans = requests.map(({ window }, index) => ({ ...clipWindow(window, source.pcm, MAX_WINDOW_TICKS), index }));
  const results: Recognition[] = new Array(requests.length);
  for (const batch of createBatches(spans)) {
    const windows: EncodedWindow[] = new Array(batch.length);
    const requested = batch.map(({ start, end }) => ({ span: { start, end }, mute: [] }));
    const noTexts = batch.map(() => []);
    for await (const [n, window] of scoreWindows(source, requested, noTexts)) {
      windows[n] = window;
      await check();
    }
    const texts = await source.moonshine.decode(
      // Windows are kept.
      windows.map(({ audio }) => copyAudio(audio)),
      () => check(),
    );
    for (const [i, { index }] of batch.entries()) {
      const { span, energy } = windows[i]!;
      const { logProbs } = texts[i]!;
      results[index] = { words: toWords(span, texts[i]!, energy), meanLogProb: computeMean(logProbs) };
    }
  }
  return results;
}

export async function recognizeWithModel(
  { transcribe }: SherpaTranscriber,
  pcm: PcmReader,
  requests: RecognitionRequest[],
  check: Checkpoint,
): Promise<Recognition[]> {
  const work = { check, onProgress: () => {}, log: NO_LOG };
  const results: Recognition[] = [];
  for (const request of requests) {
    const span = clipWindow(request.window, pcm, MAX_WINDOW_TICKS);
    const { samples, energy } = await readWindow(pcm, { span, mute: [] });
    const audio = {
      pcm: { ...pcm, read: async (from: number, count: number) => samples.slice(from, from + count) },
      energy,
    };
    const segment = { start: 0, end: span.end - span.start };
    const { words, utterances } = await transcribe(audio, [{ ...segment, speech: [segment] }], work);
    results.push({
      words: words.map((word) => ({ ...word, start: word.start + span.start, end: word.end + span.start })),
      meanLogProb: utterances[0]?.meanLogProb ?? Number.NEGATIVE_INFINITY,
    });
  }
  return results;
}

/** Returns empty results without a recognizer: the model was removed after the recording was transcribed. */
export const recognizeNothing = (requests: RecognitionRequest[]): Recognition[] =>
  requests.map(() => ({ words: [], meanLogProb: Number.NEGATIVE_INFINITY }));
