import { expect, test } from "bun:test";
import { mkdir, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { createFolders, flushFile, flushToDisk, skipFlushesBelow, writeAtomic } from "../../../src/lib/atomic-file";
import { recordDiskCalls } from "../../disk-calls";
import { temporaryFolder } from "../../temporary-folder";

test("writes the file and its folder, without leftovers", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "a/b/file.json");
  await writeAtomic(path, "one");
  await writeAtomic(path, new Uint8Array([116, 119, 111]));
  expect(await Bun.file(path).text()).toBe("two");
  expect(await readdir(join(folder.path, "a/b"))).toEqual(["file.json"]);
});

test("of concurrent writers, one file remains, complete", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "file");
  const bodies = Array.from({ length: 20 }, (_, i) => String(i).repeat(50_000));
  await Promise.all(bodies.map((body) => writeAtomic(path, body)));
  expect(bodies).toContain(await Bun.file(path).text());
  expect(await readdir(folder.path)).toEqual(["file"]);
});

test("a failed write keeps the existing file", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "taken");
  await mkdir(join(path, "inside"), { recursive: true });
  await expect(writeAtomic(path, "new")).rejects.toThrow();
  expect(await readdir(folder.path)).toEqual(["taken"]);
});

test("a file below a folder of temporary files is not flushed", async () => {
  await using folder = await temporaryFolder();
  const missing = join(folder.path, "work/missing");
  const restore = skipFlushesBelow(join(folder.path, "work"));
  await flushFile(missing);
  await expect(flushFile(join(folder.path, "work-2/missing"))).rejects.toThrow("ENOENT");
  await expect(flushToDisk(missing)).rejects.toThrow("ENOENT");
  restore();
  await expect(flushFile(missing)).rejects.toThrow("ENOENT");
});

test("the file is flushed before it is renamed, and its folder and the new folders above it too", async () => {
  await using folder = await temporaryFolder();
  using disk = recordDiskCalls({ folder: folder.path });
  await writeAtomic(join(folder.path, "a/b/file"), "one");
  expect(disk.calls.map((call) => call.replace(/\.[0-9a-f-]{36}/, ""))).toEqual([
    "flush a",
    "flush .",
    "flush a/b/file.part",
    "rename a/b/file",
    "flush a/b",
  ]);
  disk.calls.length = 0;
  await createFolders(join(folder.path, "a/b"));
  expect(disk.calls).toEqual([]);
});

test("the new folders of a relative path are flushed up to the existing one", async () => {
  await using folder = await temporaryFolder();
  using disk = recordDiskCalls({ folder: folder.path });
  await createFolders(relative(process.cwd(), join(folder.path, "a/b")));
  expect(disk.calls).toEqual(["flush a", "flush ."]);
});

test.each(["EINVAL", "EPERM"])("a file system that refuses to flush folders with %s is no error", async (syncError) => {
  await using folder = await temporaryFolder();
  using disk = recordDiskCalls({ folder: folder.path, syncError });
  await writeAtomic(join(folder.path, "a/file"), "one");
  expect(disk.calls.map((call) => call.replace(/\.[0-9a-f-]{36}/, ""))).toEqual(["flush a/file.part", "rename a/file"]);
});

test("a disk that fails while a folder is flushed is an error", async () => {
  await using folder = await temporaryFolder();
  using _disk = recordDiskCalls({ folder: folder.path, syncError: "EIO" });
  await expect(writeAtomic(join(folder.path, "file"), "one")).rejects.toMatchObject({ code: "EIO" });
});
