/** RNNoise in WebAssembly: suppresses noise in speech, and finds the speech. The weights are part of the file. */
import { resolve } from "node:path";
import plainPath from "@sapphi-red/web-noise-suppressor/rnnoise.wasm" with { type: "file" };
import simdPath from "@sapphi-red/web-noise-suppressor/rnnoise_simd.wasm" with { type: "file" };

/** The only sample rate of the model. */
export const RNNOISE_RATE = 48_000;
/** Samples of a frame. The model returns the output of a frame with the next frame. */
export const RNNOISE_FRAME = 480;
/** The model expects the range of 16-bit samples. */
const SCALE = 32_768;

type Exports = {
  memory: WebAssembly.Memory;
  emscripten_stack_init(): void;
  __wasm_call_ctors(): void;
  malloc(bytes: number): number;
  rnnoise_create(model: number): number;
  rnnoise_destroy(state: number): void;
  rnnoise_process_frame(state: number, output: number, input: number): number;
};

/** The state of one channel. */
export type Denoiser = {
  /** Replaces the samples of `frame` with the output. Returns the probability of speech. */
  process(frame: Float32Array): number;
};

const compiled = new Map<string, Promise<WebAssembly.Module>>();

async function compile(path: string): Promise<WebAssembly.Module> {
  // The path in a bundle is relative to the bundle.
  return await WebAssembly.compile(await Bun.file(resolve(import.meta.dir, path)).bytes());
}

/** Compiles each file once. Processors without AVX have no SIMD instructions in WebAssembly. */
function loadModule(): Promise<WebAssembly.Module> {
  const load = (path: string) => {
    const module = compiled.get(path) ?? compile(path);
    compiled.set(path, module);
    return module;
  };
  return load(simdPath).catch(() => load(plainPath));
}

/** Returns a function that creates the denoisers of a recording. They share one memory, which is freed with them. */
export async function loadRnnoise(): Promise<() => Denoiser> {
  const module = await loadModule();
  const instance = new WebAssembly.Instance(module, {
    env: {
      emscripten_memcpy_big: (to: number, from: number, bytes: number) => {
        new Uint8Array(wasm.memory.buffer).copyWithin(to, from, from + bytes);
      },
      // The memory is large enough for all channels of a recording.
      emscripten_resize_heap: () => 0,
      __assert_fail: () => {
        throw new Error("RNNoise has failed.");
      },
    },
  });
  const wasm = instance.exports as unknown as Exports;
  wasm.emscripten_stack_init();
  wasm.__wasm_call_ctors();
  const at = wasm.malloc(4 * RNNOISE_FRAME);
  const buffer = new Float32Array(wasm.memory.buffer, at, RNNOISE_FRAME);
  return () => createDenoiser(wasm, at, buffer);
}

function createDenoiser(wasm: Exports, at: number, buffer: Float32Array): Denoiser {
  let state = wasm.rnnoise_create(0);
  return {
    process(frame) {
      for (let n = 0; n < RNNOISE_FRAME; n++) buffer[n] = frame[n]! * SCALE;
      const probability = wasm.rnnoise_process_frame(state, at, at);
      let sum = probability;
      for (let n = 0; n < RNNOISE_FRAME; n++) {
        const sample = buffer[n]! / SCALE;
        frame[n] = sample;
        sum += sample;
      }
      // One number that is not finite makes the sum so, too.
      if (Number.isFinite(sum)) return probability;
      // A state with such a number would never recover.
      wasm.rnnoise_destroy(state);
      state = wasm.rnnoise_create(0);
      frame.fill(0);
      return 0;
    },
  };
}
