/** Reads files for an off-site backup in parts of a fixed size. */
import type { Folders } from "../../../blobs/folders";
import type { TrashHold } from "../../../blobs/trash";
import type { BackupFile } from "../../../domain/backup";
import { AppError } from "../../../domain/errors";
import type { OffsiteFile } from "../../../domain/offsite";
import { type FoundFile, openFound } from "../find-files";

/** `unchanged`: its blobs are known. A file to read has parts, in order, and then `end`. */
export type ReadPart =
  | { kind: "unchanged"; stored: OffsiteFile }
  | { kind: "missing"; path: string }
  | { kind: "part"; content: Uint8Array<ArrayBuffer> }
  | { kind: "end"; stored: BackupFile };

/** `allocate` returns a buffer of a size, which the reader fills and yields. */
export type ReadOptions = {
  partBytes: number;
  allocate(bytes: number): Uint8Array<ArrayBuffer>;
  findUnchanged(file: FoundFile): OffsiteFile | null;
};

/** Reads files up to the sizes that they have when they are opened. Errors: those of the file system; the signal's reason. */
export async function* readParts(
  files: readonly FoundFile[],
  { partBytes, allocate, findUnchanged }: ReadOptions,
  places: { folders: Folders; hold: TrashHold },
  signal: AbortSignal,
): AsyncGenerator<ReadPart> {
  for (const file of files) {
    signal.throwIfAborted();
    const unchanged = findUnchanged(file);
    if (unchanged !== null) {
      yield { kind: "unchanged", stored: unchanged };
      continue;
    }
    const opened = await openFound(file, places);
    if (opened === null) {
      yield { kind: "missing", path: file.path };
      continue;
    }
    const { handle, path } = opened;
    try {
      const { size, mtimeMs } = await handle.stat();
      const hasher = new Bun.CryptoHasher("sha256");
      for (let done = 0; done < size; done += partBytes) {
        signal.throwIfAborted();
        const content = allocate(Math.min(partBytes, size - done));
        if (!(await readFully(handle, content, done)))
          throw new AppError("internal_error", `${path} became shorter during the backup.`);
        hasher.update(content);
        yield { kind: "part", content };
      }
      const stored = { path, bytes: size, sha256: hasher.digest("hex"), modified_at: Math.round(mtimeMs) };
      yield { kind: "end", stored };
    } finally {
      await handle.close();
    }
  }
}

type Readable = {
  read(target: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
};

/** Returns false when the file ends before `target` is full. */
async function readFully(file: Readable, target: Uint8Array, position: number): Promise<boolean> {
  for (let done = 0; done < target.length; ) {
    const { bytesRead } = await file.read(target, done, target.length - done, position + done);
    if (bytesRead === 0) return false;
    done += bytesRead;
  }
  return true;
}
