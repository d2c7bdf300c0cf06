/** Writes a stream to a file. Chunks that arrive during a write are combined in the next one. */
import { open } from "node:fs/promises";
import { writeChunks } from "./file-bytes";

/** Maximum number of buffered bytes, which bounds the memory of an upload. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/**
 * Writes the chunks to the existing file at `path`, starting at `offset`. Returns the number of bytes. Chunks that
 * arrived before the stream failed are still written. `beforeWrite` may throw to stop writing. Throws errors of the
 * stream, of `beforeWrite` and of the file system (`ENOSPC`, `EIO`, …).
 */
export async function writeStream(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  offset: number,
  beforeWrite: (bytes: number) => void = () => {},
): Promise<number> {
  await using file = await open(path, "r+");
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let taken = 0;
  let failure: { error: unknown } | null = null;
  let writing: Promise<void> | null = null;

  async function writeWaiting(): Promise<void> {
    try {
      while (waitingBytes > 0) {
        beforeWrite(waitingBytes);
        const [now, position] = [waiting, offset + taken];
        taken += waitingBytes;
        [waiting, waitingBytes] = [[], 0];
        await writeChunks(file, now, position);
      }
    } catch (error) {
      failure = { error };
    } finally {
      writing = null;
    }
  }

  const throwFailure = (): void => {
    if (failure) throw failure.error;
  };

  try {
    for await (const chunk of chunks) {
      if (chunk.byteLength === 0) continue;
      waiting.push(chunk);
      waitingBytes += chunk.byteLength;
      writing ??= writeWaiting();
      if (waitingBytes >= MAX_BUFFERED_BYTES) await writing;
      throwFailure();
    }
  } finally {
    await writing;
  }
  throwFailure();
  return taken;
}
