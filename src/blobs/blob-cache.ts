/**
 * Files of the head on a worker, kept for the next execution that reads them. A file is named by the key of its
 * content. It is fetched in parts, several at a time, and its complete parts survive a broken connection and the end of
 * the process. Unused files are removed when the cache is too large or the disk is full, the least recently used first.
 */
import { mkdirSync, renameSync } from "node:fs";
import { mkdir, open, rename, rm, stat, truncate, utimes } from "node:fs/promises";
import { join } from "node:path";
import { flushFile } from "../lib/atomic-file";
import type { DiskReserve } from "../lib/disk-reserve";
import { ignoreMissing } from "../lib/error-codes";
import { findFileSize } from "../lib/file-size";
import { sha256 } from "../lib/hash";
import { isUuid, newId } from "../lib/ids";
import { createSemaphore, type Semaphore } from "../lib/semaphore";
import { createFullDiskError, createPartialBlob, fetchParts, type PartialBlob, type ReadRange } from "./fetch-parts";
import { listNames } from "./trash";

/**
 * `name` is a plain file name. Equal keys are equal bytes. `modifiedAt` in whole seconds since 1970. `asset`: the UUID
 * of the recording to which it belongs.
 */
export type CachedFile = { key: string; name: string; bytes: number; modifiedAt: number; asset: string };

/** A file that is not removed before `release` is called. */
export type CachedBlob = { path: string; release(): void };

type Entry = {
  id: string;
  asset: string;
  isForgotten: boolean;
  /** Bytes on the disk, or about to be written. */
  bytes: number;
  lastUsedAt: number;
  users: number;
  /** One download at a time. */
  lock: Semaphore;
  /** The file of an entry with missing parts; null for complete entries. */
  partial: Promise<PartialBlob> | null;
};

const PART_BYTES = 8 * 1024 * 1024;
/** Shared by all downloads. */
const MAX_PARTS_IN_MEMORY = 8;
const PART_EXTENSION = ".part";
/** Suffix of the ID of an entry with missing parts. After a restart, it is unknown which parts are missing. */
const PARTIAL_SUFFIX = "_partial";
const TRASH = "trash";

/** Opens the cache in a folder. Files of an earlier process are kept, except those that it was about to remove. */
export async function openBlobCache(options: {
  folder: string;
  maxBytes: number;
  disk: Pick<DiskReserve, "availableBytes" | "claim">;
  partBytes?: number;
}) {
  const { folder, maxBytes, disk, partBytes = PART_BYTES } = options;
  const entries = new Map<string, Entry>();
  const trash = join(folder, TRASH);
  const permits = createSemaphore(MAX_PARTS_IN_MEMORY);
  await rm(trash, { recursive: true, force: true });
  await mkdir(trash, { recursive: true });
  for (const id of await listNames(folder)) {
    if (id === TRASH) continue;
    const asset = id.endsWith(PARTIAL_SUFFIX) ? null : findAssetOf(id);
    const found = asset === null ? null : await readEntry(join(folder, id));
    if (asset === null || found === null) await rm(join(folder, id), { recursive: true, force: true });
    else entries.set(id, { ...createEntry(id, asset), ...found });
  }
  // The folder may come from a configuration with a larger cache.
  evict(() => countBytes() > maxBytes);

  function countBytes(counts: (entry: Entry) => boolean = () => true): number {
    return [...entries.values()].filter(counts).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Removes unused entries, the least recently used first, while `isNeeded`. */
  function evict(isNeeded: () => boolean): void {
    const unused = [...entries.values()].filter((entry) => entry.users === 0);
    unused.sort((a, b) => a.lastUsedAt - b.lastUsedAt);
    for (const entry of unused) {
      if (!isNeeded()) return;
      remove(entry);
    }
  }

  /**
   * The folder disappears immediately, because the same file may be fetched again while the old one is being removed.
   */
  function remove(entry: Entry): void {
    const target = join(trash, newId());
    mkdirSync(trash, { recursive: true });
    entries.delete(entry.id);
    try {
      renameSync(join(folder, entry.id), target);
    } catch (error) {
      ignoreMissing(error);
    }
    // The next start removes files that cannot be removed now.
    void rm(target, { recursive: true, force: true }).catch(() => {});
  }

  /** Removes unused files until `bytes` are free above the disk reserve. Returns whether they are. */
  function makeRoom(bytes: number): boolean {
    evict(() => disk.availableBytes() < bytes);
    return disk.availableBytes() >= bytes;
  }

  function claim(bytes: number): void {
    if (disk.claim(bytes) || (makeRoom(bytes) && disk.claim(bytes))) return;
    throw createFullDiskError();
  }

  async function fetchFile(entry: Entry, file: CachedFile, read: ReadRange, signal: AbortSignal): Promise<void> {
    const path = join(folder, entry.id, file.name);
    if ((await findFileSize(path)) === file.bytes) return;
    await rm(path, { force: true });
    const part = path + PART_EXTENSION;
    await mkdir(join(folder, entry.id), { recursive: true });
    const done = await prepareInPart(part, file.bytes, partBytes);
    entry.bytes = file.bytes;
    evict(() => countBytes() > maxBytes);
    if (!makeRoom(file.bytes - done)) throw createFullDiskError();
    await fetchParts(part, { from: done, to: file.bytes, partBytes }, { read, claim, permits, signal });
    await utimes(part, new Date(), new Date(file.modifiedAt * 1000));
    await flushFile(part);
    await rename(part, path);
  }

  async function createPartial(entry: Entry, { name, bytes }: CachedFile): Promise<PartialBlob> {
    await mkdir(join(folder, entry.id), { recursive: true });
    return createPartialBlob(join(folder, entry.id, name), { bytes, partBytes }, (added, isRepeated) => {
      claim(added);
      if (!isRepeated) entry.bytes += added;
      evict(() => countBytes() > maxBytes);
    });
  }

  /** Keeps the entry of a file until `release`. `suffix` is that of its ID. */
  function hold({ asset, key, name, bytes }: CachedFile, suffix = ""): { entry: Entry; release(): void } {
    const id = `${asset}_${sha256(JSON.stringify([key, name, bytes]))}${suffix}`;
    const entry = entries.get(id) ?? createEntry(id, asset);
    entries.set(id, entry);
    entry.users++;
    const release = once(() => {
      entry.users--;
      entry.lastUsedAt = Date.now();
      // Nothing was fetched, or the file is no longer needed.
      if (entry.users === 0 && (entry.bytes === 0 || entry.isForgotten)) remove(entry);
      evict(() => countBytes() > maxBytes);
    });
    return { entry, release };
  }

  return {
    makeRoom,
    /** Returns how many bytes the unused files have, which are removed when the space is needed. */
    unusedBytes: () => countBytes(({ users }) => users === 0),
    listAssets: () => [...new Set([...entries.values()].map((entry) => entry.asset))],
    /** Removes all files of an asset: those in use when they are released. */
    forget: (asset: string) => {
      for (const entry of entries.values()) {
        if (entry.asset !== asset) continue;
        entry.isForgotten = true;
        if (entry.users === 0) remove(entry);
      }
    },
    /**
     * Returns the file after fetching its missing parts. Errors: those of `read`; an `Error` with the code `ENOSPC`
     * when it does not fit on the disk; a plain `Error` when `read` ends early or returns too much; the signal's reason
     * when aborted.
     */
    acquire: async (file: CachedFile, read: ReadRange, signal: AbortSignal) => {
      const { entry, release } = hold(file);
      try {
        const path = join(folder, entry.id, file.name);
        await entry.lock.run(signal, () => fetchFile(entry, file, read, signal));
        entry.lastUsedAt = Date.now();
        // The time of the last use survives as the access time.
        await utimes(path, new Date(), new Date(file.modifiedAt * 1000));
        const partial = entries.get(entry.id + PARTIAL_SUFFIX);
        if (partial?.users === 0) remove(partial);
        return { path, release };
      } catch (error) {
        // Only the fetched parts use disk space.
        if (entry.users === 1) entry.bytes = (await readEntry(join(folder, entry.id)))?.bytes ?? 0;
        release();
        throw error;
      }
    },
    /**
     * Returns the file without fetching anything; `parts` null: it is complete. Missing parts are fetched by the
     * caller, and are lost at the end of the process.
     */
    acquireParts: async (file: CachedFile) => {
      const whole = hold(file);
      const path = join(folder, whole.entry.id, file.name);
      // A file that cannot be read is fetched again.
      const size = await findFileSize(path).catch(() => null);
      if (size === file.bytes) return { path, partBytes, parts: null, release: whole.release };
      whole.release();
      const { entry, release } = hold(file, PARTIAL_SUFFIX);
      try {
        entry.partial ??= createPartial(entry, file);
        const parts = await entry.partial;
        return { path: parts.path, partBytes, parts, release };
      } catch (error) {
        entry.partial = null;
        release();
        throw error;
      }
    },
  };
}

export type BlobCache = Awaited<ReturnType<typeof openBlobCache>>;

const createEntry = (id: string, asset: string): Entry => ({
  id,
  asset,
  isForgotten: false,
  bytes: 0,
  lastUsedAt: 0,
  users: 0,
  lock: createSemaphore(1),
  partial: null,
});

/** Returns the asset that a name begins with, as those of folders here and of work folders do; null without one. */
export function findAssetOf(name: string): string | null {
  const [asset = ""] = name.split("_");
  return isUuid(asset) && name.length > asset.length ? asset : null;
}

/** Returns a function that acts only once. */
function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) run();
    isDone = true;
  };
}

/**
 * Reads what a folder of the cache has: a file, or the beginning of one; null for anything else, such as the files with
 * holes of older versions.
 */
async function readEntry(path: string): Promise<{ bytes: number; lastUsedAt: number } | null> {
  const names = await listNames(path).catch(() => []);
  if (names.length !== 1 || names[0]!.endsWith(".partial")) return null;
  const found = await stat(join(path, names[0]!)).catch(() => null);
  return found?.isFile() ? { bytes: found.size, lastUsedAt: found.atimeMs } : null;
}

/**
 * Creates the file, or shortens it to its last complete part: after a power failure, later bytes may be missing.
 * Returns its size.
 */
async function prepareInPart(path: string, bytes: number, partBytes: number): Promise<number> {
  const size = await findFileSize(path);
  if (size === null) {
    await (await open(path, "w", 0o600)).close();
    return 0;
  }
  const complete = size > bytes ? 0 : size - (size % partBytes);
  if (complete !== size) await truncate(path, complete);
  return complete;
}
