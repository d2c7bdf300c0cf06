/** A file of the head of which a worker has only some parts. */
import { expect, test } from "bun:test";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { openBlobCache } from "../../../src/blobs/blob-cache";
import type { ReadRange } from "../../../src/blobs/fetch-parts";
import { temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";

const CONTENT = Buffer.from(Array.from({ length: 95 }, (_, n) => n + 1));
const FILE = {
  asset: "0190aaaa-0000-7000-8000-000000000002",
  key: "k",
  name: "source",
  bytes: CONTENT.length,
  modifiedAt: 1_600_000_000,
};
const never = new AbortController().signal;
const disk = { availableBytes: () => 1e9, claim: () => true };
const openCache = (folder: string, maxBytes = 1_000) => openBlobCache({ folder, maxBytes, disk, partBytes: 10 });

/** A head that notes which parts are read. `gate` is waited for before each. */
function serve(gate: (signal: AbortSignal) => Promise<void> = async () => {}) {
  const parts: number[] = [];
  const read: ReadRange = async function* ({ from, to }, signal) {
    parts.push(from / 10);
    await gate(signal);
    yield CONTENT.subarray(from, to);
  };
  return { parts, read };
}

test("parts are fetched once, and the others are holes", async () => {
  await using folder = await temporaryFolder();
  const cache = await openCache(folder.path);
  const { read, parts } = serve();
  const blob = await cache.acquireParts(FILE);
  await Promise.all([
    blob.parts!.fetch({ first: 8, last: 9 }, read, never),
    blob.parts!.fetch({ first: 9, last: 9 }, read, never),
  ]);
  await blob.parts!.fetch({ first: 2, last: 3 }, read, never);
  expect(parts.toSorted()).toEqual([2, 3, 8, 9]);
  const found = await readFile(blob.path);
  expect(found.length).toBe(95);
  expect(found.subarray(20, 40)).toEqual(CONTENT.subarray(20, 40));
  expect(found.subarray(80)).toEqual(CONTENT.subarray(80));
  expect(found.subarray(40, 80)).toEqual(Buffer.alloc(40));
  for (const [first, last] of [
    [-1, 2],
    [3, 2],
    [0, 10],
    [0.5, 1],
    [0, Number.POSITIVE_INFINITY],
  ] as const)
    await expect(blob.parts!.fetch({ first, last }, read, never)).rejects.toThrow("no such parts");
  blob.release();
  blob.release();
  expect(cache.unusedBytes()).toBe(35);
});

test("a caller that waits for a part continues when the one that fetches it gives up", async () => {
  await using folder = await temporaryFolder();
  const cache = await openCache(folder.path);
  const blob = await cache.acquireParts(FILE);
  const stuck = serve(
    (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );
  const stop = new AbortController();
  const first = blob
    .parts!.fetch({ first: 0, last: 1 }, stuck.read, stop.signal)
    .catch((error: Error) => error.message);
  await until("the first reads", () => stuck.parts.length === 2);
  const { read, parts } = serve();
  const second = blob.parts!.fetch({ first: 0, last: 1 }, read, never);
  stop.abort(new Error("cancelled"));
  expect(await first).toBe("cancelled");
  await second;
  expect([parts.toSorted(), (await readFile(blob.path)).subarray(0, 20)]).toEqual([[0, 1], CONTENT.subarray(0, 20)]);
});

test("a part of another size fails, is fetched again, and counts once", async () => {
  await using folder = await temporaryFolder();
  const cache = await openCache(folder.path);
  const blob = await cache.acquireParts(FILE);
  const short: ReadRange = async function* () {
    yield Buffer.alloc(3);
  };
  await expect(blob.parts!.fetch({ first: 4, last: 4 }, short, never)).rejects.toThrow("smaller than announced");
  await blob.parts!.fetch({ first: 4, last: 4 }, serve().read, never);
  expect((await readFile(blob.path)).subarray(40, 50)).toEqual(CONTENT.subarray(40, 50));
  blob.release();
  expect(cache.unusedBytes()).toBe(10);
});

test("the complete file replaces it, and a restart removes it", async () => {
  await using folder = await temporaryFolder();
  const cache = await openCache(folder.path);
  const partial = await cache.acquireParts(FILE);
  await partial.parts!.fetch({ first: 0, last: 0 }, serve().read, never);
  const whole = await cache.acquire(FILE, serve().read, never);
  expect(await readFile(whole.path)).toEqual(CONTENT);
  expect((await stat(partial.path)).size).toBe(95);
  expect((await cache.acquireParts(FILE)).parts).toBeNull();
  await openCache(folder.path);
  expect(await readdir(dirname(whole.path))).toEqual(["source"]);
});

test("it is removed with the unused files, and counts with its fetched parts", async () => {
  await using folder = await temporaryFolder();
  const cache = await openCache(folder.path, 15);
  const blob = await cache.acquireParts(FILE);
  await blob.parts!.fetch({ first: 0, last: 2 }, serve().read, never);
  expect((await stat(blob.path)).size).toBe(95);
  blob.release();
  expect([await Bun.file(blob.path).exists(), cache.unusedBytes()]).toEqual([false, 0]);
});
