/** A semaphore with a limit for each key and one overall. Keys that wait take turns, so one that asks often does not delay the others. */

export type FairSemaphoreLimits = {
  maxRunning: number;
  maxRunningPerKey: number;
  maxWaiting: number;
  maxWaitingPerKey: number;
  maxWaitMs: number;
};

/** Why `use` refused: the key's own queue is full, the queue of all is, or the turn did not come in time. */
export class SemaphoreFullError extends Error {
  constructor(readonly reason: "key" | "all" | "timeout") {
    super("too many callers wait");
  }
}

export type FairSemaphore = {
  /** Runs `work` when the key's turn comes. Errors: those of `work`; `SemaphoreFull`, and then `work` was not started. */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
};

type QueuedTask = { start(): void };

export function createFairSemaphore(limits: FairSemaphoreLimits): FairSemaphore {
  const running = new Map<string, number>();
  /** In the order of turns: a key that was served goes to the end. */
  const queues = new Map<string, QueuedTask[]>();
  let total = 0;
  let waiting = 0;

  const hasRoom = (key: string) => total < limits.maxRunning && (running.get(key) ?? 0) < limits.maxRunningPerKey;

  function acquire(key: string): void {
    total++;
    running.set(key, (running.get(key) ?? 0) + 1);
  }

  function release(key: string): void {
    total--;
    const left = running.get(key)! - 1;
    if (left === 0) running.delete(key);
    else running.set(key, left);
    startNext();
  }

  function startNext(): void {
    for (const [key, queue] of queues) {
      if (!hasRoom(key)) continue;
      const waiter = queue[0]!;
      remove(key, waiter);
      const rest = queues.get(key);
      if (rest) {
        queues.delete(key);
        queues.set(key, rest);
      }
      acquire(key);
      waiter.start();
      return;
    }
  }

  function remove(key: string, waiter: QueuedTask): void {
    const queue = queues.get(key)!;
    queue.splice(queue.indexOf(waiter), 1);
    waiting--;
    if (queue.length === 0) queues.delete(key);
  }

  function wait(key: string): Promise<void> {
    const queue = queues.get(key) ?? [];
    if (queue.length >= limits.maxWaitingPerKey) throw new SemaphoreFullError("key");
    if (waiting >= limits.maxWaiting) throw new SemaphoreFullError("all");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: QueuedTask = {
      start: () => {
        clearTimeout(timer);
        resolve();
      },
    };
    const timer = setTimeout(() => {
      remove(key, waiter);
      reject(new SemaphoreFullError("timeout"));
    }, limits.maxWaitMs);
    queue.push(waiter);
    queues.set(key, queue);
    waiting++;
    return promise;
  }

  return {
    async run(key, work) {
      // A free place is taken at once: whoever waits then waits for its own key.
      if (hasRoom(key)) acquire(key);
      else await wait(key);
      try {
        return await work();
      } finally {
        release(key);
      }
    },
  };
}
