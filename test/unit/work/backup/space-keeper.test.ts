/** A full disk must not stop the server: the trash makes room before its time. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { getFolders } from "../../../../src/blobs/folders";
import { holdTrash, moveToTrash } from "../../../../src/blobs/trash";
import { formatSnapshotName, parseTrashName } from "../../../../src/domain/point-in-time";
import { findFileSize } from "../../../../src/lib/file-size";
import { newId } from "../../../../src/lib/ids";
import { silentLog } from "../../../../src/lib/log";
import { SPARE_BYTES } from "../../../../src/lib/spare-space";
import { createSpaceKeeper } from "../../../../src/work/backup/space-keeper";
import type { CoreNeeds } from "../../../../src/work/needs";
import { temporaryFolder } from "../../../temporary-folder";
import { until } from "../../../until";

const RESERVE_BYTES = 1_000_000_000;
const HOUR_MS = 3_600_000;
const NEWEST_SNAPSHOT = formatSnapshotName(3 * HOUR_MS);

/** A disk at its reserve with five deleted files and three snapshots, each of which frees `fileBytes`. */
async function fullDisk(fileBytes: number, { isDatabaseFull = true, isOffline = false } = {}) {
  const folder = await temporaryFolder();
  const disk = { looks: 0, checks: 0, freedByOthers: 0, onShort: () => {} };
  const folders = getFolders(folder.path);
  for (const time of [4, 1, 5, 3, 2]) {
    const id = newId();
    await Bun.write(folders.media(id).source, "bytes");
    await moveToTrash(folders, [folders.media(id).dir], time);
  }
  const snapshots = join(folder.path, "snapshots");
  for (const hour of [1, 2, 3]) await Bun.write(join(snapshots, formatSnapshotName(hour * HOUR_MS)), "snapshot");
  const list = () => [folders.trash, snapshots].flatMap((path) => readdirSync(path)).sort();
  const availableBytes = () => {
    disk.looks++;
    return Math.max(0, disk.freedByOthers + (8 - list().length) * fileBytes);
  };
  const check = async () => {
    disk.checks++;
    return { folder: folder.path, setting: "media_dir" as const, about: "is offline" };
  };
  const keeper = createSpaceKeeper({
    config: { diskReserveBytes: RESERVE_BYTES } as never,
    disk: {
      media: { availableBytes },
      database: { availableBytes: isDatabaseFull ? availableBytes : () => RESERVE_BYTES },
      onShort: (listener: () => void) => Object.assign(disk, { onShort: listener }),
    } as never,
    folders: isOffline ? { ...folders, guard: { ...folders.guard, check } } : folders,
    log: silentLog(),
  } as Partial<CoreNeeds> as CoreNeeds);
  keeper.start();
  return {
    folders,
    disk,
    list,
    times: () => list().flatMap((name) => parseTrashName(name)?.time ?? []),
    [Symbol.asyncDispose]: async () => {
      await keeper.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test("the oldest files are deleted until a quarter of the reserve is free above it", async () => {
  await using it = await fullDisk(100_000_000);
  await until("room", () => it.times().length === 2);
  const { looks } = it.disk;
  it.disk.onShort();
  await until("another look", () => it.disk.looks > looks);
  expect(it.times()).toEqual([4, 5]);
  expect(it.list()).toHaveLength(5);
});

test("when the trash is empty, all snapshots but the newest are removed", async () => {
  await using it = await fullDisk(0);
  await until("the last snapshot", () => it.list().length === 1);
  expect(it.list()).toEqual([NEWEST_SNAPSHOT]);
});

test("nothing is deleted above the reserve, nor while a backup reads the trash", async () => {
  await using it = await fullDisk(0);
  const hold = holdTrash(it.folders);
  it.disk.freedByOthers = 2_000_000;
  const lookAgain = async () => {
    const { looks } = it.disk;
    it.disk.onShort();
    await until("another look", () => it.disk.looks > looks);
  };
  await lookAgain();
  it.disk.freedByOthers = 0;
  await lookAgain();
  expect(it.list()).toHaveLength(8);
  await hold.release();
  it.disk.onShort();
  await until("the last snapshot", () => it.list().length === 1);
});

test("each disk makes room on its own only, and nothing is deleted while a folder is offline", async () => {
  await using it = await fullDisk(0, { isDatabaseFull: false });
  await until("an empty trash", () => it.times().length === 0);
  it.disk.onShort();
  const { looks } = it.disk;
  await until("another look", () => it.disk.looks > looks);
  expect(it.list()).toHaveLength(3);
  // The disk of the database has room: a part of the reserve is set aside for deletions.
  const spare = join(it.folders.root, "spare-space");
  await until("the spare space", async () => (await findFileSize(spare)) === SPARE_BYTES);
  await using away = await fullDisk(0, { isOffline: true });
  for (const checks of [1, 2]) {
    away.disk.onShort();
    await until("a check", () => away.disk.checks >= checks);
  }
  expect(away.list()).toHaveLength(8);
});
