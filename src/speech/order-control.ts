/** Pauses and cancels an order at its safe points. */

/** Called at each safe point: between steps of about a second at most. Throws to stop, and takes as long as the order is paused. */
export type Checkpoint = () => void | Promise<void>;

export type OrderControl = { check: Checkpoint; pause(): void; resume(): void; cancel(): void };

/** `onPaused` is called at the first safe point after `pause`. */
export function createOrderControl(onPaused: () => void): OrderControl {
  let isCancelled = false;
  let resumed: PromiseWithResolvers<void> | null = null;
  const resume = () => {
    resumed?.resolve();
    resumed = null;
  };
  return {
    check() {
      if (isCancelled) throw new Error("cancelled");
      if (resumed === null) return;
      onPaused();
      return resumed.promise.then(() => {
        if (isCancelled) throw new Error("cancelled");
      });
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
