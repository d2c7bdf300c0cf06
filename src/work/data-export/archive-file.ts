/** The file that an export is written to. */
import { open } from "node:fs/promises";
import type { ZipOutput } from "../../lib/zip-writer";
import type { CoreNeeds } from "../needs";
import { claimSpace } from "../storage/limits";

export type ArchiveFile = ZipOutput & {
  /** Flushes the file to disk. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

/** Bytes are flushed in portions: flushing many gigabytes at once would block every commit of the database. */
const FLUSH_INTERVAL_BYTES = 64 * 1024 * 1024;

/** Only the server reads it. */
const FILE_MODE = 0o600;

/** Opens a file for an archive and truncates it. Its writes reject with `ENOSPC` when the free space falls below the reserve. */
export async function openArchiveFile(services: CoreNeeds, path: string): Promise<ArchiveFile> {
  const file = await open(path, "w", FILE_MODE);
  let position = 0;
  let unflushed = 0;

  async function writeAt(bytes: Uint8Array, at: number): Promise<void> {
    for (let done = 0; done < bytes.byteLength; ) {
      const { bytesWritten } = await file.write(bytes, done, bytes.byteLength - done, at + done);
      done += bytesWritten;
    }
  }

  return {
    write: async (bytes) => {
      claimSpace(services, bytes.byteLength);
      await writeAt(bytes, position);
      position += bytes.byteLength;
      unflushed += bytes.byteLength;
      if (unflushed < FLUSH_INTERVAL_BYTES) return;
      unflushed = 0;
      await file.datasync();
    },
    patch: writeAt,
    flush: () => file.sync(),
    close: () => file.close(),
  };
}
