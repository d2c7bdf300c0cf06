/**
 * A second encoder in a thread of its own. ONNX Runtime's own threads hardly help: the steps of the encoder take less
 * time than waking a thread that sleeps.
 */
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import type { EncodedAudio } from "./cross-attention";
import { type Encode, loadEncoder } from "./encoder";

/** Audio of which both threads encode what they claim first. `claims` is shared. */
type EncoderTask = { id: number; parts: readonly Float32Array[]; claims: Int32Array };
type EncodedPart = { index: number; audio: EncodedAudio };
type EncoderResult = EncodedPart & { id: number };

const claim = (claims: Int32Array, index: number): boolean => Atomics.compareExchange(claims, index, 0, 1) === 0;

/** Starts the thread. It runs this program with the same arguments, so that it calls `serveSecondEncoder`. */
export function startSecondEncoder() {
  const worker = new Worker(Bun.main, { argv: process.argv.slice(2) });
  const listeners = new Map<number, (part: EncodedPart) => void>();
  let nextId = 1;
  worker.on("message", ({ id, ...part }: EncoderResult) => listeners.get(id)?.(part));
  worker.on("error", (error) => {
    // The engine keeps the end of this output, and starts the process again.
    console.error(error);
    process.exit(1);
  });
  return {
    /** Encodes all parts in both threads. Yields each when it is ready, in any order. */
    async *encodeAll(parts: readonly Float32Array[], encode: Encode): AsyncGenerator<EncodedPart> {
      const id = nextId++;
      const claims = new Int32Array(new SharedArrayBuffer(parts.length * Int32Array.BYTES_PER_ELEMENT));
      const ready: EncodedPart[] = [];
      let wake = () => {};
      listeners.set(id, (part) => {
        ready.push(part);
        wake();
      });
      worker.postMessage({ id, parts, claims } satisfies EncoderTask);
      try {
        // The other thread starts with the first part.
        let index = parts.length;
        for (let left = parts.length; left > 0; left--) {
          while (ready.length === 0 && index-- > 0)
            if (claim(claims, index)) ready.push({ index, audio: await encode(parts[index]!) });
          if (ready.length === 0)
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          yield ready.shift()!;
        }
      } finally {
        for (const index of claims.keys()) claim(claims, index);
        listeners.delete(id);
      }
    },
  };
}

export type SecondEncoder = ReturnType<typeof startSecondEncoder>;

/** Whether this is the thread of the second encoder. */
export const isSecondEncoder = !isMainThread;

/** Encodes what the first thread sends, until the process ends. */
export async function serveSecondEncoder(folder: string): Promise<never> {
  const port = parentPort!;
  const encode = await loadEncoder(folder);
  let earlier = Promise.resolve();
  port.on("message", ({ id, parts, claims }: EncoderTask) => {
    earlier = earlier.then(async () => {
      for (const [index, samples] of parts.entries()) {
        if (!claim(claims, index)) continue;
        const audio = await encode(samples);
        const result: EncoderResult = { id, index, audio };
        port.postMessage(result, [audio.keys.buffer as ArrayBuffer, audio.values.buffer as ArrayBuffer]);
      }
    });
  });
  return new Promise(() => {});
}
