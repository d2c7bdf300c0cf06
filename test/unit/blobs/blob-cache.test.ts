/** The files of the head on a worker: fetched once, in parts, bounded, and complete or absent whatever happens. */
import { expect, test } from "bun:test";
import { appendFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BlobCache, type CachedFile, openBlobCache } from "../../../src/blobs/blob-cache";
import type { ReadRange } from "../../../src/blobs/fetch-parts";
import { newId } from "../../../src/lib/ids";
import { sleep } from "../../../src/lib/sleep";
import { temporaryFolder } from "../../temporary-folder";

const PART_BYTES = 10;
const never = new AbortController().signal;
const disk = { availableBytes: () => 1e9, claim: (_bytes: number) => true };

const openCache = (folder: string, maxBytes = 1_000, space: typeof disk = disk) =>
  openBlobCache({ folder, maxBytes, disk: space, partBytes: PART_BYTES });

const [ASSET, OTHER_ASSET] = [newId(), newId()];
const toFile = (key: string, bytes = 25, asset = ASSET): CachedFile => ({
  key,
  name: `${key}.bin`,
  bytes,
  modifiedAt: 1_600_000_000,
  asset,
});
const contentOf = ({ key, bytes }: CachedFile) => Buffer.from(key.repeat(bytes).slice(0, bytes));

/**
 * A head that has the file, and notes which ranges are read. `failAt`: its connections break when they reach this
 * position.
 */
function serve(file: CachedFile, failAt = Number.POSITIVE_INFINITY): { read: ReadRange; ranges: [number, number][] } {
  const ranges: [number, number][] = [];
  const read: ReadRange = async function* ({ from, to }) {
    ranges.push([from, to]);
    for (let position = from; position < to; position += 4) {
      if (position + 4 > failAt) throw new Error("connection broken");
      yield contentOf(file).subarray(position, Math.min(position + 4, to));
    }
  };
  return { read, ranges };
}

/** Uses the file once and returns its path. */
async function useOnce(cache: BlobCache, file: CachedFile, read: ReadRange = serve(file).read): Promise<string> {
  const blob = await cache.acquire(file, read, never);
  blob.release();
  return blob.path;
}

const exists = (path: string) => Bun.file(path).exists();

test("a file is fetched in parts, once, and has the modification time of the head", async () => {
  await using folder = await temporaryFolder();
  const cache = await openCache(folder.path);
  const file = toFile("a");
  const { read, ranges } = serve(file);
  const paths = await Promise.all([useOnce(cache, file, read), useOnce(cache, file, read)]);
  expect(await readFile(paths[0]!)).toEqual(contentOf(file));
  expect((await stat(paths[0]!)).mtimeMs).toBe(file.modifiedAt * 1000);
  expect(paths[1]).toBe(paths[0]!);
  expect(ranges).toEqual([
    [0, 10],
    [10, 20],
    [20, 25],
  ]);
});

test("an empty file needs no request", async () => {
  await using folder = await temporaryFolder();
  const cache = await openCache(folder.path);
  const file = toFile("a", 0);
  const { read, ranges } = serve(file);
  const blob = await cache.acquire(file, read, never);
  expect((await stat(blob.path)).size).toBe(0);
  blob.release();
  expect(ranges).toEqual([]);
});

test("a broken download resumes at the last complete part, in this process and in the next", async () => {
  await using folder = await temporaryFolder();
  const file = toFile("a", 45);
  const first = await openCache(folder.path);
  await expect(useOnce(first, file, serve(file, 14).read)).rejects.toThrow("connection broken");
  const second = serve(file, 34);
  await expect(useOnce(first, file, second.read)).rejects.toThrow("connection broken");
  expect(second.ranges[0]).toEqual([10, 20]);
  // The process was killed: only the bytes on the disk are left.
  const next = await openCache(folder.path);
  const third = serve(file);
  expect(await readFile(await useOnce(next, file, third.read))).toEqual(contentOf(file));
  expect(third.ranges[0]).toEqual([30, 40]);
});

test("files that a killed process left half written are fetched again", async () => {
  await using folder = await temporaryFolder();
  const file = toFile("a", 45);
  const cache = await openCache(folder.path);
  await expect(useOnce(cache, file, serve(file, 14).read)).rejects.toThrow();
  const [id] = (await readdir(folder.path)).filter((name) => name !== "trash");
  await appendFile(join(folder.path, id!, `${file.name}.part`), "gar");
  const { read, ranges } = serve(file);
  expect(await readFile(await useOnce(await openCache(folder.path), file, read))).toEqual(contentOf(file));
  expect(ranges[0]).toEqual([10, 20]);
});

test("a file that was damaged is fetched again", async () => {
  await using folder = await temporaryFolder();
  const file = toFile("a", 30);
  const path = await useOnce(await openCache(folder.path), file);
  await writeFile(path, "short");
  expect(await readFile(await useOnce(await openCache(folder.path), file))).toEqual(contentOf(file));
});

test("a file of another size than announced is refused", async () => {
  await using folder = await temporaryFolder();
  const cache = await openCache(folder.path);
  const file = toFile("a");
  const longer: ReadRange = async function* () {
    yield Buffer.alloc(11);
  };
  const shorter: ReadRange = async function* () {
    yield Buffer.alloc(9);
  };
  await expect(useOnce(cache, file, longer)).rejects.toThrow("larger than announced");
  await expect(useOnce(cache, file, shorter)).rejects.toThrow("smaller than announced");
  expect(await readFile(await useOnce(cache, file))).toEqual(contentOf(file));
});

test("the least recently used files are removed above the limit, never those in use", async () => {
  await using folder = await temporaryFolder();
  const cache = await openCache(folder.path, 60);
  const held = await cache.acquire(toFile("a"), serve(toFile("a")).read, never);
  const second = await useOnce(cache, toFile("b"));
  await Bun.sleep(2);
  const third = await useOnce(cache, toFile("c"));
  expect(await Promise.all([held.path, second, third].map(exists))).toEqual([true, false, true]);
  // Larger than the whole cache: it stays while it is in use.
  const large = await cache.acquire(toFile("d", 100), serve(toFile("d", 100)).read, never);
  expect(await Promise.all([held.path, third, large.path].map(exists))).toEqual([true, false, true]);
  large.release();
  large.release();
  expect(await Promise.all([held.path, large.path].map(exists))).toEqual([true, false]);
  expect(cache.unusedBytes()).toBe(0);
  held.release();
  expect(cache.unusedBytes()).toBe(25);
});

test("the order of use survives a restart, and a smaller limit applies at once", async () => {
  await using folder = await temporaryFolder();
  const cache = await openCache(folder.path);
  const a = await useOnce(cache, toFile("a"));
  await Bun.sleep(5);
  const b = await useOnce(cache, toFile("b"));
  await Bun.sleep(5);
  await useOnce(cache, toFile("a"));
  await openCache(folder.path, 30);
  expect(await Promise.all([a, b].map(exists))).toEqual([true, false]);
});

test("a full disk removes unused files first, and is an error after that", async () => {
  await using folder = await temporaryFolder();
  let free = 30;
  const used = () => cache.unusedBytes();
  const space = { availableBytes: () => free - used(), claim: (bytes: number) => bytes <= free - used() };
  const cache: BlobCache = await openCache(folder.path, 1_000, space);
  const first = await useOnce(cache, toFile("a"));
  const second = await useOnce(cache, toFile("b"));
  expect(await Promise.all([first, second].map(exists))).toEqual([false, true]);
  free = 5;
  await expect(useOnce(cache, toFile("c"))).rejects.toMatchObject({ code: "ENOSPC" });
  expect(await exists(second)).toBe(false);
});

test("an aborted download leaves the others of the same file alone", async () => {
  await using folder = await temporaryFolder();
  const cache = await openCache(folder.path);
  const file = toFile("a");
  const abort = new AbortController();
  const stuck: ReadRange = async function* (_range, signal) {
    yield Buffer.alloc(0);
    await sleep(60_000, signal);
  };
  const aborted = cache.acquire(file, stuck, abort.signal);
  const other = useOnce(cache, file);
  abort.abort(new Error("cancelled"));
  await expect(aborted).rejects.toThrow("cancelled");
  expect(await readFile(await other)).toEqual(contentOf(file));
});

test("the files of a deleted recording are removed, at once or when they are no longer in use, also by the next process", async () => {
  await using folder = await temporaryFolder();
  const first = await openCache(folder.path);
  const kept = await useOnce(first, toFile("a", 25, OTHER_ASSET));
  const unused = await useOnce(first, toFile("b"));
  await expect(first.acquire(toFile("c"), serve(toFile("c"), 15).read, never)).rejects.toThrow("broken");
  const cache = await openCache(folder.path);
  expect(cache.listAssets().toSorted()).toEqual([ASSET, OTHER_ASSET].toSorted());
  const held = await cache.acquire(toFile("d"), serve(toFile("d")).read, never);
  cache.forget(ASSET);
  expect([await exists(unused), await exists(held.path), await exists(kept)]).toEqual([false, true, true]);
  held.release();
  expect(await exists(held.path)).toBe(false);
  expect(cache.listAssets()).toEqual([OTHER_ASSET]);
  expect((await readdir(folder.path)).filter((name) => name.startsWith(ASSET))).toEqual([]);
});

test("a folder that is not part of the cache is removed at the start", async () => {
  await using folder = await temporaryFolder();
  await Bun.write(join(folder.path, "strange", "a"), "1");
  await Bun.write(join(folder.path, "strange", "b"), "2");
  await Bun.write(join(folder.path, "trash", "c"), "3");
  await openCache(folder.path);
  expect(await readdir(folder.path)).toEqual(["trash"]);
  expect(await readdir(join(folder.path, "trash"))).toEqual([]);
});
