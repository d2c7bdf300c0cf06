/** Two servers with one place for their backups, and a place whose disk is away. */
import { expect, test } from "bun:test";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../../../../src/lib/ids";
import { createBackup } from "../../../../src/work/backup/create-backup";
import { restoreToScratch } from "../../../../src/work/backup/drill-folder";
import { createBackupPlaces } from "../../../../src/work/backup/places";
import { offsiteFolder, PLACE, START } from "./offsite/offsite-folder";
import { FOLDER_ID, type RecordedFolder, recordedFolder } from "./recorded-folder";

const NEVER = new AbortController().signal;
const LATER = Date.UTC(2028, 0, 1);
const REFUSED = { code: "conflict", message: expect.stringContaining("has backups of another data folder") };

const become = ({ data }: RecordedFolder, folderId: string) =>
  writeFile(join(data, "secrets.json"), JSON.stringify({ links: "secret", folder_id: folderId }));
const failure = (work: Promise<unknown>) => work.catch((error) => error);

test("backups of another data folder do not count as those of this one: none is skipped or removed for them", async () => {
  await using recorded = await recordedFolder();
  const target = join(recorded.root, "backups");
  const { findNewest, prune } = createBackupPlaces({ folders: recorded.folders, now: () => LATER });
  await become(recorded, FOLDER_ID);
  for (let n = 0; n < 3; n++) await recorded.backup();
  const names = await readdir(target);
  expect(await findNewest(target, LATER, NEVER)).not.toBeNull();
  await become(recorded, newId());
  expect(await findNewest(target, LATER, NEVER)).toBeNull();
  expect(await prune(target, { daily: 1, weekly: 0 }, NEVER)).toEqual([]);
  expect(await failure(recorded.backup())).toMatchObject(REFUSED);
  expect(await readdir(target)).toEqual(names);
  await become(recorded, FOLDER_ID);
  expect(await prune(target, { daily: 1, weekly: 0 }, NEVER)).toHaveLength(2);
});

test("the same in a bucket", async () => {
  await using offsite = await offsiteFolder();
  const { recorded, access, s3 } = offsite;
  const { findNewest, prune } = createBackupPlaces({ folders: recorded.folders, now: () => LATER, offsite: access });
  await become(recorded, FOLDER_ID);
  for (let n = 0; n < 2; n++) await offsite.backup({ now: START + n });
  const keys = await s3.keys();
  await become(recorded, newId());
  expect(await findNewest(PLACE, LATER, NEVER)).toBeNull();
  expect(await prune(PLACE, { daily: 1, weekly: 0 }, NEVER)).toEqual([]);
  expect(await failure(offsite.backup())).toMatchObject(REFUSED);
  expect(await s3.keys()).toEqual(keys);
  await become(recorded, FOLDER_ID);
  expect(await findNewest(PLACE, LATER, NEVER)).not.toBeNull();
});

test("a scratch folder of a bucket without media has the marker of the media folder, as a drill of a new server needs", async () => {
  await using offsite = await offsiteFolder();
  const { recorded } = offsite;
  await become(recorded, FOLDER_ID);
  await offsite.backup({ hasMedia: false });
  const scratch = join(recorded.root, "scratch");
  await mkdir(scratch);
  await restoreToScratch((await offsite.open())!, scratch, new Set(), NEVER);
  expect(await Bun.file(join(scratch, "data", "offcut-media.id")).text()).toStartWith(FOLDER_ID);
});

test("a file that cannot be read fails the backup instead of being left out", async () => {
  await using recorded = await recordedFolder();
  const { folders, assetId, root, store } = recorded;
  // A link to itself stands for a disk with errors: `stat` fails with a code other than that of a missing file.
  const { dir } = folders.media(assetId);
  await rm(dir, { recursive: true });
  await symlink(dir, dir);
  const options = { target: join(root, "backups"), hasMedia: true };
  expect(await failure(createBackup({ store, folders, now: () => START }, options, NEVER))).toMatchObject({
    code: "ELOOP",
  });
  expect(await readdir(options.target)).toEqual([]);
  await rm(dir);
  await mkdir(dir);
});
