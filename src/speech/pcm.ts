/** Reads a PCM file by stretches, so that a recording of any length takes little memory. */
import { open } from "node:fs/promises";
import type { PcmFile } from "../domain/speech";

export type PcmReader = {
  /** Whole samples in the file; an odd byte at the end does not count. */
  samples: number;
  /** Changes when the file does. */
  version: string;
  /** Samples from `from` on, -1 to 1: fewer than `count` at the end of the file, none past it. */
  read(from: number, count: number): Promise<Float32Array>;
  close(): Promise<void>;
};

/** Opens a file of signed 16-bit little-endian samples. Errors: those of the file system. */
export async function openPcm(file: PcmFile): Promise<PcmReader> {
  const handle = await open(file.path, "r");
  const { size, mtimeMs, ino } = await handle.stat();
  const samples = Math.floor(size / 2);
  return {
    samples,
    version: `${ino}-${size}-${mtimeMs}`,
    async read(from, count) {
      const start = Math.min(Math.max(0, from), samples);
      const wanted = Math.max(0, Math.min(count, samples - start));
      const bytes = new Uint8Array(wanted * 2);
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, start * 2 + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      const whole = new Int16Array(bytes.buffer, 0, filled >> 1);
      // `Float32Array.from` with a function is ten times as slow.
      const out = new Float32Array(whole.length);
      for (let i = 0; i < whole.length; i++) out[i] = whole[i]! / 32_768;
      return out;
    },
    close: () => handle.close(),
  };
}

/** Amplifies in place, and holds what would leave -1 to 1. */
export function amplify(samples: Float32Array, gain: number): Float32Array {
  if (gain === 1) return samples;
  for (let i = 0; i < samples.length; i++) samples[i] = Math.max(-1, Math.min(1, samples[i]! * gain));
  return samples;
}
