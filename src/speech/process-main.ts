/** The main function of the speech process. A crash in a recognizer ends this process, not the server. */

import type { Recognition, RecognitionRequest, SpeechAnalysis, Word } from "../domain/speech";
import { createIncreasingProgress } from "../lib/progress";
import { analyze, analyzeVoice } from "./analyze";
import type { WindowCache, WindowSource } from "./encoded-windows";
import { forcedAlign } from "./forced-alignment";
import { encodeEnergy, encodeMessage, readIpcFrames, type SpeechEvent, type SpeechTask } from "./ipc-protocol";
import { loadMoonshine, type Moonshine } from "./moonshine";
import { openAnalysisAudio, type PcmReader } from "./pcm";
import { recognizeNothing, recognizeWindows, recognizeWithModel } from "./recognition";
import { NO_LOG, openRecordLog } from "./record-log";
import { isSecondRecognizer, serveSecondRecognizer, startSecondRecognizer } from "./second-recognizer";
import { type Checkpoint, createTaskControl, type TaskControl, type TaskWork } from "./task-control";
import { getTokenizer } from "./tokens";
import { createTranscriberSelector, type SherpaTranscriber, type TranscriberSelector } from "./transcriber-selector";
import { loadVoiceDetector, type VoiceDetector } from "./vad";

const MIN_PROGRESS_INTERVAL_MS = 200;

/** Increase this when the records or the recognizers change, to discard the progress of older versions. */
const RECORD_LOG_VERSION = 2;

type ProcessState = {
  controls: Map<number, TaskControl>;
  cache: WindowCache;
  detector: () => Promise<VoiceDetector>;
  moonshine: () => Promise<Moonshine>;
  selector: (modelsDir: string | null) => TranscriberSelector;
};

/**
 * Runs the tasks that arrive on standard input until it is closed, then exits. `speechDir` is the folder of the
 * prepared graphs, which are loaded with the first task. Tasks run concurrently and interleave at their safe points,
 * except those that are paused.
 */
export async function runSpeechProcess(speechDir: string): Promise<void> {
  if (isSecondRecognizer) return await serveSecondRecognizer(speechDir);
  let detector: Promise<VoiceDetector> | null = null;
  let moonshine: Promise<Moonshine> | null = null;
  const selectors = new Map<string | null, TranscriberSelector>();
  const state: ProcessState = {
    controls: new Map(),
    cache: new Map(),
    detector: () => {
      detector ??= loadVoiceDetector(speechDir);
      return detector;
    },
    moonshine: () => {
      moonshine ??= loadMoonshine(speechDir, () =>
        navigator.hardwareConcurrency > 1 ? startSecondRecognizer() : null,
      );
      return moonshine;
    },
    selector: (modelsDir) => {
      const known = selectors.get(modelsDir) ?? createTranscriberSelector(modelsDir);
      selectors.set(modelsDir, known);
      return known;
    },
  };
  const output = Bun.stdout.writer();
  const send = (bytes: Uint8Array) => {
    output.write(bytes);
    void output.flush();
  };
  for await (const frame of readIpcFrames(Bun.stdin.stream())) {
    if (frame.kind !== "message" || !("command" in frame.message)) continue;
    const command = frame.message;
    if ("path" in command) void runTask(command, state, send);
    // The first task reports a failure.
    else if (command.command === "load")
      Promise.all([state.detector(), state.moonshine()])
        .then(getTokenizer)
        .catch(() => {});
    else state.controls.get(command.id)?.[command.command]();
  }
  process.exit(0);
}

async function runTask(task: SpeechTask, state: ProcessState, send: (bytes: Uint8Array) => void) {
  const emit = (event: SpeechEvent) => send(encodeMessage(event));
  const control = createTaskControl(() => emit({ event: "paused", id: task.id }));
  const { check } = control;
  state.controls.set(task.id, control);
  let pcm: PcmReader | null = null;
  let log = NO_LOG;
  try {
    pcm = await openAnalysisAudio(task);
    const { cache } = state;
    const recording = `${task.path}:${pcm.version}`;
    if (task.command === "align") {
      const source = { moonshine: await state.moonshine(), pcm, cache, recording };
      return emit({ event: "aligned", id: task.id, alignments: await forcedAlign(source, task.requests, check) });
    }
    if (task.command === "recognize") {
      const source = { moonshine: await state.moonshine(), pcm, cache, recording };
      const selected = task.language === null ? null : await state.selector(task.modelsDir).select(task.language);
      const installed = task.language === null ? "built-in" : (selected?.installed ?? null);
      return emit({
        event: "recognized",
        id: task.id,
        recognitions: await recognize(installed, source, task.requests, check),
      });
    }
    const onProgress = createIncreasingProgress(
      (share) => emit({ event: "progress", id: task.id, share }),
      MIN_PROGRESS_INTERVAL_MS,
    );
    if (task.progressPath !== null) {
      const identity = JSON.stringify([RECORD_LOG_VERSION, pcm.version, task.language]);
      log = await openRecordLog(task.progressPath, identity, () => emit({ event: "saved", id: task.id }));
    }
    let from = 0;
    const onWords = (words: Word[]) => {
      emit({ event: "words", id: task.id, from, words });
      from += words.length;
    };
    const work = { check, onProgress, onWords, log };
    const { energy, ...analysis } = await analyzeWith(state, pcm, task, work);
    send(encodeEnergy(task.id, energy));
    emit({ event: "analyzed", id: task.id, ...analysis });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    emit({ event: "failed", id: task.id, message });
  } finally {
    state.controls.delete(task.id);
    await pcm?.close();
    await log.close();
    // Frees the tensors of the last batch, when nobody waits for it.
    if (task.command === "analyze") Bun.gc(true);
  }
}

/** A language of null needs no recognizer. */
async function analyzeWith(
  state: ProcessState,
  pcm: PcmReader,
  { language, modelsDir }: Pick<Extract<SpeechTask, { command: "analyze" }>, "language" | "modelsDir">,
  work: TaskWork,
): Promise<SpeechAnalysis> {
  if (language === null) return await analyzeVoice(await state.detector(), pcm, work);
  const [detector, moonshine] = await Promise.all([state.detector(), state.moonshine()]);
  const models = { detector, moonshine, selector: state.selector(modelsDir) };
  return await analyze(models, pcm, language, work);
}

function recognize(
  installed: SherpaTranscriber | "built-in" | null,
  source: WindowSource,
  requests: RecognitionRequest[],
  check: Checkpoint,
): Promise<Recognition[]> | Recognition[] {
  if (installed === "built-in") return recognizeWindows(source, requests, check);
  return installed === null ? recognizeNothing(requests) : recognizeWithModel(installed, source.pcm, requests, check);
}
