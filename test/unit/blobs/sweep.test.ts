import { expect, test } from "bun:test";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { foldersIn } from "../../../src/blobs/folders";
import { discard, emptyTrash, namesIn } from "../../../src/blobs/sweep";
import { temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";

test("what is discarded is out of the way at once and deleted soon", async () => {
  await using folder = await temporaryFolder();
  const folders = foldersIn(folder.path);
  const media = folders.media("0193");
  await mkdir(join(media.dir, "deep"), { recursive: true });
  await Bun.write(media.source, "bytes");
  await Bun.write(folders.upload("0194"), "bytes");
  await discard(folders, [media.dir, folders.upload("0194"), folders.render("was never there")]);
  expect(await namesIn(folders.mediaRoot)).toEqual([]);
  expect(await namesIn(folders.uploads)).toEqual([]);
  await until("an empty trash", async () => (await namesIn(folders.trash)).length === 0);
});

test("the trash of an earlier run can be emptied, and emptied again", async () => {
  await using folder = await temporaryFolder();
  const folders = foldersIn(folder.path);
  await Bun.write(join(folders.trash, "left/over"), "bytes");
  await emptyTrash(folders);
  await emptyTrash(folders);
  expect(await readdir(folder.path)).toEqual([]);
});

test("a folder that is not there holds no names", async () => {
  await using folder = await temporaryFolder();
  expect(await namesIn(join(folder.path, "missing"))).toEqual([]);
});
