/** Pauses and cancels a task at its safe points. */
import type { Word } from "../domain/speech";
import { yieldToEventLoop } from "../lib/event-loop";
import type { RecordLog } from "./record-log";

/**
 * Called at each safe point, between steps of at most about a second. Throws if the task is cancelled, resolves when it
 * is not paused, and yields to the event loop, so that messages arrive even if the steps themselves never wait.
 */
export type Checkpoint = () => void | Promise<void>;

/**
 * Callbacks of a running task. `onProgress` receives a share that never decreases, `onWords` the next words of the
 * recording that will not change. Finished work is appended to `log`.
 */
export type TaskWork = {
  check: Checkpoint;
  onProgress: (share: number) => void;
  onWords?: (words: Word[]) => void;
  log: RecordLog;
};

export type TaskControl = { check: Checkpoint; pause(): void; resume(): void; cancel(): void };

/** Maximum time that messages wait for the event loop. */
const MAX_MESSAGE_DELAY_MS = 20;

/**
 * Creates the control of a task, whose parts may run concurrently. `onPaused` is called at the first safe point of any
 * of them after `pause`.
 */
export function createTaskControl(onPaused: () => void): TaskControl {
  let isCancelled = false;
  let yieldedAt = performance.now();
  let resumed: PromiseWithResolvers<void> | null = null;
  let isReported = false;
  const resume = () => {
    resumed?.resolve();
    resumed = null;
  };
  return {
    async check() {
      if (performance.now() - yieldedAt > MAX_MESSAGE_DELAY_MS) {
        await yieldToEventLoop();
        yieldedAt = performance.now();
      }
      if (resumed !== null && !isCancelled) {
        if (!isReported) onPaused();
        isReported = true;
        await resumed.promise;
      }
      if (isCancelled) throw new Error("cancelled");
    },
    pause() {
      if (resumed !== null) return;
      resumed = Promise.withResolvers();
      isReported = false;
    },
    resume,
    cancel() {
      isCancelled = true;
      resume();
    },
  };
}
