/** Pauses and cancels an order at its safe points. */

/**
 * Called at each safe point: between steps of about a second at most. Throws to stop, takes as long as the order is paused, and lets messages
 * come in that steps without waiting would keep out.
 */
export type Checkpoint = () => void | Promise<void>;

export type TaskControl = { check: Checkpoint; pause(): void; resume(): void; cancel(): void };

/** How long messages may wait. */
const MAX_MESSAGE_DELAY_MS = 20;

/** `onPaused` is called at the first safe point after `pause`. */
export function createTaskControl(onPaused: () => void): TaskControl {
  let isCancelled = false;
  let heardAt = performance.now();
  let resumed: PromiseWithResolvers<void> | null = null;
  const resume = () => {
    resumed?.resolve();
    resumed = null;
  };
  return {
    async check() {
      if (performance.now() - heardAt > MAX_MESSAGE_DELAY_MS) {
        await new Promise(setImmediate);
        heardAt = performance.now();
      }
      if (resumed !== null && !isCancelled) {
        onPaused();
        await resumed.promise;
      }
      if (isCancelled) throw new Error("cancelled");
    },
    pause() {
      resumed ??= Promise.withResolvers();
    },
    resume,
    cancel() {
      isCancelled = true;
      resume();
    },
  };
}
