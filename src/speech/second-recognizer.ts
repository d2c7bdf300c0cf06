/**
 * A second recognizer in a thread of its own. ONNX Runtime's own threads hardly help: the steps of the graphs take less
 * time than waking a thread that sleeps.
 */
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import type { EncodedAudio } from "./cross-attention";
import {
  type AudioTask,
  type DecodedText,
  loadRecognizer,
  type OnStep,
  type Recognizer,
  type ScoredAudio,
} from "./recognizer";

type ThreadTask = AudioTask | { rows: EncodedAudio[] };
/** `proceed` confirms a step; false cancels the task. */
type ToThread = { id: number; task: ThreadTask } | { id: number; proceed: boolean };
type FromThread = { id: number; step: number } | { id: number; result: unknown } | { id: number; error: string };
/** The audio is null if it was encoded when the task arrived. */
type ScoredInThread = Omit<ScoredAudio, "audio"> & { audio: EncodedAudio | null };

/** Maximum number of audio tasks in the other thread: one that it processes, and one that waits. */
const MAX_SENT = 2;

/**
 * Maximum number of a task's steps that the first thread has not confirmed, about 0.2 s: it is often busy for longer
 * than a step takes, and confirms none while a task is paused.
 */
const MAX_UNCONFIRMED_STEPS = 32;

/**
 * Starts the thread. It runs this program with the same arguments, so that it calls `serveSecondRecognizer`. Null if
 * the system has no thread left.
 */
export function startSecondRecognizer() {
  let worker: Worker;
  try {
    worker = new Worker(Bun.main, { argv: process.argv.slice(2) });
  } catch (error) {
    console.error(error);
    return null;
  }
  const listeners = new Map<number, (message: FromThread) => void>();
  let nextId = 1;
  worker.on("message", (message: FromThread) => listeners.get(message.id)?.(message));
  // The engine keeps the end of this output, and starts the process again.
  const fail = (error: unknown): void => {
    console.error(error);
    process.exit(1);
  };
  worker.on("error", fail);
  worker.on("exit", (code) => fail(`The second recognizer ended with code ${code}.`));

  /** Runs a task in the thread. Errors: those of `onStep`, which cancel the task; those of the task as plain errors. */
  function run<Result>(task: ThreadTask, onStep: OnStep = () => {}, taken: EncodedAudio[] = []): Promise<Result> {
    const id = nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const send = (message: ToThread, transfer: ArrayBuffer[] = []) => worker.postMessage(message, transfer);
    let steps = Promise.resolve();
    const confirm = async (step: number): Promise<void> => {
      if (!listeners.has(id)) return;
      try {
        await onStep(step);
        send({ id, proceed: true });
      } catch (error) {
        listeners.delete(id);
        send({ id, proceed: false });
        reject(error);
      }
    };
    listeners.set(id, (message) => {
      if ("step" in message) {
        steps = steps.then(() => confirm(message.step));
        return;
      }
      // A paused task ends when its steps are confirmed, so that it does not go on with the next one.
      void steps.then(() => {
        listeners.delete(id);
        if ("error" in message) reject(new Error(message.error));
        else resolve(message.result as Result);
      });
    });
    send({ id, task }, listBuffers(taken));
    return promise;
  }

  async function score(task: AudioTask, onStep?: OnStep): Promise<ScoredAudio> {
    const { audio, scored } = await run<ScoredInThread>(task, onStep);
    return { audio: audio ?? (task.audio as EncodedAudio), scored };
  }

  return {
    encode: async (samples: Float32Array) => (await score({ audio: samples, texts: [] })).audio,
    decode: (rows: EncodedAudio[], onStep?: OnStep) => run<DecodedText[]>({ rows }, onStep, rows),
    /**
     * Reads and processes tasks in both threads, each of which takes the next one: the longest should come first.
     * Yields each when it is ready, in any order.
     */
    async *share(
      count: number,
      read: (index: number) => Promise<AudioTask>,
      first: Recognizer,
      onStep?: OnStep,
    ): AsyncGenerator<ScoredAudio & { index: number }> {
      const ready: (ScoredAudio & { index: number })[] = [];
      let failure: { error: unknown } | null = null;
      let wake = () => {};
      let [next, sent] = [0, 0];
      let reading: Promise<unknown> = Promise.resolve();
      // One at a time, so that the first task is sent as soon as possible.
      const readNext = (): Promise<AudioTask & { index: number }> => {
        const index = next++;
        const task = reading.then(async () => ({ index, ...(await read(index)) }));
        reading = task.catch(() => {});
        return task;
      };
      const takeTasks = async (): Promise<void> => {
        // The last task does not wait in the other thread, while this one has nothing to do.
        while (failure === null && (sent === 0 ? next < count : next < count - 1)) {
          sent++;
          try {
            const { index, ...task } = await readNext();
            ready.push({ index, ...(await score(task, onStep)) });
          } catch (error) {
            failure ??= { error };
          }
          sent--;
          wake();
        }
      };
      void takeTasks();
      try {
        for (let left = count; left > 0; left--) {
          while (ready.length === 0 && failure === null) {
            if (next < count) {
              const taken = readNext();
              // While this thread works on a task, another one may wait in the other thread.
              if (sent < MAX_SENT) void takeTasks();
              const { index, ...task } = await taken;
              ready.push({ index, ...(await first.score(task, onStep)) });
            } else
              await new Promise<void>((resolve) => {
                wake = resolve;
              });
          }
          if (failure !== null) throw (failure as { error: unknown }).error;
          yield ready.shift()!;
        }
      } finally {
        failure ??= { error: null };
      }
    },
  };
}

export type SecondRecognizer = NonNullable<ReturnType<typeof startSecondRecognizer>>;

/** Whether this is the thread of the second recognizer. */
export const isSecondRecognizer = !isMainThread;

/** Runs the tasks that the first thread sends, until the process ends. They interleave at their steps. */
export async function serveSecondRecognizer(folder: string): Promise<never> {
  const port = parentPort!;
  const recognizer = await loadRecognizer(folder);
  const controls = new Map<number, (proceed: boolean) => void>();
  const send = (message: FromThread, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

  function createSteps(id: number): OnStep {
    let unconfirmed = 0;
    let isCancelled = false;
    let wake = () => {};
    controls.set(id, (proceed) => {
      unconfirmed--;
      isCancelled ||= !proceed;
      wake();
    });
    return async (step) => {
      send({ id, step });
      unconfirmed++;
      while (unconfirmed > MAX_UNCONFIRMED_STEPS && !isCancelled)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      if (isCancelled) throw new Error("cancelled");
    };
  }

  async function runTask(id: number, task: ThreadTask): Promise<void> {
    try {
      if ("rows" in task) {
        send({ id, result: await recognizer.decode(task.rows, createSteps(id)) });
        // As in the first thread, the garbage collector does not see the memory of tensors.
        Bun.gc(true);
        return;
      }
      const { audio, scored } = await recognizer.score(task, createSteps(id));
      const isNew = audio !== task.audio;
      const result: ScoredInThread = { audio: isNew ? audio : null, scored };
      send({ id, result }, isNew ? listBuffers([audio]) : []);
    } catch (error) {
      send({ id, error: error instanceof Error ? error.message : String(error) });
    } finally {
      controls.delete(id);
    }
  }

  port.on("message", (message: ToThread) => {
    if ("task" in message) void runTask(message.id, message.task);
    else controls.get(message.id)?.(message.proceed);
  });
  return new Promise(() => {});
}

const listBuffers = (audio: readonly EncodedAudio[]): ArrayBuffer[] =>
  audio.flatMap(({ keys, values }) => [keys.buffer as ArrayBuffer, values.buffer as ArrayBuffer]);
