/** Backups of a server whose media is in another folder than its database. */
import { expect, test } from "bun:test";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { createFolderGuard } from "../../../../src/blobs/folder-guard";
import { moveToTrash } from "../../../../src/blobs/trash";
import { formatMarker } from "../../../../src/domain/media-folder";
import { silentLog } from "../../../../src/lib/log";
import { readBackup } from "../../../../src/work/backup/backup-folder";
import { createBackup } from "../../../../src/work/backup/create-backup";
import { restoreState } from "../../../../src/work/backup/restore-backup";
import { getBackupSource, getLiveSource, type RestoreSource } from "../../../../src/work/backup/restore-source";
import { createSnapshots, takeSnapshot } from "../../../../src/work/backup/snapshots";
import { until } from "../../../until";
import { FOLDER_ID, type RecordedFolder, recordedFolder, SOURCE_BYTES } from "./recorded-folder";

const NEVER = new AbortController().signal;
const OTHER_ID = "0190aaaa-0000-7000-8000-000000000002";
const NOW = Date.UTC(2027, 1, 1, 9);
const HOUR_MS = 3_600_000;

const withMedia = () => recordedFolder({ hasMediaFolder: true });
const read = (...path: string[]) => Bun.file(join(...path)).text();

async function restore(from: string | RestoreSource, dataDir: string, mediaDir: string | null) {
  const options = { dataDir, mediaDir, skipDamagedMedia: false, now: NOW, draftBytes: 0, openDraft: async () => {} };
  return restoreState(typeof from === "string" ? await getBackupSource(from, null) : from, options, NEVER);
}

const refusal = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => "done",
    (error: Error) => error.message,
  );

/** Returns whether a server would find the marker. */
const isOnline = async (mediaDir: string): Promise<boolean> =>
  (await createFolderGuard([
    { path: join(mediaDir, "offcut-media.id"), id: FOLDER_ID, setting: "media_dir" },
  ]).check()) === null;

const listData = ({ root }: RecordedFolder) => readdir(root).then((names) => names.sort());

test("its paths in a backup are the same as without another folder, even of files that are deleted in the meantime", async () => {
  await using recorded = await withMedia();
  const { folders, assetId, uploadId, renderId, store } = recorded;
  await Bun.write(join(recorded.data, "models", "m", "model.onnx"), "model");
  const source = {
    folders,
    now: () => NOW,
    store: {
      ...store,
      copyTo: async (target: string) => {
        await store.copyTo(target);
        await moveToTrash(folders, [folders.media(assetId).dir]);
      },
    },
  };
  const report = await createBackup(source, { target: join(recorded.root, "backups"), hasMedia: true }, NEVER);
  const { manifest } = await readBackup(report.path);
  expect([manifest.missing, manifest.files.map(({ path }) => path).sort()]).toEqual([
    [],
    [
      `media/${assetId}/poster.jpg`,
      `media/${assetId}/source`,
      "models/m/model.onnx",
      "offcut.db",
      `renders/${renderId}/output.mp4`,
      "secrets.json",
      `uploads/${uploadId}`,
    ],
  ]);
});

test("a backup is refused while the folder is away, and one that it leaves is not completed", async () => {
  await using recorded = await withMedia();
  const { folders, store } = recorded;
  const target = join(recorded.root, "backups");
  const unmount = () => rename(folders.mediaDir, `${folders.mediaDir}.away`);
  const copyTo = async (path: string) => {
    await store.copyTo(path);
    await unmount();
  };
  const leaving = createBackup(
    { store: { ...store, copyTo }, folders, now: () => NOW },
    { target, hasMedia: true },
    NEVER,
  );
  expect(await refusal(leaving)).toContain(
    `The media folder ${folders.mediaDir} is offline: it does not exist. Mount it again`,
  );
  expect(await readdir(target)).toEqual([]);
  expect(await refusal(recorded.backup())).toContain("is offline: it does not exist");
});

test("a backup in the media folder is refused", async () => {
  await using recorded = await withMedia();
  const { folders, store } = recorded;
  const target = join(folders.mediaDir, "backups");
  expect(await refusal(createBackup({ store, folders, now: () => NOW }, { target, hasMedia: true }, NEVER))).toContain(
    "is inside the data folder or the media folder",
  );
});

test("both folders are renamed, and the restored ones belong together", async () => {
  await using recorded = await withMedia();
  const { path } = await recorded.backup();
  const { data, folders, assetId } = recorded;
  await Bun.write(join(data, "offcut-data.id"), formatMarker(FOLDER_ID));
  const report = await restore(path, data, folders.mediaDir);
  expect(report).toMatchObject({ data_dir: data, media_dir: folders.mediaDir });
  expect(await read(folders.media(assetId).source)).toBe(SOURCE_BYTES);
  expect([await isOnline(folders.mediaDir), await isOnline(data)]).toEqual([true, false]);
  expect((await readdir(data)).sort()).toEqual(["lock", "offcut.db", "secrets.json"]);
  expect(await read(report.previous_media ?? "", "media", assetId, "source")).toBe(SOURCE_BYTES);
  expect(await readdir(report.previous ?? "")).toContain("offcut-data.id");
});

test("media is restored to the data folder unless another one is configured", async () => {
  await using recorded = await withMedia();
  const { path } = await recorded.backup();
  const alone = join(recorded.root, "alone");
  expect(await restore(path, alone, null)).toMatchObject({ media_dir: null, previous_media: null });
  expect([await read(alone, "media", recorded.assetId, "source"), await isOnline(alone)]).toEqual([SOURCE_BYTES, true]);
});

test("a media folder of another data folder is not touched", async () => {
  await using recorded = await withMedia();
  const { path } = await recorded.backup();
  const { root, data, folders } = recorded;
  const before = await listData(recorded);
  const elsewhere = join(root, "elsewhere");
  expect(await refusal(restore(path, elsewhere, folders.mediaDir))).toBe(
    `Media folder ${folders.mediaDir} belongs to another data folder than ${elsewhere}. Rename it, or restore with --media-dir and another folder.`,
  );
  await Bun.write(join(folders.mediaDir, "offcut-media.id"), formatMarker(OTHER_ID));
  expect(await refusal(restore(path, data, folders.mediaDir))).toContain("belongs to another data folder than");
  expect(await listData(recorded)).toEqual(before);
});

test("a backup without media leaves the media folder as it is, and fits to it", async () => {
  await using recorded = await withMedia();
  const { path } = await recorded.backup({ hasMedia: false });
  const { data, folders, assetId } = recorded;
  await rm(data, { recursive: true });
  expect(await restore(path, data, folders.mediaDir)).toMatchObject({
    media_dir: folders.mediaDir,
    previous_media: null,
  });
  expect([await isOnline(folders.mediaDir), await read(folders.media(assetId).source)]).toEqual([true, SOURCE_BYTES]);
  expect((await readdir(data)).sort()).toEqual(["lock", "offcut.db", "secrets.json"]);
});

test("a backup of an older version without an ID is restored to an empty media folder", async () => {
  await using recorded = await recordedFolder();
  const { path } = await recorded.backup();
  const [data, media] = [join(recorded.root, "new"), join(recorded.root, "nas", "media")];
  await mkdir(media, { recursive: true });
  await restore(path, data, media);
  const { folder_id: id, links } = JSON.parse(await read(data, "secrets.json"));
  expect([links, (await read(media, "offcut-media.id")).split("\n")[0]]).toEqual(["secret", id]);
});

const at = (recorded: RecordedFolder, now: number) =>
  takeSnapshot(
    { ...recorded, now: () => now, log: silentLog(), disk: { database: { availableBytes: () => 1e12 } } } as never,
    NEVER,
  );

test("an hour of the past is restored from both folders, with links to the media", async () => {
  await using recorded = await withMedia();
  const { data, folders, assetId, uploadId } = recorded;
  await at(recorded, NOW);
  await moveToTrash(folders, [folders.media(assetId).dir, folders.upload(uploadId)], NOW + HOUR_MS);
  const source = await getLiveSource(data, folders.mediaDir, NOW + HOUR_MS / 2);
  const report = await restore(source, data, folders.mediaDir);
  expect(report.skipped).toEqual([]);
  expect([await read(folders.media(assetId).source), await read(folders.upload(uploadId))]).toEqual([
    SOURCE_BYTES,
    "first ha",
  ]);
  const links = await Promise.all(
    [folders.media(assetId).source, folders.upload(uploadId)].map(async (path) => (await stat(path)).nlink),
  );
  expect([links, await isOnline(folders.mediaDir), await isOnline(data)]).toEqual([[2, 1], true, false]);
  expect((await readdir(data)).sort()).toEqual(["lock", "offcut.db", "secrets.json", "snapshots"]);
  expect(await readdir(join(report.previous_media ?? "", "trash"))).toHaveLength(2);
});

test("an hour of the past is not restored while the media folder is away or that of another data folder", async () => {
  await using recorded = await withMedia();
  const { data, folders } = recorded;
  await at(recorded, NOW);
  await rename(folders.mediaDir, `${folders.mediaDir}.away`);
  await mkdir(folders.mediaDir);
  expect(await refusal(getLiveSource(data, folders.mediaDir, NOW + HOUR_MS))).toContain("has no offcut-media.id");
  await Bun.write(join(folders.mediaDir, "offcut-media.id"), formatMarker(OTHER_ID));
  expect(await refusal(getLiveSource(data, folders.mediaDir, NOW + HOUR_MS))).toContain("of another data folder");
});

test("snapshots are taken while the media folder is away, and none without the data folder", async () => {
  await using recorded = await withMedia();
  await rm(recorded.folders.mediaDir, { recursive: true });
  expect(await at(recorded, NOW)).toMatchObject({ name: "offcut-2027-02-01T09-00-02Z.db.zst" });
  const guard = createFolderGuard([{ path: join(recorded.data, "offcut-data.id"), id: OTHER_ID, setting: "data_dir" }]);
  let checks = 0;
  const snapshots = createSnapshots({
    ...recorded,
    folders: {
      ...recorded.folders,
      guard: {
        ...guard,
        check: () => {
          checks++;
          return guard.check();
        },
      },
    },
    now: () => NOW + 3 * HOUR_MS,
    confirmedNow: () => 0,
    log: silentLog(),
    disk: { database: { availableBytes: () => 1e12 } } as never,
    config: {} as never,
  });
  snapshots.start();
  for (const expected of [1, 2]) {
    snapshots.wake();
    await until("a look", () => checks >= expected);
  }
  await snapshots.stop();
  expect(await readdir(join(recorded.data, "snapshots"))).toHaveLength(1);
});
