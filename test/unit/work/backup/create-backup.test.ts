import { Database } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import * as fs from "node:fs/promises";
import { appendFile, mkdir, readdir, rename, rm, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { moveToTrash } from "../../../../src/blobs/trash";
import { parseTrashName } from "../../../../src/domain/point-in-time";
import { deleteAsset, updateAsset } from "../../../../src/store/assets";
import type { Store } from "../../../../src/store/db";
import { readBackup, verifyBackup } from "../../../../src/work/backup/backup-folder";
import { createBackup } from "../../../../src/work/backup/create-backup";
import { createBackupPlaces } from "../../../../src/work/backup/places";
import { type RecordedFolder, recordedFolder, SOURCE_BYTES } from "./recorded-folder";

const NEVER = new AbortController().signal;
const read = (...path: string[]) => Bun.file(join(...path)).text();
const pathsOf = async (path: string) => (await readBackup(path)).manifest.files.map((file) => file.path).sort();

/** Runs `change` when the database has been copied, before the files are. */
function afterDatabase({ store }: RecordedFolder, change: () => Promise<unknown>): Store {
  return {
    ...store,
    copyTo: async (target) => {
      await store.copyTo(target);
      await change();
    },
  };
}

async function backupDuring(recorded: RecordedFolder, change: () => Promise<unknown>) {
  const source = { store: afterDatabase(recorded, change), folders: recorded.folders, now: () => 0 };
  return createBackup(source, { target: join(recorded.root, "backups"), hasMedia: true }, NEVER);
}

test("a backup has the database, the secrets and every file that the database names", async () => {
  await using recorded = await recordedFolder();
  const { assetId, uploadId, renderId, folders } = recorded;
  await Bun.write(folders.media("0190aaaa-0000-7000-8000-000000000000").source, "of no row");
  await Bun.write(join(folders.workRoot, "job", "chunk"), "work");
  await Bun.write(join(recorded.data, "models", "m", "model.onnx"), "model");
  const { renderCache } = folders.media(assetId);
  await Bun.write(renderCache, "made again by the next render");
  await Bun.write(`${renderCache}.part`, "not complete");
  const report = await recorded.backup();
  const paths = [
    `media/${assetId}/poster.jpg`,
    `media/${assetId}/source`,
    "models/m/model.onnx",
    "offcut.db",
    `renders/${renderId}/output.mp4`,
    "secrets.json",
    `uploads/${uploadId}`,
  ];
  expect(report).toMatchObject({ files: paths.length, linked_files: 0, missing: [], notes: [] });
  expect(await pathsOf(report.path)).toEqual(paths);
  expect(await read(report.path, `media/${assetId}/source`)).toBe(SOURCE_BYTES);
  expect(await verifyBackup(await readBackup(report.path), { signal: NEVER })).toMatchObject({
    files: paths.length,
    checked_files: paths.length,
    damaged: [],
  });
  expect((await stat(report.path)).mode & 0o777).toBe(0o700);
  // Only the backup is in the folder: no temporary one.
  expect(await readdir(join(recorded.root, "backups"))).toEqual(["offcut-2027-01-31T03-00-00Z"]);
});

test("without media a backup has the database and the secrets", async () => {
  await using recorded = await recordedFolder();
  expect(await pathsOf((await recorded.backup({ hasMedia: false })).path)).toEqual(["offcut.db", "secrets.json"]);
});

test("unchanged files are linked to the previous backup that has them; new and changed ones are copied", async () => {
  await using recorded = await recordedFolder();
  const { assetId, uploadId, folders } = recorded;
  const first = await recorded.backup();
  await recorded.backup({ hasMedia: false });
  await appendFile(folders.upload(uploadId), "lf");
  await Bun.write(folders.media(assetId).filmstrip, "filmstrip");
  const second = await recorded.backup();
  expect(second).toMatchObject({ linked_files: 3, copied_files: 2 });
  const inode = async (path: string, file: string) => (await stat(join(path, file))).ino;
  const source = `media/${assetId}/source`;
  expect(await inode(second.path, source)).toBe(await inode(first.path, source));
  expect(await inode(second.path, source)).not.toBe((await stat(folders.media(assetId).source)).ino);
  expect(await read(second.path, `uploads/${uploadId}`)).toBe("first half");
  expect(await read(first.path, `uploads/${uploadId}`)).toBe("first ha");
});

test("a file that the previous backup has lost is copied again", async () => {
  await using recorded = await recordedFolder();
  const first = await recorded.backup();
  await rm(join(first.path, `media/${recorded.assetId}/source`));
  const second = await recorded.backup();
  expect(await read(second.path, `media/${recorded.assetId}/source`)).toBe(SOURCE_BYTES);
});

test("files that are deleted while the backup runs are in it, and stay in the trash", async () => {
  await using recorded = await recordedFolder();
  const { assetId, folders, store } = recorded;
  const report = await backupDuring(recorded, async () => {
    await store.write((tx) => deleteAsset(tx, assetId));
    await moveToTrash(folders, [folders.media(assetId).dir]);
  });
  expect(report.missing).toEqual([]);
  expect(await read(report.path, `media/${assetId}/source`)).toBe(SOURCE_BYTES);
  expect((await readdir(folders.trash)).map((name) => parseTrashName(name)?.name)).toEqual([assetId]);
  expect(await pathsOf(report.path)).toContain(`media/${assetId}/source`);
  expect((await pathsOf(report.path)).filter((path) => path.startsWith("trash/"))).toEqual([]);
});

test("a recording that is deleted between two looks at its folder is in the backup", async () => {
  await using recorded = await recordedFolder();
  const { assetId, folders } = recorded;
  const { dir } = folders.media(assetId);
  const list = fs.readdir as (path: unknown, options?: unknown) => Promise<never>;
  let isDeleted = false;
  const listing = spyOn(fs, "readdir").mockImplementation(async (path: unknown, options?: unknown) => {
    if (path === dir && !isDeleted) {
      isDeleted = true;
      await moveToTrash(folders, [dir]);
    }
    return list(path, options);
  });
  try {
    const report = await recorded.backup();
    expect([isDeleted, report.missing]).toEqual([true, []]);
    expect(await read(report.path, `media/${assetId}/source`)).toBe(SOURCE_BYTES);
  } finally {
    listing.mockRestore();
  }
});

test("an upload that is completed while the backup runs is in it as the source of its recording", async () => {
  await using recorded = await recordedFolder();
  const { uploadId, folders } = recorded;
  const media = folders.media(uploadId);
  const report = await backupDuring(recorded, async () => {
    await mkdir(media.dir, { recursive: true });
    await rename(folders.upload(uploadId), media.source);
  });
  expect(await read(report.path, `media/${uploadId}/source`)).toBe("first ha");
});

test("a recording without its source is reported", async () => {
  await using recorded = await recordedFolder();
  await rm(recorded.folders.media(recorded.assetId).source);
  await rm(recorded.folders.render(recorded.renderId), { recursive: true });
  expect((await recorded.backup()).missing).toEqual([
    `media/${recorded.assetId}/source`,
    `renders/${recorded.renderId}`,
  ]);
});

test("a damaged database is not backed up, and nothing stays behind", async () => {
  await using recorded = await recordedFolder();
  const store = {
    ...recorded.store,
    copyTo: async (target: string) => {
      await recorded.store.copyTo(target);
      const bytes = new Uint8Array(await Bun.file(target).arrayBuffer());
      bytes.fill(0xa5, 3 * 4096, 12 * 4096);
      await writeFile(target, bytes);
    },
  };
  const target = join(recorded.root, "backups");
  const backup = createBackup({ store, folders: recorded.folders, now: () => 0 }, { target, hasMedia: true }, NEVER);
  expect(await backup.catch((error) => error)).toMatchObject({ code: "internal_error" });
  expect(await readdir(target)).toEqual([]);
});

test("rows that refer to missing rows are damage", async () => {
  await using recorded = await recordedFolder();
  const store = {
    ...recorded.store,
    copyTo: async (target: string) => {
      await recorded.store.copyTo(target);
      using copy = new Database(target);
      copy.run("PRAGMA foreign_keys=OFF");
      copy.run("DELETE FROM assets");
    },
  };
  const backup = createBackup(
    { store, folders: recorded.folders, now: () => 0 },
    { target: join(recorded.root, "backups"), hasMedia: true },
    NEVER,
  );
  expect(await backup.catch((error: Error) => error.message)).toMatch(/^The database is damaged: Row \d+ of renders/);
});

test("a folder inside the data folder is refused", async () => {
  await using recorded = await recordedFolder();
  const backup = (target: string) =>
    createBackup(
      { store: recorded.store, folders: recorded.folders, now: () => 0 },
      { target, hasMedia: true },
      NEVER,
    ).catch((error) => error.code);
  expect(await backup(join(recorded.data, "backups"))).toBe("bad_request");
  expect(await backup(recorded.data)).toBe("bad_request");
  const link = join(recorded.root, "link");
  await symlink(recorded.data, link);
  expect(await backup(join(link, "backups", "new"))).toBe("bad_request");
  expect(await readdir(recorded.data)).not.toContain("backups");
});

test("an abort leaves nothing behind", async () => {
  await using recorded = await recordedFolder();
  const abort = new AbortController();
  const store = afterDatabase(recorded, async () => abort.abort(new Error("stopped")));
  const target = join(recorded.root, "backups");
  const backup = createBackup(
    { store, folders: recorded.folders, now: () => 0 },
    { target, hasMedia: true },
    abort.signal,
  );
  expect(await backup.catch((error) => error.message)).toBe("stopped");
  expect(await readdir(target)).toEqual([]);
});

test("the folder of a killed backup is removed by one that starts 12 hours later, and no other folder", async () => {
  await using recorded = await recordedFolder();
  const target = join(recorded.root, "backups");
  const kept = [".offcut-2027-01-30T16-00-00Z.part", ".other.part", "offcut-2027-01-01T00-00-00Z"];
  for (const name of [...kept, ".offcut-2027-01-30T12-00-00Z.part"]) await Bun.write(join(target, name, "file"), "x");
  await recorded.backup();
  expect((await readdir(target)).sort()).toEqual([...kept, "offcut-2027-01-31T03-00-00Z"].sort());
});

test("the folder of a backup of the same data folder that was killed is removed by the next one", async () => {
  await using recorded = await recordedFolder();
  const target = join(recorded.root, "backups");
  let part = "";
  const store = {
    ...recorded.store,
    copyTo: async () => {
      part = (await readdir(target)).find((name) => name.endsWith(".part"))!;
      // A kill here skips all later steps.
      await Bun.write(join(recorded.root, "saved", "offcut.db"), "");
      throw new Error("killed");
    },
  };
  const backup = createBackup({ store, folders: recorded.folders, now: () => 0 }, { target, hasMedia: true }, NEVER);
  expect(await backup.catch((error) => error.message)).toBe("killed");
  await rename(join(recorded.root, "saved"), join(target, part));
  await recorded.backup();
  expect(await readdir(target)).toEqual(["offcut-2027-01-31T03-00-00Z"]);
});

test("times of files survive, so that a restored folder is linked to its backups", async () => {
  await using recorded = await recordedFolder();
  const { source } = recorded.folders.media(recorded.assetId);
  await utimes(source, 1_700_000_000, 1_700_000_000);
  const { path } = await recorded.backup();
  expect((await stat(join(path, `media/${recorded.assetId}/source`))).mtimeMs).toBe(1_700_000_000_000);
});

test("a backup that does not fit is refused before the database is copied; links and lost files need no space", async () => {
  await using recorded = await recordedFolder();
  const first = await recorded.backup();
  const { folders, assetId } = recorded;
  let copies = 0;
  const store = {
    ...recorded.store,
    copyTo: async (target: string) => {
      copies++;
      await recorded.store.copyTo(target);
    },
  };
  const backup = () => {
    const target = join(recorded.root, "backups");
    return createBackup({ store, folders, now: () => Date.UTC(2028, 0) }, { target, hasMedia: true }, NEVER);
  };
  const huge = 8e12;
  // Only the row has the change.
  await recorded.store.write((tx) => updateAsset(tx, assetId, { upload_length: huge }));
  expect(await backup()).toMatchObject({ copied_files: 0 });
  await truncate(folders.media(assetId).source, huge);
  expect(await backup().catch((error) => error)).toMatchObject({
    code: "storage_full",
    message: expect.stringMatching(/needs 8 TB, has .* free\.$/),
  });
  expect(copies).toBe(1);
  expect((await readdir(join(recorded.root, "backups"))).sort()).toEqual([
    basename(first.path),
    "offcut-2028-01-01T00-00-00Z",
  ]);
});

test("a file of the previous backup that is too short is copied again", async () => {
  await using recorded = await recordedFolder();
  const first = await recorded.backup();
  await truncate(join(first.path, `media/${recorded.assetId}/source`), 3);
  const second = await recorded.backup();
  expect(second).toMatchObject({ copied_files: 1 });
  expect(await read(second.path, `media/${recorded.assetId}/source`)).toBe(SOURCE_BYTES);
});

test("an upload that grows while the backup runs is in it with at least the bytes that were acknowledged before", async () => {
  await using recorded = await recordedFolder();
  const { uploadId, folders } = recorded;
  const report = await backupDuring(recorded, () => appendFile(folders.upload(uploadId), "lf and more"));
  expect(await read(report.path, `uploads/${uploadId}`)).toBe("first half and more");
  expect(await verifyBackup(await readBackup(report.path), { signal: NEVER })).toMatchObject({ damaged: [] });
});

test("a folder whose disk is not mounted is refused, and nothing is written below its mount point", async () => {
  await using recorded = await recordedFolder();
  const { folders, root, store } = recorded;
  const point = join(root, "mnt disk");
  const target = join(point, "offcut");
  await mkdir(point);
  const configured = `UUID=1 ${point.replace(" ", "\\040")} ext4 defaults 0 2\n`;
  let mounted = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
  const readMounts = () => ({ configured, mounted });
  const places = createBackupPlaces({ folders, now: () => 0, readMounts });
  const backup = () => createBackup({ store, folders, now: () => 0, readMounts }, { target, hasMedia: true }, NEVER);
  const message = `Backup folder ${target} is below ${point}, which /etc/fstab lists and where nothing is mounted. Mount it first.`;
  expect(await backup().catch((error) => error)).toMatchObject({ code: "bad_request", message });
  expect(await places.findProblem(target, NEVER)).toBe(message);
  expect(await readdir(point)).toEqual([]);
  mounted += `30 22 8:2 / ${point.replace(" ", "\\040")} rw - ext4 /dev/sdb1 rw\n`;
  // The first backup creates its folder.
  expect(await places.findProblem(target, NEVER)).toBeNull();
  expect((await backup()).path).toBe(join(target, "offcut-1970-01-01T00-00-00Z"));
  expect(await places.findProblem(target, NEVER)).toBeNull();
  expect(await places.findProblem(join(recorded.data, "secrets.json"), NEVER)).toContain("cannot write to");
});

test("a folder that cannot be written is refused with the reason", async () => {
  await using recorded = await recordedFolder();
  await Bun.write(join(recorded.root, "backups"), "a file");
  const backup = await recorded.backup().catch((error) => error);
  expect(backup).toMatchObject({ code: "bad_request", message: expect.stringContaining("cannot write to") });
});
