import { describe, expect, test } from "bun:test";
import { closeSync, openSync, renameSync, writeSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFolderGuard, type GuardedMarker } from "../../../src/blobs/folder-guard";
import { openDiskReserve } from "../../../src/blobs/folder-space";
import { createMediaFolders, getFolders } from "../../../src/blobs/folders";
import { emptyTrash, listNames, moveToTrash } from "../../../src/blobs/trash";
import { formatMarker } from "../../../src/domain/media-folder";
import { temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";

const ID = "0190aaaa-0000-7000-8000-000000000001";
const OTHER = "0190aaaa-0000-7000-8000-000000000002";

async function guardedFolder() {
  const folder = await temporaryFolder();
  const media = join(folder.path, "media");
  await mkdir(media);
  const marker: GuardedMarker = { path: join(media, "offcut-media.id"), id: ID, setting: "media_dir" };
  await writeFile(marker.path, formatMarker(ID));
  const guard = createFolderGuard([marker], { maxWaitMs: 100 });
  return {
    media,
    marker,
    guard,
    folders: getFolders(folder.path, media, guard),
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

test("a folder with its marker is online", async () => {
  await using guarded = await guardedFolder();
  expect(await guarded.guard.check()).toBeNull();
  await guarded.guard.confirmOnline();
  guarded.guard.requireOnline();
});

describe("a folder is offline", () => {
  const changes: [string, (media: string, marker: string) => Promise<unknown>, string][] = [
    ["without its marker", (_, marker) => rm(marker), "has no offcut-media.id"],
    ["that is missing", (media) => rename(media, `${media}.away`), "does not exist"],
    [
      "with the marker of another",
      (_, marker) => writeFile(marker, formatMarker(OTHER)),
      "has the offcut-media.id of another data folder",
    ],
    ["with an empty marker", (_, marker) => writeFile(marker, ""), "has the offcut-media.id of another data folder"],
    ["whose marker cannot be read", (_, marker) => rm(marker).then(() => mkdir(marker)), "cannot be read (EISDIR)"],
  ];
  test.each(changes)("%s", async (_, change, reason) => {
    await using guarded = await guardedFolder();
    const { guard, media, marker } = guarded;
    await guard.check();
    await change(media, marker.path);
    const problem = await guard.check();
    expect(problem).toMatchObject({ folder: media, setting: "media_dir" });
    expect(problem?.about).toStartWith(
      `media folder ${media} is offline: it ${reason}. Mount it again, or correct media_dir`,
    );
    expect(guard.findProblem()).toEqual(problem);
    const refusal = { code: "upstream_unavailable", details: { retryAfterSeconds: 30 } };
    expect(() => guard.requireOnline()).toThrow(expect.objectContaining(refusal));
    expect(await guard.confirmOnline().catch((error) => error)).toMatchObject(refusal);
  });
});

test("a folder that does not respond is offline until it does, and is checked once", async () => {
  await using guarded = await guardedFolder();
  const { guard, marker } = guarded;
  await rm(marker.path);
  // Opening it waits for a writer.
  await Bun.spawn(["mkfifo", marker.path]).exited;
  expect((await guard.check())?.about).toContain("does not respond");
  expect((await guard.check())?.about).toContain("does not respond");
  const writer = openSync(marker.path, "r+");
  // Later checks read a file: they would wait for another writer, each on a thread that this process needs.
  await rm(marker.path);
  await writeFile(marker.path, formatMarker(ID));
  writeSync(writer, formatMarker(ID));
  closeSync(writer);
  await until("the response", () => guard.findProblem() === null);
});

test("a check sees changes made while an earlier one ran", async () => {
  await using guarded = await guardedFolder();
  const { guard, media } = guarded;
  for (let round = 0; round < 20; round++) {
    const earlier = [guard.check(), guard.check()];
    renameSync(media, `${media}.away`);
    expect((await guard.check())?.folder).toBe(media);
    renameSync(`${media}.away`, media);
    expect(await guard.check()).toBeNull();
    await Promise.all(earlier);
  }
});

test("listeners learn when it goes and when it is back, once each", async () => {
  await using guarded = await guardedFolder();
  const { guard, media } = guarded;
  const heard: (string | null)[] = [];
  guard.onChange((problem) => heard.push(problem && problem.folder));
  await guard.check();
  await rename(media, `${media}.away`);
  await guard.check();
  // A mount point.
  await mkdir(media);
  await guard.check();
  expect(heard).toEqual([media]);
  await rm(media, { recursive: true });
  await rename(`${media}.away`, media);
  await guard.check();
  await guard.check();
  expect(heard).toEqual([media, null]);
});

test("nothing is concluded from a file that is missing in a folder that is away", async () => {
  await using guarded = await guardedFolder();
  const { guard, media } = guarded;
  expect(await guard.readOnline(async () => null)).toBeNull();
  expect(await guard.readOnline(async () => "found")).toBe("found");
  const goneMeanwhile = guard.readOnline(async () => {
    await rename(media, `${media}.away`);
    return null;
  });
  expect(await goneMeanwhile.catch((error) => error)).toMatchObject({ code: "upstream_unavailable" });
  expect(await guard.readOnline(async () => "found").catch((error) => error)).toMatchObject({
    code: "upstream_unavailable",
  });
});

test("nothing is moved to the trash or deleted from it while the folder is offline", async () => {
  await using guarded = await guardedFolder();
  const { folders, marker, guard } = guarded;
  await createMediaFolders(folders);
  await Bun.write(folders.media("a").source, "bytes");
  await Bun.write(join(folders.trash, "old"), "bytes");
  await rm(marker.path);
  expect(await moveToTrash(folders, [folders.media("a").dir]).catch((error) => error)).toMatchObject({
    code: "upstream_unavailable",
  });
  expect(await emptyTrash(folders, () => true).catch((error) => error)).toMatchObject({ code: "upstream_unavailable" });
  expect([await listNames(folders.mediaRoot), await listNames(folders.trash)]).toEqual([["a"], ["old"]]);
  await writeFile(marker.path, formatMarker(ID));
  expect(await guard.check()).toBeNull();
  await moveToTrash(folders, [folders.media("a").dir]);
  expect(await listNames(folders.mediaRoot)).toEqual([]);
});

test("folders are created in a media folder, and never the media folder itself", async () => {
  await using guarded = await guardedFolder();
  await createMediaFolders(guarded.folders);
  await createMediaFolders(guarded.folders);
  expect((await listNames(guarded.media)).sort()).toEqual([
    "exports",
    "media",
    "offcut-media.id",
    "renders",
    "trash",
    "uploads",
    "work",
  ]);
  await rm(guarded.media, { recursive: true });
  await expect(createMediaFolders(guarded.folders)).rejects.toThrow("ENOENT");
});

test("paths in a backup name the folder that has the file", () => {
  const folders = getFolders("/data", "/mnt/nas");
  const paths = [
    ["media/a/source", "/mnt/nas/media/a/source"],
    ["uploads/a", "/mnt/nas/uploads/a"],
    ["renders/a/output.mp4", "/mnt/nas/renders/a/output.mp4"],
    ["trash/a", "/mnt/nas/trash/a"],
    ["models/m/model.onnx", "/data/models/m/model.onnx"],
    ["offcut.db", "/data/offcut.db"],
    ["secrets.json", "/data/secrets.json"],
    ["snapshots/s", "/data/snapshots/s"],
  ];
  for (const [path, absolute] of paths)
    expect([folders.resolve(path!), folders.toRelative(absolute!)]).toEqual([absolute!, path!]);
  expect(getFolders("/data").resolve("media/a")).toBe("/data/media/a");
});

describe("the disk reserve", () => {
  test("needs room in both folders, and none is free while one is offline", async () => {
    await using guarded = await guardedFolder();
    const { folders, marker, guard } = guarded;
    const free = { root: 1_000, media: 5_000 };
    const measured = { ...folders, guard: { ...guard, getFreeBytes: () => free.media } };
    const reserve = openDiskReserve(measured, 400, () => free.root);
    expect([reserve.availableBytes(), reserve.isCritical()]).toEqual([600, false]);
    free.root = 9_000;
    expect(reserve.availableBytes()).toBe(4_600);
    free.media = 50;
    // Only the database counts for texts.
    expect([reserve.availableBytes(), reserve.isCritical()]).toEqual([0, false]);
    free.root = 50;
    free.media = 5_000;
    expect([reserve.availableBytes(), reserve.isCritical()]).toEqual([0, true]);
    free.root = 9_000;
    await rm(marker.path);
    await guard.check();
    expect([reserve.availableBytes(), reserve.claim(1)]).toEqual([0, false]);
  });

  test("has the space that the last check has found", async () => {
    await using guarded = await guardedFolder();
    const { folders, guard } = guarded;
    const reserve = openDiskReserve(folders, 0);
    expect([guard.getFreeBytes(), reserve.availableBytes()]).toEqual([0, 0]);
    await guard.check();
    expect([guard.getFreeBytes() > 0, reserve.availableBytes() > 0]).toEqual([true, true]);
  });
});
