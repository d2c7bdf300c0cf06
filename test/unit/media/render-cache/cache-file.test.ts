import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRenderCache } from "../../../../src/media/render-cache/cache-file";
import { formatSplice, parseSplice, type SplicePacket } from "../../../../src/media/render-cache/splice-entries";

let folder = "";
let path = "";
let newPath = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "offcut-render-cache-"));
  path = join(folder, "render.cache");
  newPath = join(folder, "new");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const toKey = (n: number) => String(n).padStart(24, "0");
const toContent = (n: number) => Uint8Array.from({ length: 50 + n }, (_, at) => (at * 31 + n) & 255);

/** Returns the path that a descriptor of this process has open; null if it was closed in the meantime. */
function findTarget(fd: string): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return null;
  }
}

/** Renders with the cache: looks up these entries, and adds those that are missing. Returns those that were found. */
async function use(numbers: readonly number[], maxBytes = 1_000_000): Promise<number[]> {
  const cache = await openRenderCache({ path, newPath, maxBytes });
  const found: number[] = [];
  for (const n of numbers) {
    const content = await cache.find(toKey(n));
    if (content === null) await cache.add(toKey(n), toContent(n));
    else {
      expect(content).toEqual(toContent(n));
      found.push(n);
    }
  }
  if (await cache.save()) await rename(newPath, path);
  await cache.close();
  expect(await Bun.file(newPath).exists()).toBe(false);
  return found;
}

describe("the file of a render cache", () => {
  test("has the entries of earlier renders", async () => {
    expect(await use([1, 2, 3])).toEqual([]);
    expect(await use([2, 4])).toEqual([2]);
    expect(await use([1, 2, 3, 4])).toEqual([1, 2, 3, 4]);
  });

  test("is not written again without a new entry", async () => {
    await use([1, 2]);
    const { lastModified } = Bun.file(path);
    await use([1]);
    expect(Bun.file(path).lastModified).toBe(lastModified);
  });

  test("stays within its bound: what no render has used for the longest time goes first", async () => {
    await use([1, 2, 3]);
    // Room for three entries and their index.
    await use([4, 1], 8 + 170 + 500 + 28);
    expect(await use([1, 2, 3, 4])).toEqual([1, 2, 4]);
    expect(await use([5], 20)).toEqual([]);
    expect(await use([5])).toEqual([]);
  });

  test("keeps what a render uses when there is no room for what it adds", async () => {
    await use([1, 2, 3]);
    expect(await use([1, 2, 3, 4, 5], 8 + 170 + 500 + 28)).toEqual([1, 2, 3]);
    expect(await use([1, 2, 3, 4, 5])).toEqual([1, 2, 3]);
  });

  test("is never larger than its bound, index included, and keeps what fits", async () => {
    const numbers = Array.from({ length: 30 }, (_, n) => n);
    for (let maxBytes = 0; maxBytes < 6_000; maxBytes += 37) {
      await rm(path, { force: true });
      await use(numbers, maxBytes);
      const { size } = Bun.file(path);
      expect(size).toBeLessThanOrEqual(maxBytes);
      if (maxBytes > 500) expect((await use(numbers, 0)).length).toBeGreaterThan(maxBytes / 500);
    }
  });

  test("of a hijacked process is empty, or has only its correct entries", async () => {
    await use([1]);
    const good = await Bun.file(path).bytes();
    const indexAt = good.length - 28 - new DataView(good.buffer).getUint32(good.length - 28);
    const [entry] = JSON.parse(new TextDecoder().decode(good.subarray(indexAt, -28)));
    for (const index of [
      "null",
      "{}",
      "7",
      "[",
      JSON.stringify([null, 1, {}, { ...entry, at: "8" }, { ...entry, at: -8 }, { ...entry, bytes: 0.5 }]),
      JSON.stringify([
        { ...entry, key: [entry.key] },
        { ...entry, bytes: 2 ** 53 },
        { ...entry, hash: null },
      ]),
    ]) {
      const text = new TextEncoder().encode(index);
      const trailer = good.slice(-28);
      new DataView(trailer.buffer).setUint32(0, text.length);
      trailer.set(new Bun.CryptoHasher("sha256").update(text).digest().subarray(0, 16), 4);
      await Bun.write(path, Buffer.concat([good.subarray(0, indexAt), text, trailer]));
      const cache = await openRenderCache({ path, newPath, maxBytes: 1_000_000 });
      expect(await cache.find(toKey(1))).toBeNull();
      await cache.add(toKey(2), toContent(2));
      expect(await cache.save()).toBe(true);
      await cache.close();
      await rename(newPath, path);
      expect(await use([2])).toEqual([2]);
    }
  });

  test("never returns a damaged entry, wherever a byte is changed or the file ends", async () => {
    await use([1, 2, 3]);
    const good = await Bun.file(path).bytes();
    for (let at = 0; at < good.length; at++) {
      const changed = good.slice();
      changed[at] = changed[at]! ^ (1 << (at % 8));
      for (const bytes of [changed, good.subarray(0, at)]) {
        await Bun.write(path, bytes);
        const cache = await openRenderCache({ path, newPath, maxBytes: 1_000_000 });
        for (const n of [1, 2, 3]) {
          const content = await cache.find(toKey(n));
          if (content !== null) expect(content).toEqual(toContent(n));
        }
        expect(cache.hits()).toBeLessThan(3);
        await cache.close();
      }
    }
  });

  test("is replaced as a whole, and not at all when the disk is full or the render fails", async () => {
    await use([1]);
    const before = await Bun.file(path).bytes();
    const broken = await openRenderCache({ path, newPath: join(folder, "missing", "new"), maxBytes: 1_000_000 });
    await broken.add(toKey(2), toContent(2));
    expect(await broken.save()).toBe(false);
    await broken.close();
    const failed = await openRenderCache({ path, newPath, maxBytes: 1_000_000 });
    await failed.add(toKey(2), toContent(2));
    await failed.close();
    expect(await Bun.file(newPath).exists()).toBe(false);
    expect(await Bun.file(path).bytes()).toEqual(before);
  });

  test("is gone when a stopped render still adds entries", async () => {
    const cache = await openRenderCache({ path, newPath, maxBytes: 1_000_000 });
    const adding = [cache.add(toKey(1), toContent(1)), cache.add(toKey(2), toContent(2))];
    await cache.close();
    await Promise.all([...adding, cache.add(toKey(3), toContent(3))]);
    expect(await Bun.file(newPath).exists()).toBe(false);
    const open = readdirSync("/proc/self/fd").map((fd) => findTarget(fd));
    expect(open.filter((target) => target?.startsWith(folder))).toEqual([]);
  });

  test("has nothing of an attempt that was reset", async () => {
    await use([1, 2]);
    const cache = await openRenderCache({ path, newPath, maxBytes: 1_000_000 });
    await cache.find(toKey(1));
    await cache.add(toKey(3), new Uint8Array(10_000));
    await cache.reset();
    expect(cache.hits()).toBe(0);
    expect(await cache.find(toKey(1))).toBeNull();
    await cache.add(toKey(4), toContent(4));
    expect(await cache.save()).toBe(true);
    await cache.close();
    await rename(newPath, path);
    expect(await use([1, 3, 4])).toEqual([4]);
  });
});

describe("an entry of a splice", () => {
  const packets: SplicePacket[] = [
    { data: toContent(1), type: "key", rank: 0 },
    { data: toContent(2), type: "delta", rank: 2 },
    { data: toContent(3), type: "delta", rank: 1 },
  ];
  const bytes = formatSplice({ description: toContent(9), packets });

  test("has its packets", () => {
    expect(parseSplice(bytes, 3)).toEqual({ description: toContent(9), packets });
  });

  test("is refused when it is not of this many frames", () => {
    expect(parseSplice(bytes, 2)).toBeNull();
    for (let length = 0; length < bytes.length; length++) expect(parseSplice(bytes.subarray(0, length), 3)).toBeNull();
    const [first, second, third] = packets as [SplicePacket, SplicePacket, SplicePacket];
    for (const wrong of [
      [first, second, { ...third, rank: 2 }],
      [first, second, { ...third, rank: 3 }],
      [{ ...first, type: "delta" as const }, second, third],
      [first, second, { ...third, data: new Uint8Array() }],
    ])
      expect(parseSplice(formatSplice({ description: toContent(9), packets: wrong }), 3)).toBeNull();
  });
});
