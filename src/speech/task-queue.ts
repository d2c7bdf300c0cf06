/**
 * Runs orders in the speech child: one `listen` and one `force` at a time, the time divided between their owners. A long order is paused at
 * its next safe point when another owner comes next; its state stays in the child.
 */

import { createFairShare, type FairShares } from "./fair-share";
import type { SpeechTask } from "./ipc-protocol";
import type { SpeechProcess, TaskOutcome } from "./speech-process";

export type NewTask = {
  order: SpeechTask;
  owner: string;
  onProgress: (share: number) => void;
  onSaved: () => void;
  settle: (outcome: TaskOutcome) => void;
};

export type TaskQueue = {
  /** Returns a function that withdraws the order; it is not settled then, unless it ends at the same moment. */
  add(order: NewTask): () => void;
  /** Settles what is left as crashed and ends the child. */
  close(): Promise<void>;
};

export type TaskQueueOptions = {
  start: () => SpeechProcess;
  /** How long a child without work is kept. */
  idleMs: number;
  /** How far an owner may get ahead of another who waits. */
  quantumMs?: number;
  log: (event: string, fields: object) => void;
};

/** An order that has not ended. `pausing`: still at work, asked to pause. `waiting`: not in the child. */
type QueuedTask = NewTask & {
  state: "waiting" | "running" | "pausing" | "paused";
  /** Until when its owner's time has been charged, and when it was asked to pause. */
  chargedAt: number;
  pausingSince: number;
  /** How often it was at work when a child crashed. After the first time it gets the child to itself, so that the guilty one is found. */
  crashes: number;
  isWithdrawn: boolean;
};

type TaskGroup = { kinds: readonly SpeechTask["order"][]; share: FairShares };

/** An order that was at work in this many crashes is given up. */
const MAX_CRASHES = 3;
/** A child that does not leave a withdrawn order within this is killed. */
const MAX_CANCEL_MS = 1_000;
/** Another order is started beside one that takes longer than this to reach its safe point: a large model cannot stop inside a segment. */
const MAX_PAUSING_MS = 1_000;
const QUANTUM_MS = 2_500;

const isActive = (task: QueuedTask): boolean => task.state === "running" || task.state === "pausing";

/** Creates the queue; no child is started yet. */
export function createTaskQueue({ start, idleMs, quantumMs = QUANTUM_MS, log }: TaskQueueOptions): TaskQueue {
  const tasks: QueuedTask[] = [];
  const lanes: TaskGroup[] = [
    { kinds: ["listen"], share: createFairShare(quantumMs) },
    { kinds: ["force"], share: createFairShare(quantumMs) },
  ];
  /** While an order is suspected of a crash nothing is at work beside another, so that the next crash tells who did it. */
  const single: TaskGroup = { kinds: ["listen", "force"], share: createFairShare(quantumMs) };
  /** Children that were killed from here: their end is nobody's fault. */
  const killed = new WeakSet<SpeechProcess>();
  let child: SpeechProcess | null = null;
  let timer: Timer | undefined;
  let closed = false;

  const getProcess = (): SpeechProcess => {
    if (child) return child;
    const fresh = start();
    child = fresh;
    log("speech.started", { pid: fresh.pid });
    void fresh.exited.then(() => {
      if (child === fresh) child = null;
      log("speech.ended", { pid: fresh.pid });
    });
    return fresh;
  };

  const hasSuspectedTask = () => tasks.some((task) => task.crashes > 0 && !task.isWithdrawn);
  const belongsTo = (lane: TaskGroup) => (task: QueuedTask) => lane.kinds.includes(task.order.order);

  /** Adds the time since the last call to the owners of what is at work. */
  function charge(): void {
    const now = performance.now();
    for (const task of tasks) {
      if (!isActive(task)) continue;
      for (const lane of [...lanes, single]) {
        if (belongsTo(lane)(task)) lane.share.charge(task.owner, now - task.chargedAt);
      }
      task.chargedAt = now;
    }
  }

  /** Starts, resumes and pauses what the shares say. Returns in how many milliseconds they say something else. */
  function advanceGroup(lane: TaskGroup, maxPausingMs: number): number {
    const mine = tasks.filter(belongsTo(lane));
    const ready = mine.filter((task) => !isActive(task) && !task.isWithdrawn);
    if (ready.length === 0) return Number.POSITIVE_INFINITY;
    const now = performance.now();
    const atWork = mine.filter(
      (task) => task.state === "running" || (isActive(task) && now - task.pausingSince < maxPausingMs),
    );
    const owners = ready.map((task) => task.owner);
    const current = atWork[0];
    if (current === undefined) {
      const owner = lane.share.next(owners);
      activate(ready.find((task) => task.owner === owner)!);
      return 0;
    }
    if (current.state === "pausing") return current.pausingSince + maxPausingMs - now;
    const remainingMs = lane.share.remainingMs(
      current.owner,
      owners.filter((owner) => owner !== current.owner),
    );
    if (remainingMs > 0) return remainingMs;
    current.state = "pausing";
    current.pausingSince = now;
    child?.pause(current.order.id);
    return maxPausingMs;
  }

  function advance(): void {
    clearTimeout(timer);
    if (closed) return;
    charge();
    if (tasks.length === 0) {
      scheduleExit();
      return;
    }
    for (;;) {
      const waits = hasSuspectedTask()
        ? [advanceGroup(single, Number.POSITIVE_INFINITY)]
        : lanes.map((lane) => advanceGroup(lane, MAX_PAUSING_MS));
      const waitMs = Math.min(...waits);
      if (waitMs <= 0) continue;
      if (Number.isFinite(waitMs)) timer = setTimeout(advance, Math.ceil(waitMs));
      return;
    }
  }

  function scheduleExit(): void {
    const leaving = child;
    if (!leaving) return;
    timer = setTimeout(() => {
      if (child === leaving) child = null;
      void leaving.close();
    }, idleMs);
    timer.unref?.();
  }

  function activate(task: QueuedTask): void {
    const isPaused = task.state === "paused";
    task.state = "running";
    task.chargedAt = performance.now();
    if (isPaused) child?.resume(task.order.id);
    else void run(task);
  }

  async function run(task: QueuedTask): Promise<void> {
    let worker: SpeechProcess;
    try {
      worker = getProcess();
    } catch (error) {
      // The machine is out of processes or memory: the job is tried again later.
      remove(task);
      task.settle({ ended: "crashed", detail: String(error) });
      return;
    }
    const outcome = await worker.run(task.order, {
      onProgress: (share) => {
        if (!task.isWithdrawn) task.onProgress(share);
      },
      onSaved: () => {
        if (!task.isWithdrawn) task.onSaved();
      },
      onPaused: () => {
        if (task.state !== "pausing") return;
        charge();
        task.state = "paused";
        advance();
      },
    });
    charge();
    const wasAtWork = isActive(task);
    task.state = "waiting";
    if (outcome.ended === "crashed") {
      // A paused order only lost what the child held for it.
      if (wasAtWork && !killed.has(worker) && !task.isWithdrawn && !closed) {
        task.crashes++;
        log("speech.crashed", { crashes: task.crashes, detail: outcome.detail });
      }
      await worker.exited;
      if (task.crashes < MAX_CRASHES && !task.isWithdrawn && !closed) {
        advance();
        return;
      }
    }
    remove(task);
    if (!task.isWithdrawn) task.settle(outcome);
    advance();
  }

  function remove(task: QueuedTask): void {
    const at = tasks.indexOf(task);
    if (at >= 0) tasks.splice(at, 1);
  }

  function withdraw(task: QueuedTask): void {
    task.isWithdrawn = true;
    const worker = child;
    if (task.state === "waiting" || worker === null) {
      remove(task);
      advance();
      return;
    }
    worker.cancel(task.order.id);
    const hasLeft = () => !tasks.includes(task) || task.state === "waiting";
    setTimeout(() => {
      if (hasLeft() || child !== worker) return;
      killed.add(worker);
      void worker.kill();
    }, MAX_CANCEL_MS).unref?.();
  }

  return {
    add(queued) {
      const task: QueuedTask = {
        ...queued,
        state: "waiting",
        ...{ chargedAt: 0, pausingSince: 0, crashes: 0, isWithdrawn: false },
      };
      charge();
      for (const lane of [...lanes, single]) {
        if (!belongsTo(lane)(task)) continue;
        const owners = tasks.filter(belongsTo(lane)).map((other) => other.owner);
        if (!owners.includes(task.owner)) lane.share.enter(task.owner, owners);
      }
      tasks.push(task);
      advance();
      return () => withdraw(task);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      const leaving = child;
      child = null;
      const outside = tasks.filter((task) => task.state === "waiting");
      for (const task of outside) {
        remove(task);
        if (!task.isWithdrawn) task.settle({ ended: "crashed", detail: "the speech engine was closed" });
      }
      if (!leaving) return;
      if (tasks.length > 0) await leaving.kill();
      else await leaving.close();
      await leaving.exited;
    },
  };
}
