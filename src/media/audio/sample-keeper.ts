/** Keeps samples in a file, for a pass that would have to compute them again. */
import { type FileHandle, open, rm } from "node:fs/promises";
import type { AudioSink } from "./sink";

/** Returns a sink whose `read` returns `path` after `end`; null if the disk had no room for the samples. */
export function createSampleKeeper(path: string): AudioSink & { read(): string | null } {
  let file: FileHandle | null = null;
  let isKept = true;
  const discard = async () => {
    isKept = false;
    await file?.close();
    file = null;
    await rm(path, { force: true });
  };
  return {
    write: async (samples) => {
      if (!isKept) return;
      try {
        file ??= await open(path, "w");
        for (let at = 0; at < samples.length; ) at += (await file.write(samples, at)).bytesWritten;
      } catch {
        // Without them, the next pass takes longer.
        await discard();
      }
    },
    end: async () => {
      await file?.close();
    },
    abort: async (error) => {
      await discard();
      return error;
    },
    read: () => (isKept && file !== null ? path : null),
  };
}
