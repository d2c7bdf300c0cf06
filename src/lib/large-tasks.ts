/** Tasks that block the event loop because their texts are large. */

/** Texts up to this length are handled at once. */
const MAX_SMALL_CHARACTERS = 64 * 1024;

/** Pause between two tasks, to serve other requests; on a busy machine, as long as the previous task took. */
const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 100;

let lastTask: Promise<unknown> = Promise.resolve();
let lastTaskMs = 0;

/**
 * Runs `task`, which parses or checks a text. Tasks with large texts run one at a time with pauses between them,
 * because each blocks the event loop for a while, and many may be due at once.
 */
export function runLargeTasksSerially<Result>(text: string, task: () => Result): Result | Promise<Result> {
  if (text.length <= MAX_SMALL_CHARACTERS) return task();
  const running = lastTask
    .then(() => Bun.sleep(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, lastTaskMs))))
    .then(() => {
      const started = performance.now();
      try {
        return task();
      } finally {
        lastTaskMs = performance.now() - started;
      }
    });
  lastTask = running.catch(() => {});
  return running;
}
