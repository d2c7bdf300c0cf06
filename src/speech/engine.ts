/**
 * The recogniser of the product: a child process that is started on demand, kept while there is work, and started again when it
 * crashes.
 */
import { AppError } from "../domain/errors";
import type { Forced, Listening, SpeechEngine } from "../domain/speech";
import { type Outcome, type SpeechChild, startSpeechChild } from "./child";
import { HEARD_LANGUAGE, type Order } from "./frames";
import { choiceFor, languageDetector, readShelf } from "./models/shelf";

export type SpeechEngineOptions = {
  /** Program and arguments of the child, which must call `runSpeechWorker`. */
  command: string[];
  /** The child's whole environment. */
  env?: Record<string, string>;
  /** Where added models are. They may come and go while the engine is there. */
  modelsDir?: string;
  /** Seconds without work after which the child is ended; default 300. */
  idleSeconds?: number;
  log?: (event: string, fields: object) => void;
};

/** An order that has not ended. */
type Task = {
  order: Exclude<Order, { order: "cancel" }>;
  /** How often it was under way when a child crashed; after the first time it gets the child to itself, so that the guilty one is found. */
  crashes: number;
  running: boolean;
  onProgress: (share: number) => void;
  settle: (outcome: Outcome) => void;
  abandoned: boolean;
};

/** A recording that was under way in this many crashes is given up. */
const MAX_CRASHES = 3;
/** A child that does not leave a cancelled order within this is killed. */
const CANCEL_MS = 1_000;

/** Makes the engine; no child is started yet. */
export function createSpeechEngine(options: SpeechEngineOptions): SpeechEngine {
  const log = options.log ?? (() => {});
  const idleMs = (options.idleSeconds ?? 300) * 1000;
  const tasks: Task[] = [];
  let child: SpeechChild | null = null;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  let nextId = 1;

  const started = (): SpeechChild => {
    if (child) return child;
    const fresh = startSpeechChild(options.command, options.env ?? {});
    child = fresh;
    log("speech.started", { pid: fresh.pid });
    void fresh.exited.then(() => {
      if (child === fresh) child = null;
      log("speech.ended", { pid: fresh.pid });
    });
    return fresh;
  };

  /** Starts what may run: one `listen` and one `force` side by side in the order they came, suspects of a crash alone. */
  const advance = () => {
    clearTimeout(idle);
    const suspect = tasks.find((t) => t.crashes > 0 && !t.abandoned);
    for (const kind of ["listen", "force"] as const) {
      const running = tasks.filter((t) => t.running);
      if (suspect && running.length > 0) return;
      if (running.some((t) => t.order.order === kind)) continue;
      const next = suspect ?? tasks.find((t) => !t.running && !t.abandoned && t.order.order === kind);
      if (next) void run(next);
    }
    if (tasks.length > 0 || !child) return;
    const leaving = child;
    idle = setTimeout(() => {
      if (child === leaving) child = null;
      void leaving.end();
    }, idleMs);
    idle.unref?.();
  };

  const run = async (task: Task) => {
    task.running = true;
    const worker = started();
    const outcome = await worker.run(task.order, task.onProgress);
    task.running = false;
    if (outcome.ended === "crashed") {
      await worker.exited;
      if (!task.abandoned && !closed) {
        task.crashes++;
        log("speech.crashed", { crashes: task.crashes, detail: outcome.detail });
        if (task.crashes < MAX_CRASHES) return advance();
      }
    }
    tasks.splice(tasks.indexOf(task), 1);
    task.settle(outcome);
    advance();
  };

  const abandon = (task: Task) => {
    task.abandoned = true;
    if (!task.running) {
      tasks.splice(tasks.indexOf(task), 1);
      return;
    }
    const worker = child;
    worker?.cancel(task.order.id);
    const timer = setTimeout(() => {
      if (!task.running) return;
      // The others under way are not to blame.
      for (const other of tasks) if (other.running && other !== task) other.crashes--;
      void worker?.kill();
    }, CANCEL_MS);
    timer.unref?.();
  };

  const request = <T>(
    order: Omit<Extract<Order, { order: "listen" }>, "id"> | Omit<Extract<Order, { order: "force" }>, "id">,
    pick: (outcome: Outcome) => T | null,
    onProgress: (share: number) => void,
    signal?: AbortSignal,
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (closed) return reject(new AppError("processing_failed", "The speech engine is closed."));
      const task: Task = {
        order: { ...order, id: nextId++ },
        crashes: 0,
        running: false,
        abandoned: false,
        onProgress: (share) => {
          if (!task.abandoned) onProgress(share);
        },
        settle(outcome) {
          signal?.removeEventListener("abort", onAbort);
          const value = pick(outcome);
          if (value !== null) resolve(value);
          else reject(failure(outcome));
        },
      };
      const onAbort = () => {
        abandon(task);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      tasks.push(task);
      advance();
    });

  const modelsDir = options.modelsDir ?? null;
  const installed = () => (modelsDir === null ? [] : readShelf(modelsDir).installed);
  const canTranscribe = (language: string | null): boolean =>
    language === null || choiceFor(language, installed()) !== null;
  const unknown = () => (languageDetector(installed()) ? HEARD_LANGUAGE : "en");

  return {
    canTranscribe,
    listen: ({ path }, { language, onProgress, signal }) => {
      const known = canTranscribe(language) ? (language ?? unknown()) : null;
      const pick = (o: Outcome): Listening | null => (o.ended === "listened" ? o.listening : null);
      return request({ order: "listen", path, language: known, modelsDir }, pick, growing(onProgress), signal);
    },
    force: ({ path }, requests, signal) => {
      if (requests.length === 0) return Promise.resolve([]);
      const pick = (o: Outcome): Forced[] | null => (o.ended === "forced" ? o.forced : null);
      return request({ order: "force", path, requests }, pick, () => {}, signal);
    },
    async close() {
      closed = true;
      clearTimeout(idle);
      const leaving = child;
      child = null;
      if (!leaving) return;
      if (tasks.some((t) => t.running)) await leaving.kill();
      else await leaving.end();
      await leaving.exited;
    },
  };
}

/** Progress that never falls, also when a crashed attempt begins again. */
function growing(report: ((share: number) => void) | undefined): (share: number) => void {
  let highest = 0;
  return (share) => {
    if (share <= highest) return;
    highest = share;
    report?.(share);
  };
}

function failure(outcome: Outcome): AppError {
  const cause = outcome.ended === "crashed" ? outcome.detail : outcome.ended === "failed" ? outcome.message : undefined;
  return new AppError("processing_failed", "The recording could not be listened to.", { cause });
}
