import { expect, spyOn, test } from "bun:test";
import { existsSync, renameSync } from "node:fs";
import * as fs from "node:fs/promises";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { getFolders } from "../../../src/blobs/folders";
import {
  discard,
  emptyTrash,
  eraseFiles,
  holdTrash,
  listNames,
  measureTrash,
  moveStrayToTrash,
  moveToTrash,
  sweepTrash,
} from "../../../src/blobs/trash";
import { parseTrashName, selectFiles, toFormerPath } from "../../../src/domain/point-in-time";
import { newId } from "../../../src/lib/ids";
import { temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";

const NOW = Date.UTC(2027, 0, 31, 14);
const HOUR_MS = 3_600_000;

async function trash() {
  const folder = await temporaryFolder();
  const folders = getFolders(folder.path);
  const [asset, upload, render] = [newId(), newId(), newId()];
  await Bun.write(folders.media(asset).source, "source");
  await Bun.write(folders.upload(upload), "upload");
  await Bun.write(folders.renderOutput(render, "mp4"), "render");
  await Bun.write(join(folders.work(asset), "chunk"), "work");
  return {
    folders,
    asset,
    upload,
    render,
    paths: [folders.media(asset).dir, folders.upload(upload), folders.render(render), folders.work(asset)],
    entries: async () =>
      (await listNames(folders.trash)).map((name) => parseTrashName(name)).sort((a, b) => a!.time - b!.time),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("media, uploads and renders disappear from their folders and are kept for 48 hours; other files are deleted soon", async () => {
  await using it = await trash();
  const { folders, asset, upload, render } = it;
  await moveToTrash(folders, [...it.paths, folders.render("was never there")], NOW);
  for (const root of [folders.mediaRoot, folders.uploads, folders.rendersRoot, folders.workRoot])
    expect(await listNames(root)).toEqual([]);
  const kept = [
    { time: NOW, folder: "media", name: asset, isStray: false },
    { time: NOW, folder: "renders", name: render, isStray: false },
    { time: NOW, folder: "uploads", name: upload, isStray: false },
  ];
  await until("three entries", async () => (await listNames(folders.trash)).length === 3);
  const byFolder = async () => (await it.entries()).sort((a, b) => (a!.folder < b!.folder ? -1 : 1));
  expect(await byFolder()).toEqual(kept);
  expect(await measureTrash(folders)).toBe("sourceuploadrender".length);
  await sweepTrash(folders, NOW + 48 * HOUR_MS);
  expect(await byFolder()).toEqual(kept);
  await sweepTrash(folders, NOW + 48 * HOUR_MS + 1);
  // The folder stays: a file that is moved to it at the same time must not fail as missing.
  expect(await readdir(folders.trash)).toEqual([]);
  await sweepTrash(folders, NOW);
});

test("nothing is deleted before a time is confirmed, except what is not kept", async () => {
  await using it = await trash();
  await moveToTrash(it.folders, it.paths.slice(0, 1), NOW);
  await Bun.write(join(it.folders.trash, "a"), "left over");
  await sweepTrash(it.folders, 0);
  expect(await it.entries()).toHaveLength(1);
});

test("a sweep that is aborted leaves the other entries", async () => {
  await using it = await trash();
  for (const name of ["a", "b"]) await Bun.write(join(it.folders.trash, name), "left over");
  await sweepTrash(it.folders, NOW, AbortSignal.abort());
  expect(await listNames(it.folders.trash)).toHaveLength(2);
});

test("files that no row knows are kept with their place, also for a restore", async () => {
  await using it = await trash();
  const { folders, asset } = it;
  const { dir, source } = folders.media(asset);
  await Bun.write(join(dir, "Notes (1).txt"), "notes");
  await Bun.write(join(folders.mediaRoot, "left over.tmp", "part"), "rest");
  await moveStrayToTrash(folders, join(dir, "Notes (1).txt"), NOW);
  await moveStrayToTrash(folders, join(folders.mediaRoot, "left over.tmp"), NOW + 1);
  expect(await it.entries()).toEqual([
    { time: NOW, folder: "media", name: asset, isStray: true },
    { time: NOW + 1, folder: "media", name: "_", isStray: true },
  ]);
  const names = (await readdir(folders.root, { recursive: true })).map((path) => path);
  const files = names.filter((path) => /^trash\/[^/]+\/.*(txt|part)$/.test(path)).sort();
  expect(files.map(toFormerPath)).toEqual([`media/${asset}/Notes (1).txt`, "media/left over.tmp/part"]);
  expect(await Bun.file(source).exists()).toBe(true);
  // Before the deletion the recording had both; after it, the trash has the note.
  const state = { assets: [{ id: asset, is_complete: true }], renders: [] };
  const paths = [folders.toRelative(source), ...files];
  const restored = (time: number) => selectFiles(paths, state, time).files.map(({ to }) => to);
  expect(restored(NOW - 1)).toEqual([`media/${asset}/source`, `media/${asset}/Notes (1).txt`]);
  expect(restored(NOW + 2)).toEqual([`media/${asset}/source`, ...files]);
  const again = `media/${asset}/Notes (1).txt`;
  expect(selectFiles([...paths, again], state, NOW - 1).files.map(({ from }) => from)).not.toContain(files[0]!);
  await eraseFiles(folders, new Set([asset]));
  await until("one entry", async () => (await listNames(folders.trash)).length === 1);
});

test("files left by a crash or moved by an older version are swept", async () => {
  await using it = await trash();
  for (const name of [newId(), "left", `${newId()}.work.x`, `${newId()}.media.a b`])
    await Bun.write(join(it.folders.trash, name, "over"), "bytes");
  await sweepTrash(it.folders, NOW);
  expect(await listNames(it.folders.trash)).toEqual([]);
});

test("a single file of a recording is not kept", async () => {
  await using it = await trash();
  await moveToTrash(it.folders, [it.folders.media(it.asset).source], NOW);
  await until("an empty trash", async () => (await listNames(it.folders.trash)).length === 0);
});

test("discarded files are not kept", async () => {
  await using it = await trash();
  await discard(it.folders, it.paths);
  await until("an empty trash", async () => (await listNames(it.folders.trash)).length === 0);
});

test("a full disk empties the trash, oldest first, as far as needed", async () => {
  await using it = await trash();
  const [media, upload, render] = it.paths;
  await moveToTrash(it.folders, [render!], NOW + 2);
  await moveToTrash(it.folders, [media!], NOW);
  await moveToTrash(it.folders, [upload!], NOW + 1);
  let needed = 2;
  expect(await emptyTrash(it.folders, () => needed-- > 0)).toBe(2);
  expect(await it.entries()).toEqual([{ time: NOW + 2, folder: "renders", name: it.render, isStray: false }]);
  expect(await emptyTrash(it.folders, () => true)).toBe(1);
  expect(await emptyTrash(it.folders, () => true)).toBe(0);
});

test("erased files are deleted from their folders and from the trash, and nobody else's", async () => {
  await using it = await trash();
  const { folders, asset, render, upload } = it;
  await moveToTrash(folders, it.paths.slice(0, 2), NOW);
  await eraseFiles(folders, new Set([asset, render]));
  await until("one entry", async () => (await listNames(folders.trash)).length === 1);
  expect(await it.entries()).toEqual([{ time: NOW, folder: "uploads", name: upload, isStray: false }]);
  expect(await listNames(folders.rendersRoot)).toEqual([]);
  await eraseFiles(folders, new Set());
  expect(await it.entries()).toHaveLength(1);
});

test("while a backup holds the trash nothing in it is deleted, and everything can be found", async () => {
  await using it = await trash();
  const { folders, asset } = it;
  const [media, upload, render, work] = it.paths;
  await moveToTrash(folders, [upload!], NOW);
  const hold = holdTrash(folders);
  await moveToTrash(folders, [media!, work!], NOW);
  await sweepTrash(folders, NOW + 100 * HOUR_MS);
  expect(await emptyTrash(folders, () => true)).toBe(0);
  await eraseFiles(folders, new Set([asset, it.render]));
  // It was moved twice.
  expect(await Bun.file(join((await hold.find(media!))!, "source")).text()).toBe("source");
  expect(await Bun.file(join((await hold.find(render!))!, "output.mp4")).text()).toBe("render");
  expect(await Bun.file(join((await hold.find(work!))!, "chunk")).text()).toBe("work");
  await hold.release();
  expect(await it.entries()).toEqual([{ time: NOW, folder: "uploads", name: it.upload, isStray: false }]);
});

test("a missing folder has no names", async () => {
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, "empty"));
  expect(await listNames(join(folder.path, "missing"))).toEqual([]);
});

test("a hold finds what has disappeared from its place before the server knows that it is moved", async () => {
  await using it = await trash();
  const { folders } = it;
  const [media] = it.paths;
  const told = Promise.withResolvers<void>();
  const rename = spyOn(fs, "rename").mockImplementationOnce(async (from, to) => {
    renameSync(from, to);
    await told.promise;
  });
  const hold = holdTrash(folders);
  const moving = moveToTrash(folders, [media!], NOW);
  await until("the move", () => !existsSync(media!));
  const finding = hold.find(media!);
  told.resolve();
  expect(await finding).toContain(".media.");
  await moving;
  await hold.release();
  rename.mockRestore();
});
