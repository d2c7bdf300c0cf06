/** The child process that listens. A crash in here takes no server with it. */

import { force, type WindowCache } from "./force";
import { type Answer, energyFrame, messageFrame, readFrames, type WorkOrder } from "./frames";
import { listen, type Models } from "./listen";
import { loadMoonshine } from "./moonshine";
import { createOrderControl, type OrderControl } from "./order-control";
import { openPcm, type PcmReader } from "./pcm";
import { NO_LOG, openRecordLog } from "./record-log";
import { type AddedModels, createAddedModels } from "./sherpa-models";
import { loadVoiceDetector } from "./vad";

/** Progress is reported at most this often. */
const PROGRESS_MS = 200;
const ENCODER_THREADS = 2;

/** To be raised when the records or the recognizers change. */
const PROGRESS_FORMAT = 2;

type Work = {
  orders: Map<number, OrderControl>;
  cache: WindowCache;
  models: () => Promise<Models>;
  added: (modelsDir: string | null) => AddedModels;
};

/**
 * Serves orders from standard input until it is closed, that is until the parent ends or lets go. `speechDir` holds the prepared
 * graphs; they are loaded with the first order. Orders run side by side and interleave at each step, except those that are paused.
 */
export async function runSpeechWorker(speechDir: string): Promise<void> {
  let models: Promise<Models> | null = null;
  const load = async (): Promise<Models> => ({
    detector: await loadVoiceDetector(speechDir),
    moonshine: await loadMoonshine(speechDir, ENCODER_THREADS),
  });
  const added = new Map<string | null, AddedModels>();
  const work: Work = {
    orders: new Map(),
    cache: new Map(),
    models: () => {
      models ??= load();
      return models;
    },
    added: (modelsDir) => {
      const known = added.get(modelsDir) ?? createAddedModels(modelsDir);
      added.set(modelsDir, known);
      return known;
    },
  };
  const output = Bun.stdout.writer();
  const send = (bytes: Uint8Array) => {
    output.write(bytes);
    void output.flush();
  };
  for await (const frame of readFrames(Bun.stdin.stream())) {
    if (frame.kind !== "message" || !("order" in frame.message)) continue;
    const order = frame.message;
    if ("path" in order) void serve(order, work, send);
    else work.orders.get(order.id)?.[order.order]();
  }
  process.exit(0);
}

async function serve(order: WorkOrder, work: Work, send: (bytes: Uint8Array) => void) {
  const answer = (message: Answer) => send(messageFrame(message));
  const control = createOrderControl(() => answer({ answer: "paused", id: order.id }));
  const { check } = control;
  work.orders.set(order.id, control);
  let pcm: PcmReader | null = null;
  let log = NO_LOG;
  try {
    pcm = await openPcm(order);
    const models = await work.models();
    if (order.order === "force") {
      const recording = `${order.path}:${pcm.version}`;
      const forced = await force(models.moonshine, pcm, order.requests, work.cache, recording, check);
      answer({ answer: "forced", id: order.id, forced });
      return;
    }
    const onProgress = progressReporter((share) => answer({ answer: "progress", id: order.id, share }));
    if (order.progressPath !== null) {
      const identity = JSON.stringify([PROGRESS_FORMAT, pcm.version, order.language]);
      log = await openRecordLog(order.progressPath, identity, () => answer({ answer: "saved", id: order.id }));
    }
    const all = { ...models, added: work.added(order.modelsDir) };
    const { energy, ...heard } = await listen(all, pcm, order.language, onProgress, check, log);
    send(energyFrame(order.id, energy));
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
function progressReporter(report: (share: number) => void): (share: number) => void {
  let highest = 0;
  let last = 0;
  return (share) => {
    const now = performance.now();
    if (share <= highest || now - last < PROGRESS_MS) return;
    highest = share;
    last = now;
    report(Math.min(1, share));
  };
}
