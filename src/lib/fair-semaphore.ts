/** A semaphore with a limit per key and one for all keys. Keys take turns, so that a busy key delays no other. */

export type FairSemaphoreLimits = {
  maxRunning: number;
  maxRunningPerKey: number;
  maxWaiting: number;
  maxWaitingPerKey: number;
  maxWaitMs: number;
};

/** Why a call is refused: the queue of its key is full, the queue of all keys is full, or it has waited too long. */
export type RefusalReason = "key" | "all" | "timeout";

type QueuedCall = { start(): void };

/** `toError` creates the errors of calls that are refused. */
export function createFairSemaphore(limits: FairSemaphoreLimits, toError: (reason: RefusalReason) => Error) {
  const running = new Map<string, number>();
  /** Keys in order of their turns. A key that was served moves to the end. */
  const queues = new Map<string, QueuedCall[]>();
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

  function remove(key: string, waiter: QueuedCall): void {
    const queue = queues.get(key)!;
    queue.splice(queue.indexOf(waiter), 1);
    waiting--;
    if (queue.length === 0) queues.delete(key);
  }

  function wait(key: string): Promise<void> {
    const queue = queues.get(key) ?? [];
    if (queue.length >= limits.maxWaitingPerKey) throw toError("key");
    if (waiting >= limits.maxWaiting) throw toError("all");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: QueuedCall = {
      start: () => {
        clearTimeout(timer);
        resolve();
      },
    };
    const timer = setTimeout(() => {
      remove(key, waiter);
      reject(toError("timeout"));
    }, limits.maxWaitMs);
    queue.push(waiter);
    queues.set(key, queue);
    waiting++;
    return promise;
  }

  return {
    /** Runs `work` with a permit. Errors: those of `work`; that of a refusal, in which case `work` was not started. */
    async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
      // No caller is overtaken: if a permit for this key is free, all waiting calls belong to keys at their own limit.
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
