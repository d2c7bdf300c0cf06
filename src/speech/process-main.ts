/** The child process that listens. A crash in here takes no server with it. */

import { analyze, type SpeechModels } from "./analyze";
import { forcedAlign, type WindowCache } from "./forced-alignment";
import { encodeEnergy, encodeMessage, readIpcFrames, type SpeechEvent, type SpeechTask } from "./ipc-protocol";
import { loadMoonshine } from "./moonshine";
import { openPcm, type PcmReader } from "./pcm";
import { NO_LOG, openRecordLog } from "./record-log";
import { createTaskControl, type TaskControl } from "./task-control";
import { createTranscriberSelector, type TranscriberSelector } from "./transcriber-selector";
import { loadVoiceDetector } from "./vad";

/** Progress is reported at most this often. */
const MIN_PROGRESS_INTERVAL_MS = 200;
const ENCODER_THREADS = 2;

/** To be raised when the records or the recognizers change. */
const RECORD_LOG_VERSION = 2;

type ProcessState = {
  orders: Map<number, TaskControl>;
  cache: WindowCache;
  models: () => Promise<SpeechModels>;
  added: (modelsDir: string | null) => TranscriberSelector;
};

/**
 * Serves orders from standard input until it is closed, that is until the parent ends or lets go. `speechDir` holds the prepared
 * graphs; they are loaded with the first order. Orders run side by side and interleave at each step, except those that are paused.
 */
export async function runSpeechProcess(speechDir: string): Promise<void> {
  let models: Promise<SpeechModels> | null = null;
  const load = async (): Promise<SpeechModels> => ({
    detector: await loadVoiceDetector(speechDir),
    moonshine: await loadMoonshine(speechDir, ENCODER_THREADS),
  });
  const added = new Map<string | null, TranscriberSelector>();
  const work: ProcessState = {
    orders: new Map(),
    cache: new Map(),
    models: () => {
      models ??= load();
      return models;
    },
    added: (modelsDir) => {
      const known = added.get(modelsDir) ?? createTranscriberSelector(modelsDir);
      added.set(modelsDir, known);
      return known;
    },
  };
  const output = Bun.stdout.writer();
  const send = (bytes: Uint8Array) => {
    output.write(bytes);
    void output.flush();
  };
  for await (const frame of readIpcFrames(Bun.stdin.stream())) {
    if (frame.kind !== "message" || !("order" in frame.message)) continue;
    const order = frame.message;
    if ("path" in order) void runTask(order, work, send);
    else work.orders.get(order.id)?.[order.order]();
  }
  process.exit(0);
}

async function runTask(order: SpeechTask, work: ProcessState, send: (bytes: Uint8Array) => void) {
  const answer = (message: SpeechEvent) => send(encodeMessage(message));
  const control = createTaskControl(() => answer({ answer: "paused", id: order.id }));
  const { check } = control;
  work.orders.set(order.id, control);
  let pcm: PcmReader | null = null;
  let log = NO_LOG;
  try {
    pcm = await openPcm(order);
    const models = await work.models();
    if (order.order === "force") {
      const recording = `${order.path}:${pcm.version}`;
      const forced = await forcedAlign(models.moonshine, pcm, order.requests, work.cache, recording, check);
      answer({ answer: "forced", id: order.id, forced });
      return;
    }
    const onProgress = createProgressReporter((share) => answer({ answer: "progress", id: order.id, share }));
    if (order.progressPath !== null) {
      const identity = JSON.stringify([RECORD_LOG_VERSION, pcm.version, order.language]);
      log = await openRecordLog(order.progressPath, identity, () => answer({ answer: "saved", id: order.id }));
    }
    const all = { ...models, added: work.added(order.modelsDir) };
    const { energy, ...heard } = await analyze(all, pcm, order.language, onProgress, check, log);
    send(encodeEnergy(order.id, energy));
    answer({ answer: "listened", id: order.id, ...heard });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    answer({ answer: "failed", id: order.id, message });
  } finally {
    work.orders.delete(order.id);
    await pcm?.close();
    await log.close();
  }
}

/** Passes shares on that have grown, not more often than the eye can follow. */
function createProgressReporter(report: (share: number) => void): (share: number) => void {
  let highest = 0;
  let last = 0;
  return (share) => {
    const now = performance.now();
    if (share <= highest || now - last < MIN_PROGRESS_INTERVAL_MS) return;
    highest = share;
    last = now;
    report(Math.min(1, share));
  };
}
