/**
 * Restores hours of the past: snapshots of the database and the trash, from a backup and from the data folder itself.
 */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { moveToTrash } from "../../../../src/blobs/trash";
import { formatSnapshotName } from "../../../../src/domain/point-in-time";
import { silentLog } from "../../../../src/lib/log";
import { deleteAsset } from "../../../../src/store/assets";
import { compressFile } from "../../../../src/work/backup/compressed-file";
import { restoreState } from "../../../../src/work/backup/restore-backup";
import { getBackupSource, getLiveSource, type RestoreSource } from "../../../../src/work/backup/restore-source";
import { createSnapshots, takeSnapshot } from "../../../../src/work/backup/snapshots";
import { until } from "../../../until";
import { addAsset, addUser } from "../../store/test-store";
import { type RecordedFolder, recordedFolder, SOURCE_BYTES } from "./recorded-folder";

const NEVER = new AbortController().signal;
const HOUR_MS = 3_600_000;
/** The hour of the snapshot. The first backup of a recorded folder is an hour later. */
const START = Date.UTC(2027, 0, 31, 2);

const services = ({ store, folders }: RecordedFolder, now: number, availableBytes = 1e12) => ({
  store,
  folders,
  now: () => now,
  confirmedNow: () => now,
  log: silentLog(),
  disk: { database: { availableBytes: () => availableBytes } } as never,
  config: {} as never,
});

const snapshotsOf = async ({ data }: RecordedFolder) => (await readdir(join(data, "snapshots")).catch(() => [])).sort();

/** Deletes the recording and its render at a time, as the server does. */
async function deleteAll({ store, folders, assetId, renderId, uploadId }: RecordedFolder, now: number): Promise<void> {
  await store.write(async (tx) => {
    await tx.run(sql`DELETE FROM renders`);
    for (const id of [assetId, uploadId]) await deleteAsset(tx, id);
  });
  const paths = [folders.media(assetId).dir, folders.render(renderId), folders.upload(uploadId)];
  await moveToTrash(folders, paths, now);
}

/** Adds a recording that did not exist before. */
async function addLater({ store, folders }: RecordedFolder): Promise<string> {
  const asset = await store.write(async (tx) => addAsset(tx, await addUser(tx), { state: "ready" }));
  await Bun.write(folders.media(asset.id).source, "later");
  return asset.id;
}

const restore = (source: RestoreSource, dataDir: string, skipDamagedMedia = false) =>
  restoreState(
    source,
    { dataDir, mediaDir: null, skipDamagedMedia, now: START, draftBytes: 0, openDraft: async () => {} },
    NEVER,
  );

const refusal = (restoring: Promise<unknown>): Promise<string> =>
  restoring.then(
    () => "restored",
    (error: Error) => error.message,
  );

/** Expects the state of the snapshot: the deleted files with their bytes, and nothing that came later. */
async function expectRestored({ assetId, renderId, uploadId }: RecordedFolder, target: string): Promise<void> {
  using database = new Database(join(target, "offcut.db"));
  const ids = (table: string) => (database.query(`SELECT id FROM ${table} ORDER BY id`).values() as [string][]).flat();
  expect(ids("assets")).toEqual([assetId, uploadId].sort());
  expect(ids("renders")).toEqual([renderId]);
  expect((await readdir(join(target, "media"))).sort()).toEqual([assetId]);
  expect(await readFile(join(target, "media", assetId, "source"), "utf8")).toBe(SOURCE_BYTES);
  expect(await readFile(join(target, "media", assetId, "poster.jpg"), "utf8")).toBe("poster");
  expect(await readFile(join(target, "renders", renderId, "output.mp4"), "utf8")).toBe("render");
  expect(await readFile(join(target, "uploads", uploadId), "utf8")).toBe("first ha");
  expect(await Bun.file(join(target, "secrets.json")).exists()).toBe(true);
}

test("an hour before recordings were deleted is restored from the data folder itself", async () => {
  await using recorded = await recordedFolder();
  await takeSnapshot(services(recorded, START), NEVER);
  await deleteAll(recorded, START + HOUR_MS);
  await addLater(recorded);
  await takeSnapshot(services(recorded, START + 2 * HOUR_MS), NEVER);
  const source = await getLiveSource(recorded.data, null, START + HOUR_MS);
  const report = await restore(source, recorded.data);
  expect(report.previous).toBe(`${recorded.data}.before-restore-2027-01-31T02-00-00Z`);
  await expectRestored(recorded, recorded.data);
  // The newer snapshot stays in the folder that was replaced.
  expect(await snapshotsOf(recorded)).toEqual([formatSnapshotName(START + 2_000)]);
  expect(await readdir(join(report.previous!, "snapshots"))).toHaveLength(2);
  // Files that never change are links; an upload grows.
  const path = `media/${recorded.assetId}/source`;
  expect((await stat(join(recorded.data, path))).nlink).toBe(2);
  expect((await stat(join(recorded.data, "uploads", recorded.uploadId))).nlink).toBe(1);
  expect(await readdir(join(recorded.root))).toHaveLength(2);
});

test("the same hour is restored from a backup that was made later", async () => {
  await using recorded = await recordedFolder();
  await takeSnapshot(services(recorded, START), NEVER);
  await deleteAll(recorded, START + HOUR_MS / 2);
  await addLater(recorded);
  const first = await recorded.backup();
  await recorded.backup();
  const source = await getBackupSource(join(recorded.root, "backups"), START + HOUR_MS / 2);
  // Both have the snapshot; the older backup has lost less.
  expect(source).toMatchObject({ path: first.path, state: { path: `snapshots/${formatSnapshotName(START + 2_000)}` } });
  const target = join(recorded.root, "restored");
  expect(await restore(source, target)).toMatchObject({ previous: null, skipped: [] });
  await expectRestored(recorded, target);
  expect((await stat(join(target, `media/${recorded.assetId}/source`))).nlink).toBe(1);
  const before = await refusal(getBackupSource(join(recorded.root, "backups"), START - 1));
  expect(before).toContain(
    "has no state until 2027-01-31T01:59:59.999Z. The oldest state is of 2027-01-31T02:00:02.000Z.",
  );
});

test("files that move to the trash are linked to the previous backup", async () => {
  await using recorded = await recordedFolder();
  await recorded.backup();
  await deleteAll(recorded, START + 2 * HOUR_MS);
  expect(await recorded.backup()).toMatchObject({ copied_files: 0, linked_files: 4, missing: [] });
});

test("a file that is lost is named, and the rest can be restored without it", async () => {
  await using recorded = await recordedFolder();
  await takeSnapshot(services(recorded, START), NEVER);
  await deleteAll(recorded, START + HOUR_MS);
  await rm(recorded.folders.trash, { recursive: true });
  const source = await getLiveSource(recorded.data, null, START + HOUR_MS);
  const message = await refusal(restore(source, recorded.data));
  expect(message).toContain(`media/${recorded.assetId}/source is missing, renders/${recorded.renderId} is missing`);
  expect(await readdir(recorded.root)).toEqual(["data"]);
  expect((await restore(source, recorded.data, true)).skipped).toHaveLength(2);
});

test("damaged snapshots and secrets are refused, also when damaged media is skipped", async () => {
  await using recorded = await recordedFolder();
  await takeSnapshot(services(recorded, START), NEVER);
  const [name] = await snapshotsOf(recorded);
  const path = join(recorded.data, "snapshots", name!);
  const whole = await readFile(path);
  const flipped = Buffer.from(whole);
  flipped[flipped.length >> 1]! ^= 1;
  for (const bytes of [flipped, whole.subarray(0, whole.length >> 1), whole.subarray(0, 3), Buffer.alloc(0)]) {
    await writeFile(path, bytes);
    const source = await getLiveSource(recorded.data, null, START + HOUR_MS);
    expect(await refusal(restore(source, recorded.data, true))).toBe(`${path} is damaged.`);
  }
  // A frame that is intact, around something that is not a database.
  await rm(path);
  const text = join(recorded.root, "text");
  await writeFile(text, "not a database ".repeat(1000));
  await compressFile(text, path, NEVER);
  const source = await getLiveSource(recorded.data, null, START + HOUR_MS);
  expect(await refusal(restore(source, recorded.data, true))).toContain("file is not a database");
  expect((await readdir(recorded.root)).sort()).toEqual(["data", "text"]);
});

test("links in a backup are damage: they lead out of it", async () => {
  await using recorded = await recordedFolder();
  const { path } = await recorded.backup();
  const outside = join(recorded.root, "outside");
  await Bun.write(join(outside, "source"), SOURCE_BYTES);
  const media = join(path, "media", recorded.assetId);
  await rm(join(media, "source"));
  await symlink(join(outside, "source"), join(media, "source"));
  const source = await getBackupSource(path, null);
  const target = join(recorded.root, "restored");
  expect(await refusal(restore(source, target))).toContain("source is not a file");
  await rm(media, { recursive: true });
  await symlink(outside, media);
  expect(await refusal(restore(source, target))).toContain(`source is in media/${recorded.assetId}, which is a link`);
});

test("a restore that does not fit is refused before anything is read or written", async () => {
  await using recorded = await recordedFolder();
  const { path } = await recorded.backup();
  const source = await getBackupSource(path, null);
  const huge = source.files.map((file) => (file.path.endsWith("/source") ? { ...file, bytes: 1e15 } : file));
  const target = join(recorded.root, "restored");
  expect(await refusal(restore({ ...source, files: huge }, target))).toMatch(/ needs 1 PB, has .* free\.$/);
  expect((await readdir(recorded.root)).sort()).toEqual(["backups", "data"]);
});

test("snapshots are taken every hour when something was committed, and old ones are removed", async () => {
  await using recorded = await recordedFolder();
  let now: number;
  const polled: number[] = [];
  let confirmed = 0;
  const source = {
    ...services(recorded, 0),
    confirmedNow: () => confirmed,
    now: () => {
      polled.push(now);
      return now;
    },
  };
  const snapshots = createSnapshots(source);
  await Bun.write(join(recorded.data, "snapshots", ".offcut-2027-01-30T02-00-00Z.db.zst.copy"), "of a killed server");
  await Bun.write(join(recorded.data, "snapshots", formatSnapshotName(START - 60 * HOUR_MS)), "old");
  await Bun.write(join(recorded.data, "snapshots", formatSnapshotName(START - 50 * HOUR_MS)), "the state 48 hours ago");
  /** Runs a pass at a time. One that takes a snapshot asks for the time once more. */
  const pass = async (time: number, isTaken: boolean) => {
    now = time;
    polled.length = 0;
    snapshots.wake();
    await until("a pass", () => polled.length >= (isTaken ? 3 : 2));
    return snapshotsOf(recorded);
  };
  now = START;
  snapshots.start();
  const [first, second] = [START + 2_000, START + HOUR_MS + 62_000].map(formatSnapshotName);
  const oldest = formatSnapshotName(START - 50 * HOUR_MS);
  const ancient = formatSnapshotName(START - 60 * HOUR_MS);
  expect(await pass(START, true)).toEqual([ancient, oldest, first!]);
  confirmed = START;
  expect(await pass(START, false)).toEqual([oldest, first!]);
  await rm(join(recorded.data, "snapshots", oldest));
  expect(await pass(START + HOUR_MS, false)).toEqual([first!]);
  await addLater(recorded);
  expect(await pass(START + HOUR_MS + 60_000, true)).toEqual([first!, second!]);
  await addLater(recorded);
  expect(await pass(START + HOUR_MS + 120_000, false)).toEqual([first!, second!]);
  // The clock is set back: the snapshots of the future stay, and a new one is taken.
  const early = formatSnapshotName(START - 24 * HOUR_MS + 2_000);
  expect(await pass(START - 24 * HOUR_MS, true)).toEqual([early, first!, second!]);
  // The clock jumps ahead: nothing that was needed before is removed until the time is confirmed.
  expect(await pass(START + 50 * HOUR_MS, false)).toEqual([early, first!, second!]);
  confirmed = START + 50 * HOUR_MS;
  expect(await pass(START + 50 * HOUR_MS, false)).toEqual([second!]);
  await snapshots.stop();
});

test("without room above the reserve no snapshot is taken", async () => {
  await using recorded = await recordedFolder();
  expect(await takeSnapshot(services(recorded, START, 1_000), NEVER)).toBe(null);
  expect(await snapshotsOf(recorded)).toEqual([]);
});

test("a snapshot that is interrupted leaves nothing behind", async () => {
  await using recorded = await recordedFolder();
  const abort = new AbortController();
  const store = {
    ...recorded.store,
    copyTo: async (target: string) => {
      await recorded.store.copyTo(target);
      abort.abort(new Error("stopped"));
    },
  };
  expect(await refusal(takeSnapshot({ ...services(recorded, START), store }, abort.signal))).toBe("stopped");
  expect(await snapshotsOf(recorded)).toEqual([]);
});
