import { expect, test } from "bun:test";
import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { writeStream } from "../../../src/lib/write-stream";
import { temporaryFolder } from "../../temporary-folder";

test("chunks of any size are appended in order", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "upload");
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 40 }),
      fc.array(fc.tuple(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 700_000 })), fc.boolean()), {
        maxLength: 12,
      }),
      async (before, sizes) => {
        await writeFile(path, before);
        const chunks = sizes.map(([size], n) => new Uint8Array(size).fill(n + 1));
        async function* arriving() {
          for (const [n, chunk] of chunks.entries()) {
            if (sizes[n]![1]) await new Promise(setImmediate);
            yield chunk;
          }
        }
        const whole = Buffer.concat([before, ...chunks]);
        expect(await writeStream(arriving(), path, before.length)).toBe(whole.length - before.length);
        expect(Buffer.compare(await Bun.file(path).bytes(), whole)).toBe(0);
      },
    ),
    { numRuns: 40 },
  );
}, 30_000);

test("chunks that arrived before the stream failed are in the file", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "upload");
  await writeFile(path, "");
  async function* breaking() {
    for (let n = 0; n < 30; n++) yield new Uint8Array(100_000).fill(n);
    throw new Error("connection failed");
  }
  await expect(writeStream(breaking(), path, 0)).rejects.toThrow("connection failed");
  expect((await stat(path)).size).toBe(3_000_000);
});

test("a chunk is written before the next one arrives", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "upload");
  await writeFile(path, "");
  let seen = 0;
  async function* slow() {
    yield new Uint8Array(10);
    while (seen === 0) {
      await new Promise(setImmediate);
      seen = (await stat(path)).size;
    }
  }
  await writeStream(slow(), path, 0);
  expect(seen).toBe(10);
});

test("a full disk throws the file system's error code", async () => {
  async function* endless() {
    for (;;) yield new Uint8Array(100_000);
  }
  await expect(writeStream(endless(), "/dev/full", 0)).rejects.toMatchObject({ code: "ENOSPC" });
});

test("a missing file is not created", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "upload");
  await rm(path, { force: true });
  async function* one() {
    yield new Uint8Array(1);
  }
  await expect(writeStream(one(), path, 0)).rejects.toMatchObject({ code: "ENOENT" });
});
