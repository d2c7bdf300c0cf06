import { expect, test } from "bun:test";
import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { readBackup } from "../../../../src/work/backup/backup-folder";
import { createDrillFolder, discardAbandonedDrills, restoreToScratch } from "../../../../src/work/backup/drill-folder";
import { temporaryFolder } from "../../../temporary-folder";
import { FOLDER_ID, recordedFolder } from "./recorded-folder";

const NEVER = new AbortController().signal;

test("folders of killed drills are removed; one in use and one that is about to be locked stay", async () => {
  await using folder = await temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  await Bun.write(at(".drill-killed/lock"), "");
  await Bun.write(at(".drill-killed/data/media/file"), "x");
  await mkdir(at(".drill-new"));
  await mkdir(at(".drill-old"));
  await utimes(at(".drill-old"), 1, 1);
  await Bun.write(at("offcut-2027-01-31T02-00-00Z/manifest.json"), "{}");
  {
    await using used = await createDrillFolder([folder.path], 36);
    expect(used.path).toBe(at(".drill-10"));
    await discardAbandonedDrills([folder.path, at("missing")]);
    expect((await readdir(folder.path)).sort()).toEqual([".drill-10", ".drill-new", "offcut-2027-01-31T02-00-00Z"]);
  }
  expect((await readdir(folder.path)).sort()).toEqual([".drill-new", "offcut-2027-01-31T02-00-00Z"]);
});

test("a folder whose path is too long for a socket is avoided, or refused", async () => {
  await using folder = await temporaryFolder();
  const long = join(folder.path, "x".repeat(90));
  await mkdir(long);
  await using used = await createDrillFolder([long, folder.path], 0);
  expect(used.path).toBe(join(folder.path, ".drill-0"));
  expect(await createDrillFolder([long], 0).catch((error) => error)).toMatchObject({ code: "bad_request" });
});

test("media is linked, the database is copied, and a missing file is left to the checks", async () => {
  await using recorded = await recordedFolder();
  const { assetId, renderId, uploadId, root } = recorded;
  const { path } = await recorded.backup();
  await rm(join(path, "renders", renderId), { recursive: true });
  const scratch = join(root, "scratch");
  await mkdir(scratch);
  await restoreToScratch(await readBackup(path), scratch, new Set(), NEVER);
  const inode = async (...names: string[]) => (await stat(join(...names))).ino;
  const source = `media/${assetId}/source`;
  expect(await inode(scratch, "data", source)).toBe(await inode(path, source));
  for (const name of ["offcut.db", "secrets.json", `uploads/${uploadId}`])
    expect([name, await inode(scratch, "data", name)]).not.toEqual([name, await inode(path, name)]);
  expect(await readdir(join(scratch, "data", "renders", renderId))).toEqual([]);
});

test("a server starts on a scratch folder without media: it has the marker of the media folder", async () => {
  await using recorded = await recordedFolder({ hasMediaFolder: true });
  const { path } = await recorded.backup({ hasMedia: false });
  const scratch = join(recorded.root, "scratch");
  await mkdir(scratch);
  await restoreToScratch(await readBackup(path), scratch, new Set(), NEVER);
  expect(await Bun.file(join(scratch, "data", "offcut-media.id")).text()).toStartWith(FOLDER_ID);
});
