import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdir, readFile, realpath, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MANIFEST_NAME } from "../../../../src/domain/backup";
import { insertSession } from "../../../../src/store/sessions";
import { findNewestBackup, readBackup, verifyBackup } from "../../../../src/work/backup/backup-folder";
import { keepRecoveryKey } from "../../../../src/work/backup/folder-id";
import { restoreState } from "../../../../src/work/backup/restore-backup";
import { getBackupSource } from "../../../../src/work/backup/restore-source";
import { temporaryFolder } from "../../../temporary-folder";
import { type RecordedFolder, recordedFolder, SOURCE_BYTES } from "./recorded-folder";

const NEVER = new AbortController().signal;
const NOW = Date.UTC(2027, 1, 1, 9);

async function restore(
  path: string,
  dataDir: string,
  { skipDamagedMedia = false, mediaDir = null }: { skipDamagedMedia?: boolean; mediaDir?: string | null } = {},
) {
  return restoreState(
    await getBackupSource(path, null),
    { dataDir, mediaDir, skipDamagedMedia, now: NOW, draftBytes: 0, openDraft: async () => {} },
    NEVER,
  );
}

const refusal = (restoring: Promise<unknown>): Promise<string> =>
  restoring.then(
    () => "restored",
    (error: Error) => error.message,
  );

test("a backup is restored to a folder that does not exist", async () => {
  await using recorded = await recordedFolder();
  const { path } = await recorded.backup();
  const target = join(recorded.root, "deep", "restored");
  const report = await restore(path, target);
  expect(report).toMatchObject({ from: path, data_dir: target, previous: null, skipped: [] });
  expect((await readdir(target)).sort()).toEqual(["lock", "media", "offcut.db", "renders", "secrets.json", "uploads"]);
  expect(await Bun.file(join(target, "media", recorded.assetId, "source")).text()).toBe(SOURCE_BYTES);
  expect(await Bun.file(join(target, "secrets.json")).text()).toBe('{"links":"secret"}');
});

test("media that did not exist when the backup was made is named, because nothing is restored in its place", async () => {
  await using recorded = await recordedFolder();
  await rm(recorded.folders.media(recorded.assetId).source);
  const { path, missing } = await recorded.backup();
  expect(missing).toEqual([`media/${recorded.assetId}/source`]);
  expect(await restore(path, join(recorded.root, "restored"))).toMatchObject({ skipped: [], missing });
});

test("the data folder is renamed, with everything in it", async () => {
  await using recorded = await recordedFolder();
  const { path } = await recorded.backup();
  await Bun.write(join(recorded.data, "later"), "made after the backup");
  // So was the recovery key, without which the backups in the bucket could no longer be read.
  await writeFile(join(recorded.data, "secrets.json"), '{"links":"newer","backup_key":"KEY"}');
  const { previous } = await restore(path, recorded.data);
  expect(await Bun.file(join(recorded.data, "secrets.json")).json()).toEqual({ links: "secret", backup_key: "KEY" });
  expect(previous).toBe(`${recorded.data}.before-restore-2027-02-01T09-00-00Z`);
  expect(await Bun.file(join(previous!, "later")).text()).toBe("made after the backup");
  expect(await readdir(recorded.data)).not.toContain("later");
});

test("a data folder that is a link is refused, with the folder that it leads to", async () => {
  await using recorded = await recordedFolder();
  const { path } = await recorded.backup();
  const link = join(recorded.root, "link");
  await symlink(recorded.data, link);
  const refused = `${link} is a link. Name the folder that it leads to: --data-dir ${await realpath(recorded.data)}.`;
  await expect(restore(path, link)).rejects.toThrow(refused);
  expect((await readdir(recorded.root)).sort()).toEqual(["backups", "data", "link"]);
});

test.each([
  ["of another data folder is not taken over", '{"folder_id":"other","backup_key":"KEY"}', {}, {}],
  [
    "does not replace that of the backup",
    '{"folder_id":"own","backup_key":"KEY"}',
    { backup_key: "OLD" },
    { backup_key: "OLD" },
  ],
  ["is lost when its file is damaged", "{", {}, {}],
])("a recovery key %s", async (_, live, stored, expected) => {
  await using folder = await temporaryFolder();
  await Bun.write(join(folder.path, "live", "secrets.json"), live);
  const restored = join(folder.path, "restored");
  await Bun.write(join(restored, "secrets.json"), JSON.stringify({ folder_id: "own", ...stored }));
  await keepRecoveryKey(restored, join(folder.path, "live"));
  expect(await Bun.file(join(restored, "secrets.json")).json()).toEqual({ folder_id: "own", ...expected });
});

test("sessions end, because they may have been revoked after the backup", async () => {
  await using recorded = await recordedFolder();
  await recorded.store.write(async (tx) => {
    const [user] = await tx.all<{ id: string }>("SELECT id FROM users");
    await insertSession(tx, {
      id: "session",
      user_id: user!.id,
      created_at: 0,
      authenticated_at: 0,
      last_seen_at: 0,
      expires_at: Number.MAX_SAFE_INTEGER,
    });
  });
  const { path } = await recorded.backup();
  const target = join(recorded.root, "restored");
  await restore(path, target);
  using database = new Database(join(target, "offcut.db"));
  expect(database.query("SELECT count(*) AS n FROM sessions").get()).toEqual({ n: 0 });
  expect(database.query("SELECT count(*) AS n FROM users").get()).toEqual({ n: 1 });
});

describe("damage is found and named:", () => {
  const source = ({ assetId }: RecordedFolder) => `media/${assetId}/source`;
  const CASES: [string, (recorded: RecordedFolder, path: string) => Promise<string>, RegExp, string][] = [
    [
      "a changed byte of media",
      async (recorded, path) => {
        const file = join(path, source(recorded));
        const bytes = await readFile(file);
        bytes[3]! ^= 1;
        await writeFile(file, bytes);
        return source(recorded);
      },
      /has changed since the backup/,
      "media",
    ],
    [
      "a short media file",
      async (recorded, path) => {
        await truncate(join(path, source(recorded)), 4);
        return source(recorded);
      },
      /has 4 bytes, expected 24/,
      "media",
    ],
    [
      "a missing media file",
      async (recorded, path) => {
        await rm(join(path, source(recorded)));
        return source(recorded);
      },
      /is missing/,
      "media",
    ],
    [
      "a changed page of the database",
      async (_, path) => {
        const file = join(path, "offcut.db");
        const bytes = await readFile(file);
        bytes.fill(0xff, 5000, 9000);
        await writeFile(file, bytes);
        return "offcut.db";
      },
      /has changed since the backup/,
      "essential",
    ],
    [
      "missing secrets",
      async (_, path) => {
        await rm(join(path, "secrets.json"));
        return "secrets.json";
      },
      /is missing/,
      "essential",
    ],
  ];
  test.each(CASES)("%s", async (_, damage, problem, kind) => {
    await using recorded = await recordedFolder();
    const { path } = await recorded.backup();
    const name = await damage(recorded, path);
    const { damaged } = await verifyBackup(await readBackup(path), { signal: NEVER });
    expect(damaged).toEqual([{ path: name, problem: expect.stringMatching(problem) }]);

    const target = join(recorded.root, "restored");
    const message = await refusal(restore(path, target));
    expect(message).toContain(name);
    expect(message).toMatch(problem);
    const skipping = restore(path, target, { skipDamagedMedia: true });
    if (kind === "essential") expect(await refusal(skipping)).toContain("Choose another backup.");
    else expect((await skipping).skipped).toEqual(damaged);
    // A refused restore leaves nothing behind.
    expect((await readdir(recorded.root)).sort()).toEqual(
      kind === "essential" ? ["backups", "data"] : ["backups", "data", "restored"],
    );
  });
});

test("a sample reads its share of the media, and always the database", async () => {
  await using recorded = await recordedFolder();
  const { path } = await recorded.backup();
  const backup = await readBackup(path);
  const draws = [0.01, 0.5, 0.9, 0.04];
  const report = await verifyBackup(backup, { sample: 0.05, signal: NEVER, random: () => draws.shift()! });
  expect(report).toMatchObject({ files: 6, checked_files: 4, damaged: [] });
});

test("a backup of a newer version is refused, with both versions", async () => {
  await using recorded = await recordedFolder();
  const { path } = await recorded.backup();
  const { manifest } = await readBackup(path);
  await writeFile(join(path, MANIFEST_NAME), JSON.stringify({ ...manifest, version: "9.9.9", schema: "9999_future" }));
  const message = await refusal(restore(path, join(recorded.root, "restored")));
  expect(message).toContain("9.9.9");
  expect(message).toContain("newer database than this version");
});

test.each([
  ["the newest", {}, "offcut-2027-01-31T05-00-00Z"],
  ["the newest until a time", { until: Date.UTC(2027, 0, 31, 4, 59) }, "offcut-2027-01-31T04-00-00Z"],
  ["the newest with media", { hasMedia: true }, "offcut-2027-01-31T03-00-00Z"],
  ["none", { until: 0 }, null],
])("of several backups %s is found", async (_, options, expected) => {
  await using recorded = await recordedFolder();
  await recorded.backup();
  await recorded.backup({ hasMedia: false });
  await recorded.backup({ hasMedia: false });
  const folder = join(recorded.root, "backups");
  // A folder without a manifest is not a backup.
  await Bun.write(join(folder, "offcut-2028-01-01T00-00-00Z", "offcut.db"), "");
  const found = await findNewestBackup(folder, options);
  expect(found?.path ?? null).toBe(expected === null ? null : join(folder, expected));
});
