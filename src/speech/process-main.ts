/** The main function of the speech process. A crash in a recognizer ends this process, not the server. */

import type { Recognition, RecognitionRequest } from "../domain/speech";
import { createIncreasingProgress } from "../lib/progress";
import { analyze, type SpeechModels } from "./analyze";
import type { WindowCache, WindowSource } from "./encoded-windows";
import { forcedAlign } from "./forced-alignment";
import { encodeEnergy, encodeMessage, readIpcFrames, type SpeechEvent, type SpeechTask } from "./ipc-protocol";
import { loadMoonshine } from "./moonshine";
import { openAnalysisAudio, type PcmReader } from "./pcm";
import { recognizeNothing, recognizeWindows, recognizeWithModel } from "./recognition";
import { NO_LOG, openRecordLog } from "./record-log";
import { type Checkpoint, createTaskControl, type TaskControl } from "./task-control";
import { createTranscriberSelector, type SherpaTranscriber, type TranscriberSelector } from "./transcriber-selector";
import { loadVoiceDetector } from "./vad";

/** Minimum interval between progress reports. */
const MIN_PROGRESS_INTERVAL_MS = 200;
const ENCODER_THREADS = 2;

/** Increase this when the records or the recognizers change, to discard the progress of older versions. */
const RECORD_LOG_VERSION = 2;

type ProcessState = {
  controls: Map<number, TaskControl>;
  cache: WindowCache;
  models: () => Promise<SpeechModels>;
  selector: (modelsDir: string | null) => TranscriberSelector;
};

/**
 * Runs the tasks that arrive on standard input until it is closed, then exits. `speechDir` is the folder of the prepared graphs, which are
 * loaded with the first task. Tasks run concurrently and interleave at their safe points, except those that are paused.
 */
export async function runSpeechProcess(speechDir: string): Promise<void> {
  let models: Promise<SpeechModels> | null = null;
  const load = async (): Promise<SpeechModels> => {
    const [detector, moonshine] = await Promise.all([
      loadVoiceDetector(speechDir),
      loadMoonshine(speechDir, ENCODER_THREADS),
    ]);
    return { detector, moonshine };
  };
  const selectors = new Map<string | null, TranscriberSelector>();
  const state: ProcessState = {
    controls: new Map(),
    cache: new Map(),
    models: () => {
      models ??= load();
      return models;
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
    else if (command.command === "load") state.models().catch(() => {});
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
    const models = await state.models();
    const source = { moonshine: models.moonshine, pcm, cache: state.cache, recording: `${task.path}:${pcm.version}` };
    if (task.command === "align")
      return emit({ event: "aligned", id: task.id, alignments: await forcedAlign(source, task.requests, check) });
    if (task.command === "recognize") {
      const installed = task.language === null ? "built-in" : await state.selector(task.modelsDir).load(task.language);
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
    const all = { ...models, selector: state.selector(task.modelsDir) };
    const { energy, ...analysis } = await analyze(all, pcm, task.language, { check, onProgress, log });
    send(encodeEnergy(task.id, energy));
    emit({ event: "analyzed", id: task.id, ...analysis });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    emit({ event: "failed", id: task.id, message });
  } finally {
    state.controls.delete(task.id);
    await pcm?.close();
    await log.close();
  }
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
