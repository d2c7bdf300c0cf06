/**
 * Runs tasks in the speech process: one analysis and one planner query at a time, scheduled fairly between owners. A
 * long task is paused at its next safe point when another owner is next. Its state stays in the process.
 */
import { createFairScheduler, type FairScheduler } from "./fair-scheduler";
import type { SpeechTask } from "./ipc-protocol";
import type { SpeechProcess, TaskListener, TaskOutcome } from "./speech-process";

export type NewTask = Omit<TaskListener, "onPaused"> & {
  work: SpeechTask;
  owner: string;
  settle: (outcome: TaskOutcome) => void;
};

export type TaskQueueOptions = {
  start: () => SpeechProcess;
  idleMs: number;
  /** Maximum lead of an owner over a waiting one. */
  quantumMs: number;
  /** If a task takes longer to reach a safe point, another one starts. Default: 1000. */
  maxPausingMs?: number | undefined;
  log: (event: string, fields: object) => void;
};

/** A task that has not ended. `waiting`: not in the process. `pausing`: still running, but asked to pause. */
type QueuedTask = NewTask & {
  state: "waiting" | "running" | "pausing" | "paused";
  /** Time up to which the owner has been charged, and time at which the task was asked to pause. */
  chargedAt: number;
  pausingSince: number;
  /**
   * Number of crashes while the task was active. After the first one it runs alone, to find out whether it is the
   * cause.
   */
  crashes: number;
  isWithdrawn: boolean;
};

/** These take seconds at most, and a planner waits for each. */
const PLANNER_QUERIES = ["align", "recognize"] as const;

type TaskGroup = { commands: readonly SpeechTask["command"][]; scheduler: FairScheduler };

/** A task that was active during this many crashes fails. */
const MAX_CRASHES = 3;
/** The process is killed if it does not stop a withdrawn task within this time. */
const MAX_CANCEL_MS = 1_000;
/** A large model cannot stop inside a segment. */
const MAX_PAUSING_MS = 1_000;

const isActive = (task: QueuedTask): boolean => task.state === "running" || task.state === "pausing";

/** Creates the queue. The process starts with the first task. */
export function createTaskQueue({ start, idleMs, quantumMs, maxPausingMs = MAX_PAUSING_MS, log }: TaskQueueOptions) {
  const tasks: QueuedTask[] = [];
  const groups: TaskGroup[] = [
    { commands: ["analyze"], scheduler: createFairScheduler(quantumMs) },
    { commands: PLANNER_QUERIES, scheduler: createFairScheduler(quantumMs) },
  ];
  /** While a task is suspected of causing a crash, tasks run one at a time, so that the next one has a single cause. */
  const exclusive: TaskGroup = { commands: ["analyze", ...PLANNER_QUERIES], scheduler: createFairScheduler(quantumMs) };
  /** Processes that this queue has killed. No task is to blame for their end. */
  const killed = new WeakSet<SpeechProcess>();
  let activeProcess: SpeechProcess | null = null;
  let timer: Timer | undefined;
  let closed = false;

  const getProcess = (): SpeechProcess => {
    if (activeProcess) return activeProcess;
    const fresh = start();
    activeProcess = fresh;
    log("speech.started", { pid: fresh.pid });
    void fresh.exited.then(() => {
      if (activeProcess === fresh) activeProcess = null;
      log("speech.stopped", { pid: fresh.pid });
    });
    return fresh;
  };

  const hasSuspectedTask = () => tasks.some((task) => task.crashes > 0 && !task.isWithdrawn);
  const belongsTo = (group: TaskGroup) => (task: QueuedTask) => group.commands.includes(task.work.command);

  /** Charges the time since the last call to the owners of the active tasks. */
  function charge(): void {
    const now = performance.now();
    for (const task of tasks) {
      if (!isActive(task)) continue;
      for (const group of [...groups, exclusive]) {
        if (belongsTo(group)(task)) group.scheduler.charge(task.owner, now - task.chargedAt);
      }
      task.chargedAt = now;
    }
  }

  /** Starts, resumes and pauses tasks of the group. Returns the milliseconds after which it must be called again. */
  function advanceGroup(group: TaskGroup, limitMs: number): number {
    const mine = tasks.filter(belongsTo(group));
    const ready = mine.filter((task) => !isActive(task) && !task.isWithdrawn);
    if (ready.length === 0) return Number.POSITIVE_INFINITY;
    const now = performance.now();
    const active = mine.filter(
      (task) => task.state === "running" || (isActive(task) && now - task.pausingSince < limitMs),
    );
    const owners = ready.map((task) => task.owner);
    const current = active[0];
    if (current === undefined) {
      const owner = group.scheduler.next(owners);
      activate(ready.find((task) => task.owner === owner)!);
      return 0;
    }
    if (current.state === "pausing") return current.pausingSince + limitMs - now;
    const remainingMs = group.scheduler.remainingMs(
      current.owner,
      owners.filter((owner) => owner !== current.owner),
    );
    if (remainingMs > 0) return remainingMs;
    current.state = "pausing";
    current.pausingSince = now;
    activeProcess?.pause(current.work.id);
    return limitMs;
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
        ? [advanceGroup(exclusive, Number.POSITIVE_INFINITY)]
        : groups.map((group) => advanceGroup(group, maxPausingMs));
      const waitMs = Math.min(...waits);
      if (waitMs <= 0) continue;
      if (Number.isFinite(waitMs)) timer = setTimeout(advance, Math.ceil(waitMs));
      return;
    }
  }

  function scheduleExit(): void {
    const leaving = activeProcess;
    if (!leaving) return;
    timer = setTimeout(() => {
      if (activeProcess === leaving) activeProcess = null;
      void leaving.close();
    }, idleMs);
    timer.unref?.();
  }

  function activate(task: QueuedTask): void {
    const isPaused = task.state === "paused";
    task.state = "running";
    task.chargedAt = performance.now();
    if (isPaused) activeProcess?.resume(task.work.id);
    else void run(task);
  }

  async function run(task: QueuedTask): Promise<void> {
    let process_: SpeechProcess;
    try {
      process_ = getProcess();
    } catch (error) {
      // The machine is out of processes or memory. The job is retried later.
      remove(task);
      task.settle({ status: "crashed", detail: String(error) });
      return;
    }
    const outcome = await process_.run(task.work, {
      onProgress: (share) => {
        if (!task.isWithdrawn) task.onProgress(share);
      },
      onSaved: () => {
        if (!task.isWithdrawn) task.onSaved();
      },
      onWords: (words, from) => {
        if (!task.isWithdrawn) task.onWords(words, from);
      },
      onPaused: () => {
        if (task.state !== "pausing") return;
        charge();
        task.state = "paused";
        advance();
      },
    });
    charge();
    const wasActive = isActive(task);
    task.state = "waiting";
    if (outcome.status === "crashed") {
      // A paused task has lost its state, but did not cause the crash.
      if (wasActive && !killed.has(process_) && !task.isWithdrawn && !closed) {
        task.crashes++;
        log("speech.crashed", { crashes: task.crashes, detail: outcome.detail });
      }
      await process_.exited;
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
    const process_ = activeProcess;
    if (task.state === "waiting" || process_ === null) {
      remove(task);
      advance();
      return;
    }
    process_.cancel(task.work.id);
    const hasLeft = () => !tasks.includes(task) || task.state === "waiting";
    setTimeout(() => {
      if (hasLeft() || activeProcess !== process_) return;
      killed.add(process_);
      void process_.kill();
    }, MAX_CANCEL_MS).unref?.();
  }

  return {
    /** Starts the process, which loads its models before the first task. */
    warmUp() {
      try {
        getProcess().load();
        advance();
      } catch {
        // The first task reports it.
      }
    },
    /**
     * Adds a task. Returns a function that withdraws it. A withdrawn task settles only if it ends at the same moment.
     */
    add(queued: NewTask): () => void {
      const task: QueuedTask = {
        ...queued,
        state: "waiting",
        chargedAt: 0,
        pausingSince: 0,
        crashes: 0,
        isWithdrawn: false,
      };
      charge();
      for (const group of [...groups, exclusive]) {
        if (!belongsTo(group)(task)) continue;
        const owners = tasks.filter(belongsTo(group)).map((other) => other.owner);
        if (!owners.includes(task.owner)) group.scheduler.enter(task.owner, owners);
      }
      tasks.push(task);
      advance();
      return () => withdraw(task);
    },
    /** Settles the remaining tasks as crashed and stops the process. */
    async close(): Promise<void> {
      closed = true;
      clearTimeout(timer);
      const leaving = activeProcess;
      activeProcess = null;
      const waiting = tasks.filter((task) => task.state === "waiting");
      for (const task of waiting) {
        remove(task);
        if (!task.isWithdrawn) task.settle({ status: "crashed", detail: "the server is shutting down" });
      }
      if (!leaving) return;
      if (tasks.length > 0) await leaving.kill();
      else await leaving.close();
      await leaving.exited;
    },
  };
}
