import { describe, expect, test } from "bun:test";
import { chmod, chown, mkdir, readdir, rename, rm, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../../../src/config";
import { type DataFolder, openDataFolder } from "../../../src/data-folder";
import { parseMarker } from "../../../src/domain/media-folder";
import { requireLocalFolder } from "../../../src/media-folder";
import { temporaryFolder } from "../../temporary-folder";

const FOLDERS = ["uploads", "media", "renders", "exports", "trash"];

/** A data folder and a place for media folders. `start` opens and closes them as a server does. */
async function place() {
  const root = await temporaryFolder();
  const data = join(root.path, "data");
  const media = join(root.path, "nas", "media");
  const start = async (mediaDir: string | null, more: { backupTo?: string } = {}) => {
    const opened = await openDataFolder({ dataDir: data, mediaDir, ...more });
    opened.lock.release();
    // As the database does.
    await Bun.write(join(data, "offcut.db"), "database");
    return opened;
  };
  return {
    data,
    media,
    start,
    refusal: (mediaDir: string | null, more = {}) =>
      start(mediaDir, more).then(
        () => "started",
        (error: Error) => (error instanceof ConfigError ? error.message : error),
      ),
    markers: async () => {
      const read = async (path: string) =>
        (await Bun.file(path).exists()) ? parseMarker(await Bun.file(path).text()) : null;
      return {
        data: await read(join(data, "offcut-data.id")),
        inData: await read(join(data, "offcut-media.id")),
        inMedia: await read(join(media, "offcut-media.id")),
      };
    },
    [Symbol.asyncDispose]: root[Symbol.asyncDispose],
  };
}

const getId = ({ secrets }: DataFolder) => secrets.folder_id;
const isOnline = ({ guard }: DataFolder) => guard.findProblem() === null;

test("a new data folder has its ID in both markers, and keeps it", async () => {
  await using at = await place();
  const first = await at.start(null);
  const id = getId(first);
  expect([first.mediaDir, isOnline(first), await at.markers()]).toEqual([
    at.data,
    true,
    { data: id, inData: id, inMedia: null },
  ]);
  const again = await at.start(null);
  expect([getId(again), isOnline(again)]).toEqual([id, true]);
});

test("a new media folder is created, private, with the only marker of the media", async () => {
  await using at = await place();
  const first = await at.start(at.media);
  const id = getId(first);
  expect([first.mediaDir, isOnline(first), await at.markers()]).toEqual([
    at.media,
    true,
    { data: id, inData: null, inMedia: id },
  ]);
  expect((await stat(at.media)).mode & 0o777).toBe(0o700);
  await chmod(at.media, 0o755);
  expect(getId(await at.start(at.media))).toBe(id);
  expect((await stat(at.media)).mode & 0o777).toBe(0o700);
});

test("a path to the data folder is the data folder", async () => {
  await using at = await place();
  await mkdir(at.data);
  const link = join(at.data, "..", "link");
  await symlink(at.data, link);
  expect((await at.start(link)).mediaDir).toBe(at.data);
  expect((await at.start(`${at.data}/../data/`)).mediaDir).toBe(at.data);
});

test("a folder of an older version gets its markers, and one with media does not start without it", async () => {
  await using at = await place();
  await Bun.write(join(at.data, "offcut.db"), "database");
  await Bun.write(join(at.data, "secrets.json"), JSON.stringify({ links: "l".repeat(43) }));
  await Bun.write(join(at.data, "media", "a", "source"), "bytes");
  expect(await at.refusal(at.media)).toBe(
    `Media folder ${at.media} is empty, and the media of this server is in ${at.data}. Move ${FOLDERS.join(", ")} and offcut-media.id from there to ${at.media}, and start again.`,
  );
  // As it says.
  await mkdir(at.media, { recursive: true });
  for (const name of [...FOLDERS, "offcut-media.id"])
    await rename(join(at.data, name), join(at.media, name)).catch(() => {});
  const moved = await at.start(at.media);
  expect([isOnline(moved), moved.secrets.links]).toEqual([true, "l".repeat(43)]);
  expect(await Bun.file(join(at.media, "media", "a", "source")).text()).toBe("bytes");
});

test("media that was moved without its marker is not taken over", async () => {
  await using at = await place();
  await at.start(null);
  await Bun.write(join(at.media, "media", "a", "source"), "bytes");
  expect(await at.refusal(at.media)).toContain(
    `If they are those of this server, move ${at.data}/offcut-media.id there.`,
  );
  await rename(join(at.data, "offcut-media.id"), join(at.media, "offcut-media.id"));
  expect(isOnline(await at.start(at.media))).toBe(true);
});

test("a media folder that was moved with its marker works, also back in the data folder", async () => {
  await using at = await place();
  await at.start(at.media);
  await Bun.write(join(at.media, "media", "a", "source"), "bytes");
  await rename(at.media, `${at.media}-moved`);
  expect(isOnline(await at.start(`${at.media}-moved`))).toBe(true);
  for (const name of await readdir(`${at.media}-moved`))
    await rename(join(`${at.media}-moved`, name), join(at.data, name));
  expect(isOnline(await at.start(null))).toBe(true);
});

describe("a media folder that is away", () => {
  test.each([
    ["missing", false],
    ["an empty mount point", true],
  ])("%s: the start is offline and creates nothing", async (_, isEmpty) => {
    await using at = await place();
    const first = await at.start(at.media);
    await rename(at.media, `${at.media}.away`);
    if (isEmpty) await mkdir(at.media);
    const offline = await at.start(at.media);
    expect(offline.guard.findProblem()).toMatchObject({ folder: at.media, setting: "media_dir" });
    expect(await readdir(join(at.media, "..")).then((names) => names.sort())).toEqual(
      isEmpty ? ["media", "media.away"] : ["media.away"],
    );
    if (isEmpty) expect(await readdir(at.media)).toEqual([]);
    if (isEmpty) await rm(at.media, { recursive: true });
    await rename(`${at.media}.away`, at.media);
    expect([await offline.guard.check(), getId(offline)]).toEqual([null, getId(first)]);
  });

  test("because the setting was removed", async () => {
    await using at = await place();
    await at.start(at.media);
    const offline = await at.start(null);
    expect(offline.guard.findProblem()?.about).toContain("Set media_dir to the folder that has it");
    expect(await at.markers()).toMatchObject({ inData: null });
  });
});

test("an unmounted data folder is not taken for a new one", async () => {
  await using at = await place();
  await at.start(at.media);
  await rename(at.data, `${at.data}.away`);
  await mkdir(at.data);
  expect(await at.refusal(at.media)).toBe(
    `Media folder ${at.media} belongs to a data folder, but ${at.data} has no database. Mount the data folder, or restore a backup to it.`,
  );
  expect((await readdir(at.data)).filter((name) => name !== "lock")).toEqual([]);
});

test("media without a database is not taken for that of a new server", async () => {
  await using at = await place();
  await at.start(null);
  await Bun.write(join(at.data, "media", "a", "source"), "bytes");
  await rm(join(at.data, "offcut.db"));
  expect(await at.refusal(null)).toBe(
    `Data folder ${at.data} has media but no database. Restore a backup, or set data_dir to an empty folder.`,
  );
});

test("the media folder of another server is refused", async () => {
  await using at = await place();
  await using other = await place();
  await at.start(at.media);
  await other.start(null);
  expect(await other.refusal(at.media)).toContain(`Media folder ${at.media} belongs to another data folder`);
});

test("a start that was killed after the first marker or the ID comes to the same result", async () => {
  await using at = await place();
  const id = getId(await at.start(null));
  // After the marker: the secrets have no ID yet.
  await rm(join(at.data, "secrets.json"));
  await rm(join(at.data, "offcut.db"));
  expect([getId(await at.start(at.media)), await at.markers()]).toEqual([id, { data: id, inData: null, inMedia: id }]);
  // Killed after the marker was written to the media folder: the one in the data folder still exists.
  await Bun.write(join(at.data, "offcut-media.id"), Bun.file(join(at.media, "offcut-media.id")));
  await at.start(at.media);
  expect(await at.markers()).toEqual({ data: id, inData: null, inMedia: id });
});

test.each([
  ["inside the data folder", (data: string) => [join(data, "media"), undefined], "must not be inside data_dir"],
  ["around the data folder", (data: string) => [join(data, ".."), undefined], "must not be inside media_dir"],
  ["the backup folder", (data: string) => [join(data, "../b"), join(data, "../b")], "must not contain each other"],
] as [string, (data: string) => [string, string | undefined], string][])(
  "a media folder %s is refused",
  async (_, choose, reason) => {
    await using at = await place();
    const [mediaDir, backupTo] = choose(at.data);
    expect(await at.refusal(mediaDir, backupTo === undefined ? {} : { backupTo })).toContain(reason);
  },
);

test.skipIf(process.getuid?.() !== 0)("a media folder of another user is refused", async () => {
  await using at = await place();
  await mkdir(at.media, { recursive: true });
  await chown(at.media, 12_345, 12_345);
  expect(await at.refusal(at.media)).toBe(
    `Media folder ${at.media} belongs to user ID 12345, but offcut runs as 0. Run offcut as the owner of the folder.`,
  );
});

test("a file in place of the media folder is refused with one line", async () => {
  await using at = await place();
  await Bun.write(at.media, "file");
  expect(await at.refusal(at.media)).toStartWith(`Cannot use the media folder ${at.media}: `);
});

describe("a data folder on a network file system", () => {
  const NFS = 0x6969;

  test("is refused before anything is written to it", async () => {
    await using at = await place();
    const starting = openDataFolder({ dataDir: at.data, mediaDir: null }, () => NFS);
    await expect(starting).rejects.toThrow(
      `Data folder ${at.data} is on a network file system (NFS), which can damage the database. Set data_dir to a local disk; media_dir may be on NFS.`,
    );
    await expect(stat(at.data)).rejects.toThrow("ENOENT");
  });

  test("is found by the file system of the folder above", () => {
    expect(() => requireLocalFolder("/no/such/folder", () => 0x65735546)).toThrow("(FUSE)");
    expect(() => requireLocalFolder("/no/such/folder")).not.toThrow();
  });
});
