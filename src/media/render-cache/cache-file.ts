/**
 * The cache of a recording's renders: encoded splices and audio chunks in one file. A render reads the file of the
 * earlier ones and writes a new one. Entries are checked when they are read, so a damaged file costs time but never a
 * wrong frame.
 */

import { type FileHandle, open, rm } from "node:fs/promises";
import { readInto, writeAll } from "../../lib/file-bytes";
import { createSemaphore } from "../../lib/semaphore";

export type RenderCache = Awaited<ReturnType<typeof openRenderCache>>;

/** `path` is null without an earlier file. `newPath` must not exist. */
export type RenderCacheFiles = { path: string | null; newPath: string; maxBytes: number };

/** Contents start after the magic number. The index and the trailer follow the last one. */
type CacheEntry = { key: string; at: number; bytes: number; hash: string };

/** Changes with the format of the file or of its entries. */
const MAGIC = new TextEncoder().encode("OCRC0001");
const HASH_CHARACTERS = 32;
/** Length and hash of the index, and the magic number again. */
const TRAILER_BYTES = 4 + HASH_CHARACTERS / 2 + MAGIC.length;
const MAX_INDEX_BYTES = 8 * 1024 ** 2;
/** Brackets, and what an entry adds: names, key, hash, a comma and two numbers. */
const EMPTY_INDEX_BYTES = 2;
const MAX_INDEX_ENTRY_BYTES = 160;
const MAX_ENTRY_BYTES = 64 * 1024 ** 2;
const KEY = /^[0-9a-f]{24}$/;

/** Opens the cache of a recording. A file that is not a cache of this format counts as empty. */
export async function openRenderCache({ path, newPath, maxBytes }: RenderCacheFiles) {
  const source = path === null ? null : await open(path, "r").catch(() => null);
  const earlier = new Map((source === null ? [] : await readIndex(source)).map((entry) => [entry.key, entry]));
  const found = new Set<string>();
  const added: CacheEntry[] = [];
  const turns = createSemaphore(1);
  let target: FileHandle | null = null;
  let end = MAGIC.length;
  let indexBytes = EMPTY_INDEX_BYTES;
  let isBroken = false;
  let isSaved = false;

  /** Appends to the new file. After an error, such as a full disk, no new file is kept. */
  async function append(bytes: Uint8Array): Promise<void> {
    try {
      if (target === null) {
        target = await open(newPath, "wx", 0o600);
        await writeAll(target, MAGIC, 0);
      }
      await writeAll(target, bytes, end);
      end += bytes.length;
    } catch {
      isBroken = true;
    }
  }

  const hasRoom = (bytes: number): boolean =>
    end + bytes + indexBytes + MAX_INDEX_ENTRY_BYTES + TRAILER_BYTES <= maxBytes &&
    indexBytes + MAX_INDEX_ENTRY_BYTES <= MAX_INDEX_BYTES;

  const countFoundBytes = (): number =>
    [...found].reduce((sum, key) => sum + (earlier.get(key)?.bytes ?? 0) + MAX_INDEX_ENTRY_BYTES, 0);

  async function addEntry(entry: Omit<CacheEntry, "at">, content: Uint8Array): Promise<void> {
    if (isBroken || !hasRoom(content.length)) return;
    const at = end;
    await append(content);
    if (isBroken) return;
    added.push({ ...entry, at });
    indexBytes += MAX_INDEX_ENTRY_BYTES;
  }

  async function writeIndex(): Promise<void> {
    const index = new TextEncoder().encode(JSON.stringify(added));
    const trailer = new Uint8Array(TRAILER_BYTES);
    new DataView(trailer.buffer).setUint32(0, index.length);
    trailer.set(Buffer.from(hash(index), "hex"), 4);
    trailer.set(MAGIC, TRAILER_BYTES - MAGIC.length);
    await append(index);
    await append(trailer);
    // Data that `reset` dropped may extend beyond the end.
    await target?.truncate(end).catch(() => {
      isBroken = true;
    });
  }

  /**
   * Writes the new file if entries were added: those of this render, then earlier ones while there is room. Returns
   * whether it did.
   */
  async function save(): Promise<boolean> {
    if (added.length === 0) return false;
    const kept = new Set(added.map(({ key }) => key));
    // The order of use: an entry that no render has used for long is the first one without room.
    const others = [...earlier.values()].filter(({ key }) => !kept.has(key));
    for (const entry of [
      ...others.filter(({ key }) => found.has(key)),
      ...others.filter(({ key }) => !found.has(key)),
    ]) {
      if (!hasRoom(entry.bytes)) continue;
      const content = source === null ? null : await readAt(source, entry.at, entry.bytes);
      if (content !== null) await addEntry(entry, content);
    }
    await writeIndex();
    isSaved = !isBroken;
    return isSaved;
  }

  return {
    /** Returns the content of an entry; null if it is missing or damaged. */
    find: async (key: string): Promise<Uint8Array | null> => {
      const entry = earlier.get(key);
      const content = entry === undefined || source === null ? null : await readAt(source, entry.at, entry.bytes);
      if (entry === undefined || content === null || hash(content) !== entry.hash) {
        earlier.delete(key);
        return null;
      }
      found.add(key);
      return content;
    },
    /** Adds an entry. It is lost when the disk is full. */
    add: (key: string, content: Uint8Array): Promise<void> =>
      turns.run(undefined, async () => {
        if (content.length > MAX_ENTRY_BYTES || added.some((entry) => entry.key === key)) return;
        // Entries that this render uses stay.
        if (!hasRoom(content.length + countFoundBytes())) return;
        await addEntry({ key, bytes: content.length, hash: hash(content) }, content);
      }),
    /** Number of entries that were found since the last `reset`. */
    hits: () => found.size,
    /** Drops the added entries and finds nothing from now on: a render failed with the entries that it found. */
    reset: (): Promise<void> =>
      turns.run(undefined, async () => {
        earlier.clear();
        found.clear();
        added.length = 0;
        end = MAGIC.length;
        indexBytes = EMPTY_INDEX_BYTES;
      }),
    save: (): Promise<boolean> => turns.run(undefined, save),
    /**
     * Closes both files. Removes the new one unless it was saved. A render that was stopped may still add entries,
     * which are lost.
     */
    close: (): Promise<void> =>
      turns.run(undefined, async () => {
        isBroken = true;
        await source?.close().catch(() => {});
        await target?.close().catch(() => {});
        if (!isSaved) await rm(newPath, { force: true });
      }),
  };
}

const hash = (bytes: Uint8Array): string =>
  new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, HASH_CHARACTERS);

/** Returns the entries of a file; none if it is truncated, damaged or of another format. */
async function readIndex(file: FileHandle): Promise<CacheEntry[]> {
  const { size } = await file.stat();
  const trailerAt = size - TRAILER_BYTES;
  const trailer = await readAt(file, trailerAt, TRAILER_BYTES);
  const magic = await readAt(file, 0, MAGIC.length);
  if (trailer === null || magic === null || !isMagic(magic) || !isMagic(trailer.subarray(-MAGIC.length))) return [];
  const length = new DataView(trailer.buffer).getUint32(0);
  const indexAt = trailerAt - length;
  if (length > MAX_INDEX_BYTES || indexAt < MAGIC.length) return [];
  const index = await readAt(file, indexAt, length);
  if (index === null || hash(index) !== Buffer.from(trailer.subarray(4, -MAGIC.length)).toString("hex")) return [];
  const entries = parseJson(new TextDecoder().decode(index));
  return Array.isArray(entries) ? entries.filter((entry) => isEntry(entry, indexAt)) : [];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The index has a correct hash, but a hijacked process may have written it. */
function isEntry(value: unknown, end: number): value is CacheEntry {
  const { key, at, bytes, hash } = (value ?? {}) as Record<keyof CacheEntry, unknown>;
  if (typeof key !== "string" || !KEY.test(key) || typeof hash !== "string") return false;
  return isCount(at) && isCount(bytes) && bytes <= MAX_ENTRY_BYTES && at >= MAGIC.length && at + bytes <= end;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const isMagic = (bytes: Uint8Array): boolean => Buffer.compare(bytes, MAGIC) === 0;

/** Returns the bytes at a position; null if the file ends before them or cannot be read. */
async function readAt(file: FileHandle, at: number, length: number): Promise<Uint8Array | null> {
  if (at < 0 || length < 0) return null;
  const bytes = await readInto(file, new Uint8Array(length), at).catch(() => null);
  return bytes?.length === length ? bytes : null;
}
