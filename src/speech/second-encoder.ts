/**
 * A second encoder in a thread of its own. ONNX Runtime's own threads hardly help: the steps of the encoder take less
 * time than waking a thread that sleeps.
 */
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { yieldToEventLoop } from "../lib/event-loop";
import type { EncodedAudio } from "./cross-attention";
import { type Encode, loadEncoder } from "./encoder";

type EncoderTask = { id: number; index: number; samples: Float32Array };
type EncodedPart = { index: number; audio: EncodedAudio };
type EncoderResult = { id: number; index: number; audio: EncodedAudio | null; error: string };

/** Maximum number of a task's parts in the other thread: one that it encodes, and one that waits. */
const MAX_SENT = 2;

/**
 * Starts the thread. It runs this program with the same arguments, so that it calls `serveSecondEncoder`. Null if the
 * system has no thread left.
 */
export function startSecondEncoder() {
  let worker: Worker;
  try {
    worker = new Worker(Bun.main, { argv: process.argv.slice(2) });
  } catch (error) {
    console.error(error);
    return null;
  }
  const listeners = new Map<number, (result: EncoderResult) => void>();
  let nextId = 1;
  worker.on("message", (result: EncoderResult) => listeners.get(result.id)?.(result));
  // The engine keeps the end of this output, and starts the process again.
  const fail = (error: unknown): void => {
    console.error(error);
    process.exit(1);
  };
  worker.on("error", fail);
  worker.on("exit", (code) => fail(`The second encoder ended with code ${code}.`));
  return {
    /** Reads and encodes parts in both threads. Yields each when it is ready, in any order. */
    async *encodeAll(
      count: number,
      read: (index: number) => Promise<Float32Array>,
      encode: Encode,
    ): AsyncGenerator<EncodedPart> {
      const id = nextId++;
      const results: EncoderResult[] = [];
      const ready: EncodedPart[] = [];
      let wake = () => {};
      let sent = 0;
      listeners.set(id, (result) => {
        sent--;
        results.push(result);
        wake();
      });
      // The other thread takes parts from the start, this one from the end.
      let [first, last] = [0, count];
      const exchange = async (): Promise<void> => {
        // Messages are received between two turns of the event loop.
        await yieldToEventLoop();
        for (const { index, audio, error } of results.splice(0)) {
          if (audio === null) throw new Error(error);
          ready.push({ index, audio });
        }
        // The last part does not wait there, while this thread has nothing to do.
        for (; first < last && (sent === 0 || (sent < MAX_SENT && first < last - 1)); sent++, first++)
          worker.postMessage({ id, index: first, samples: await read(first) } satisfies EncoderTask);
      };
      try {
        for (let left = count; left > 0; left--) {
          await exchange();
          while (ready.length === 0) {
            if (first < last) {
              last--;
              ready.push({ index: last, audio: await encode(await read(last)) });
            } else {
              if (results.length === 0)
                await new Promise<void>((resolve) => {
                  wake = resolve;
                });
              await exchange();
            }
          }
          yield ready.shift()!;
        }
      } finally {
        listeners.delete(id);
      }
    },
  };
}

export type SecondEncoder = NonNullable<ReturnType<typeof startSecondEncoder>>;

/** Whether this is the thread of the second encoder. */
export const isSecondEncoder = !isMainThread;

/** Encodes what the first thread sends, until the process ends. */
export async function serveSecondEncoder(folder: string): Promise<never> {
  const port = parentPort!;
  const encode = await loadEncoder(folder);
  let earlier = Promise.resolve();
  port.on("message", ({ id, index, samples }: EncoderTask) => {
    earlier = earlier.then(async () => {
      try {
        const audio = await encode(samples);
        const result: EncoderResult = { id, index, audio, error: "" };
        port.postMessage(result, [audio.keys.buffer as ArrayBuffer, audio.values.buffer as ArrayBuffer]);
      } catch (error) {
        port.postMessage({ id, index, audio: null, error: String(error) } satisfies EncoderResult);
      }
    });
  });
  return new Promise(() => {});
}
