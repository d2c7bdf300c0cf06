/**
 * Uploads the files of a backup to a bucket, in blobs of a fixed size, which are named by their content: a blob that
 * the bucket already has, from an earlier backup or a killed one, is not sent again.
 */
import { createHash } from "node:crypto";
import type { Folders } from "../../../blobs/folders";
import type { TrashHold } from "../../../blobs/trash";
import { type BackupFile, isEssential } from "../../../domain/backup";
import { AppError } from "../../../domain/errors";
import { getBlobBytes, type OffsiteFile, type OffsiteManifest } from "../../../domain/offsite";
import { getEncryptedBytes } from "../../../lib/blob-cipher";
import { createBufferCollector } from "../../../lib/collect-buffers";
import { readInto } from "../../../lib/file-bytes";
import { mapInOrder } from "../../../lib/map-in-order";
import { findBackup } from "../backup-folder";
import { createStoredFiles, type StoredFiles } from "../backup-writer";
import { type FoundFile, openFound } from "../find-files";
import { BLOB_PLACE, isIntact, type Repository, type StoredBlob } from "./repository";

/** Hashing and encrypting one takes a few milliseconds, in which the server does not respond. */
export const BLOB_BYTES = 4 * 1024 * 1024;
/** Blobs to send concurrently: many small ones, or two of full size, which are copied in memory. */
const MAX_SENT = 16;
const MAX_SENT_BYTES = 2 * BLOB_BYTES;

export function createUpload(repository: Repository, folders: Folders, signal: AbortSignal) {
  const { cipher } = repository;
  const collect = createBufferCollector();
  /** MD5 of the objects that were sent, and sizes of the contents of all blobs of the backup, by their names. */
  const sent = new Map<string, string>();
  const needed = new Map<string, number>();

  async function send(content: Uint8Array, existing: Map<string, StoredBlob>) {
    const name = cipher.nameOf(content);
    if (isIntact(existing.get(name), content.length)) return { name, isNew: false };
    // The same content may follow before it is sent. If sending fails, the whole backup fails.
    existing.set(name, { bytes: getEncryptedBytes(content.length), etag: "", isDamaged: false });
    // The server responds between two steps.
    await Bun.sleep(0);
    const object = cipher.encrypt(content, BLOB_PLACE);
    await Bun.sleep(0);
    sent.set(name, createHash("md5").update(object).digest("hex"));
    await repository.putBlob(name, object, signal);
    collect(object.length);
    return { name, isNew: true };
  }

  function addStored(report: StoredFiles, stored: OffsiteFile, isSent: boolean): void {
    for (const [index, name] of stored.blobs.entries()) needed.set(name, getBlobBytes(stored, index, BLOB_BYTES));
    report.stored.push(stored);
    if (isEssential(stored.path)) return;
    if (isSent) report.copied_files++;
    else report.linked_files++;
  }

  return {
    /** Errors: those of the bucket and of the file system; the signal's reason. */
    store: async (files: readonly FoundFile[], hold: TrashHold) => {
      const existing = await repository.listBlobs(signal);
      const previous = await findBackup(repository.listManifests(signal), { hasMedia: true });
      const report = createStoredFiles();
      const findUnchanged = createComparison(previous?.manifest ?? null, existing);
      const buffers = createBuffers();
      const reading = { partBytes: BLOB_BYTES, allocate: buffers.allocate, findUnchanged };
      const parts = readParts(files, reading, { folders, hold }, signal);
      const limits = { width: MAX_SENT, maxCost: MAX_SENT_BYTES, toCost: countBytes };
      const results = mapInOrder(parts, limits, async (part) => {
        if (part.kind !== "part") return part;
        const { name, isNew } = await send(part.content, existing);
        buffers.release(part.content);
        return { kind: part.kind, name, sentBytes: isNew ? part.content.length : 0 };
      });
      let blobs: string[] = [];
      let sentBytes = 0;
      for await (const result of results) {
        if (result.kind === "missing") report.missing.push(result.path);
        else if (result.kind === "unchanged") addStored(report, result.stored, false);
        else if (result.kind === "part") {
          blobs.push(result.name);
          sentBytes += result.sentBytes;
        } else {
          addStored(report, { ...result.stored, blobs }, sentBytes > 0);
          if (!isEssential(result.stored.path)) report.copied_bytes += sentBytes;
          [blobs, sentBytes] = [[], 0];
        }
      }
      return report;
    },
    /**
     * Compares all blobs of the backup with those in the bucket. Returns how many damaged ones it has replaced. Errors:
     * `upstream_error` when the bucket lacks or changed some.
     */
    verify: () => verifyUpload(repository, { needed, sent }, signal),
  };
}

const countBytes = (part: ReadPart): number => (part.kind === "part" ? part.content.length : 0);

/** Buffers of full size are reused: garbage collection is too rare to free those of a large file. */
function createBuffers() {
  const free: Uint8Array<ArrayBuffer>[] = [];
  return {
    allocate: (bytes: number) => (bytes === BLOB_BYTES ? free.pop() : undefined) ?? new Uint8Array(bytes),
    release: (buffer: Uint8Array<ArrayBuffer>) => {
      if (buffer.length === BLOB_BYTES) free.push(buffer);
    },
  };
}

/**
 * Returns a function that returns the blobs of a file if it did not change since the previous backup and its blobs
 * exist, otherwise null.
 */
function createComparison(
  previous: OffsiteManifest | null,
  existing: Map<string, StoredBlob>,
): (file: FoundFile) => OffsiteFile | null {
  if (previous?.blob_bytes !== BLOB_BYTES) return () => null;
  const known = new Map(previous.files.map((file) => [file.path, file]));
  return (file) => {
    const before = known.get(file.path);
    if (before?.bytes !== file.bytes || before.modified_at !== file.modified_at || isEssential(file.path)) return null;
    const isComplete = before.blobs.every((name, index) =>
      isIntact(existing.get(name), getBlobBytes(before, index, BLOB_BYTES)),
    );
    return isComplete ? before : null;
  };
}

async function verifyUpload(
  repository: Repository,
  { needed, sent }: { needed: Map<string, number>; sent: Map<string, string> },
  signal: AbortSignal,
): Promise<number> {
  const found = await repository.listBlobs(signal);
  const isStored = async (name: string, bytes: number): Promise<boolean> => {
    const object = found.get(name);
    if (object?.bytes !== getEncryptedBytes(bytes)) return false;
    const md5 = sent.get(name);
    if (md5 === undefined || object.etag === md5) return true;
    // The tag of an object that the bucket encrypts with a key of its own is not the MD5: the object is read.
    return (await repository.getBlob(name, bytes, signal)) instanceof Uint8Array;
  };
  const damaged: string[] = [];
  for (const [name, bytes] of needed) if (!(await isStored(name, bytes))) damaged.push(name);
  if (damaged.length === 0) {
    const replaced = [...sent.keys()].filter((name) => found.get(name)?.isDamaged);
    for (const name of replaced) await repository.markBlob(name, false, signal);
    return replaced.length;
  }
  // The next backup would consider a blob of the right size intact.
  for (const name of damaged) if (sent.has(name)) await repository.deleteBlob(name, signal);
  throw new AppError("upstream_error", `${repository.url} did not store ${damaged.length} of ${needed.size} blobs.`);
}

/** `unchanged`: its blobs are known. A file to read has parts, in order, and then `end`. */
type ReadPart =
  | { kind: "unchanged"; stored: OffsiteFile }
  | { kind: "missing"; path: string }
  | { kind: "part"; content: Uint8Array<ArrayBuffer> }
  | { kind: "end"; stored: BackupFile };

/** `allocate` returns a buffer of a size, which the reader fills and yields. */
type ReadOptions = {
  partBytes: number;
  allocate(bytes: number): Uint8Array<ArrayBuffer>;
  findUnchanged(file: FoundFile): OffsiteFile | null;
};

/**
 * Reads files up to the sizes that they have when they are opened. Errors: those of the file system; the signal's
 * reason.
 */
async function* readParts(
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
        if ((await readInto(handle, content, done)).length < content.length)
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
