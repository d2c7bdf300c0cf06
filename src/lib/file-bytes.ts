/** Reads and writes bytes of open files, even if the system transfers only some of them at once. */
import type { FileHandle } from "node:fs/promises";

/** Fills `bytes` from a position of the file. Returns the filled part, which is shorter at the end of the file. */
export async function readInto(
  file: Pick<FileHandle, "read">,
  bytes: Uint8Array,
  position: number,
): Promise<Uint8Array> {
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** Writes bytes at a position, or after the last write for null. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number | null): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const at = position === null ? null : position + done;
    done += (await file.write(bytes, done, bytes.length - done, at)).bytesWritten;
  }
}

/** Writes all chunks, even if the system stores only some of the bytes at once. */
export async function writeChunks(file: FileHandle, chunks: readonly Uint8Array[], position: number): Promise<void> {
  const size = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  const { bytesWritten } = await file.writev(chunks, position);
  if (bytesWritten === size) return;
  await writeAll(file, Buffer.concat(chunks).subarray(bytesWritten), position + bytesWritten);
}
