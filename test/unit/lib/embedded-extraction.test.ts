import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedFiles, extractFiles, findDamagedFiles } from "../../../src/lib/embedded-extraction";

const CONTENT = { "speech/model.onnx": "weights", ffmpeg: "#!/bin/sh\necho ffmpeg\n" };

let root: string;
let parent: string;
let embedded: EmbeddedFiles;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "offcut-extract-"));
  parent = join(root, "data/assets");
  embedded = { id: "1.0.0-abc", files: [] };
  for (const [name, content] of Object.entries(CONTENT)) {
    const path = join(root, "source", name);
    await Bun.write(path, Bun.zstdCompressSync(content));
    const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
    embedded.files.push({ name, path, sizeBytes: content.length, sha256, executable: name === "ffmpeg" });
  }
});
afterEach(() => rm(root, { recursive: true, force: true }));

const contentOf = (folder: string, name: string) => Bun.file(join(folder, name)).text();

async function expectWhole(folder: string) {
  expect(await findDamagedFiles(embedded, folder)).toEqual([]);
  expect((await stat(join(folder, "ffmpeg"))).mode & 0o777).toBe(0o700);
}

/** Returns the ID of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = Bun.spawn(["true"]);
  await child.exited;
  return child.pid;
}

test("the first start extracts every file into the version's folder", async () => {
  const folder = await extractFiles(embedded, parent);
  expect(folder).toBe(join(parent, "1.0.0-abc"));
  expect(await contentOf(folder, "speech/model.onnx")).toBe("weights");
  await expectWhole(folder);
  expect(await readdir(parent)).toEqual(["1.0.0-abc"]);
});

test("a later start writes nothing", async () => {
  const folder = await extractFiles(embedded, parent);
  const before = await stat(join(folder, "ffmpeg"));
  await extractFiles(embedded, parent);
  const after = await stat(join(folder, "ffmpeg"));
  expect([after.ino, after.ctimeMs]).toEqual([before.ino, before.ctimeMs]);
});

test("two concurrent starts both get a complete folder, without leftovers", async () => {
  const folders = await Promise.all(Array.from({ length: 6 }, () => extractFiles(embedded, parent)));
  expect(new Set(folders).size).toBe(1);
  await expectWhole(folders[0]!);
  expect(await readdir(parent)).toEqual(["1.0.0-abc"]);
});

test("truncated, changed, missing and no longer executable files are repaired", async () => {
  const folder = await extractFiles(embedded, parent);
  await truncate(join(folder, "ffmpeg"), 3);
  await Bun.write(join(folder, "speech/model.onnx"), "WEIGHTS");
  expect((await findDamagedFiles(embedded, folder)).sort()).toEqual(["ffmpeg", "speech/model.onnx"]);
  await extractFiles(embedded, parent);
  await expectWhole(folder);

  await rm(join(folder, "ffmpeg"));
  await extractFiles(embedded, parent);
  await expectWhole(folder);

  await chmod(join(folder, "ffmpeg"), 0o600);
  await extractFiles(embedded, parent);
  await expectWhole(folder);
});

test("without the record, files are verified and kept", async () => {
  const folder = await extractFiles(embedded, parent);
  const before = await stat(join(folder, "ffmpeg"));
  await rm(join(folder, "written.json"));
  await extractFiles(embedded, parent);
  expect((await stat(join(folder, "ffmpeg"))).ino).toBe(before.ino);
  expect(await Bun.file(join(folder, "written.json")).exists()).toBe(true);
});

test("a failed extraction leaves no incomplete folder", async () => {
  embedded.files[1] = { ...embedded.files[1]!, path: join(root, "absent") };
  await expect(extractFiles(embedded, parent)).rejects.toThrow();
  expect(await readdir(parent)).toEqual([]);
});

test("versions without a running process are removed, others stay", async () => {
  await mkdir(join(parent, "0.9.0-unused/in-use"), { recursive: true });
  await Bun.write(join(parent, "0.9.0-unused/in-use", String(await deadPid())), "");
  await Bun.write(join(parent, "0.9.1-used/in-use", String(process.ppid)), "");
  await Bun.write(join(parent, `partial-${await deadPid()}-x/ffmpeg`), "half");
  await Bun.write(join(parent, `partial-${process.ppid}-y/ffmpeg`), "half");
  await extractFiles(embedded, parent);
  expect((await readdir(parent)).sort()).toEqual(["0.9.1-used", "1.0.0-abc", `partial-${process.ppid}-y`].sort());
});
