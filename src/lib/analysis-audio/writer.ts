/** Writes losslessly compressed 16-bit samples, one block at a time. Uncompressed samples never reach the disk. */
import { open } from "node:fs/promises";
import { writeAll } from "../file-bytes";
import { BLOCK_SAMPLES, createBlockEncoder } from "./block";
import { createIndexBuilder, formatFooter, formatHeader } from "./layout";

/** Encoded blocks are written when they reach this size. */
const WRITE_BYTES = 256 * 1024;

/** Creates the file at `path`. Throws file system errors. */
export async function createAudioFile(path: string) {
  const file = await open(path, "w");
  const encoder = createBlockEncoder();
  const index = createIndexBuilder();
  const block = new Int16Array(BLOCK_SAMPLES);
  let filled = 0;
  let samples = 0;
  let pending: Uint8Array[] = [formatHeader()];
  let pendingBytes = 0;

  async function flush(): Promise<void> {
    const bytes = Buffer.concat(pending);
    [pending, pendingBytes] = [[], 0];
    await writeAll(file, bytes, null);
  }

  async function endBlock(): Promise<void> {
    const content = block.subarray(0, filled);
    filled = 0;
    if (isSilent(content)) {
      index.add(0, 0);
      return;
    }
    const bytes = encoder.encode(content).slice();
    index.add(bytes.length, Bun.hash.crc32(bytes));
    pending.push(bytes);
    pendingBytes += bytes.length;
    if (pendingBytes >= WRITE_BYTES) await flush();
  }

  /** Appends samples: `put` copies `count` samples, starting at `from`, into the block at `filled`. */
  async function append(total: number, put: (from: number, count: number) => void): Promise<void> {
    for (let from = 0; from < total; ) {
      const count = Math.min(total - from, BLOCK_SAMPLES - filled);
      put(from, count);
      filled += count;
      from += count;
      if (filled === BLOCK_SAMPLES) await endBlock();
    }
    samples += total;
  }

  return {
    write: (input: Int16Array): Promise<void> =>
      append(input.length, (from, count) => block.set(input.subarray(from, from + count), filled)),
    writeSilence: (total: number): Promise<void> => append(total, (_, count) => block.fill(0, filled, filled + count)),
    /** Writes the remaining samples, the index and the footer. Without them the file is not readable. */
    async finish(): Promise<void> {
      if (filled > 0) await endBlock();
      const compressed = index.compress();
      pending.push(compressed);
      pending.push(formatFooter({ samples, indexBytes: compressed.length, indexCrc: Bun.hash.crc32(compressed) }));
      await flush();
    },
    close: (): Promise<void> => file.close(),
    [Symbol.asyncDispose]: (): Promise<void> => file.close(),
  };
}

function isSilent(samples: Int16Array): boolean {
  for (let n = 0; n < samples.length; n++) if (samples[n] !== 0) return false;
  return true;
}
