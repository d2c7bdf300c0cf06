/** Writes a stream into a file as fast as both allow: what arrives while a write is under way goes out together with the next one. */
import { type FileHandle, open } from "node:fs/promises";

/** Bytes that may wait for the disk: bounds the memory of an upload. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/**
 * Writes the chunks into the file at `path`, which exists, from `offset` on; gives the number of bytes. What has arrived before the stream
 * breaks is written. `beforeWrite` may throw to write no more. Errors: the stream's, its, or the file system's (`ENOSPC`, `EIO`, …).
 */
export async function writeStream(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  offset: number,
  beforeWrite: (bytes: number) => void = () => {},
): Promise<number> {
  const file = await open(path, "r+");
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
        await writeFully(file, now, position);
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
    await file.close();
  }
  throwFailure();
  return taken;
}

/** A write may take less than it was given. */
async function writeFully(file: FileHandle, chunks: readonly Uint8Array[], position: number): Promise<void> {
  const size = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  const { bytesWritten } = await file.writev(chunks, position);
  if (bytesWritten === size) return;
  const rest = Buffer.concat(chunks).subarray(bytesWritten);
  for (let done = 0; done < rest.length; ) {
    const more = await file.write(rest, done, rest.length - done, position + bytesWritten + done);
    done += more.bytesWritten;
  }
}
