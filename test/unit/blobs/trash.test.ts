import { expect, test } from "bun:test";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { getFolders } from "../../../src/blobs/folders";
import { emptyTrash, listNames, moveToTrash } from "../../../src/blobs/trash";
import { temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";

test("files in the trash disappear from their folders at once and are deleted soon", async () => {
  await using folder = await temporaryFolder();
  const folders = getFolders(folder.path);
  const media = folders.media("0193");
  await mkdir(join(media.dir, "deep"), { recursive: true });
  await Bun.write(media.source, "bytes");
  await Bun.write(folders.upload("0194"), "bytes");
  await moveToTrash(folders, [media.dir, folders.upload("0194"), folders.render("was never there")]);
  expect(await listNames(folders.mediaRoot)).toEqual([]);
  expect(await listNames(folders.uploads)).toEqual([]);
  await until("an empty trash", async () => (await listNames(folders.trash)).length === 0);
});

test("the trash of an earlier run can be emptied, repeatedly", async () => {
  await using folder = await temporaryFolder();
  const folders = getFolders(folder.path);
  await Bun.write(join(folders.trash, "left/over"), "bytes");
  await emptyTrash(folders);
  await emptyTrash(folders);
  // The folder stays: a file that is moved to it at the same time must not fail as missing.
  expect(await readdir(folders.trash)).toEqual([]);
});

test("a missing folder has no names", async () => {
  await using folder = await temporaryFolder();
  expect(await listNames(join(folder.path, "missing"))).toEqual([]);
});
