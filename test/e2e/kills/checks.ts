/** Invariants of the folders after each kill. */
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { copyFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { listNames } from "../../../src/blobs/trash";
import { DATABASE_NAME } from "../../../src/domain/backup";
import type { VerifyReport } from "../../../src/work/backup/backup-folder";
import { restoreState } from "../../../src/work/backup/restore-backup";
import { getBackupSource } from "../../../src/work/backup/restore-source";
import { MIGRATION_NAMES } from "../../unit/store/old-database";
import { runOffcut } from "../offcut";
import { askServer } from "../server";
import { OFFSITE, type SideMoment, type World } from "./moments";

const NEVER = new AbortController().signal;

/** IDs of the rows that have files, by folder of the data folder. */
export type KnownIds = Record<"media" | "uploads" | "renders" | "exports", Set<string>>;

/**
 * Copies the database of a stopped server with its log, as a kill has left them, checks the copy, and returns its IDs.
 */
export async function checkDatabase({ server, side }: World): Promise<KnownIds> {
  const copy = join(side, "copy.db");
  for (const suffix of ["", "-wal"]) {
    await rm(copy + suffix, { force: true });
    const from = join(server.data, DATABASE_NAME + suffix);
    if (await Bun.file(from).exists()) await copyFile(from, copy + suffix);
  }
  await rm(`${copy}-shm`, { force: true });
  using database = new Database(copy, { readwrite: true, create: false });
  expect(database.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
  expect(database.query("PRAGMA foreign_key_check").values()).toEqual([]);
  const list = (query: string) => new Set(database.query(query).values().flat() as string[]);
  const assets = list("SELECT id FROM assets");
  return {
    media: assets,
    uploads: assets,
    renders: list("SELECT id FROM renders"),
    exports: list("SELECT id FROM data_exports"),
  };
}

/** The start has removed files that no row has, and unfinished snapshots. */
export async function checkOrphans({ server }: World, known: KnownIds): Promise<void> {
  for (const [folder, ids] of Object.entries(known)) {
    const names = await listNames(join(server.data, folder));
    const orphans = names.filter((name) => !ids.has(name.replace(/\..*$/, "")));
    expect([folder, ...orphans]).toEqual([folder]);
  }
}

/** The newest backup is intact and can be restored, also where a restore was killed. Returns how many files it has. */
export async function checkBackup({ backups, side }: World): Promise<number> {
  const root = join(side, "restored");
  const dataDir = join(root, "data");
  const source = await getBackupSource(backups, null);
  const { files, skipped } = await restoreState(
    source,
    { dataDir, mediaDir: null, skipDamagedMedia: false, now: Date.now(), draftBytes: 0, openDraft: async () => {} },
    NEVER,
  );
  expect(skipped).toEqual([]);
  const names = await readdir(root);
  expect(names.filter((name) => !/^data($|\.before-restore-)/.test(name) && name.startsWith("data"))).toEqual([]);
  for (const name of names) if (name.startsWith("data")) await rm(join(root, name), { recursive: true, force: true });
  return files;
}

/** The newest off-site backup is intact. The server runs. */
export async function checkOffsite({ server }: World): Promise<void> {
  const report = await askServer<VerifyReport>(server.data, "backup verify", { path: OFFSITE, sample: 1 });
  expect(report.damaged).toEqual([]);
  expect(report.checked_files).toBe(report.files);
}

/** A command that is run again after a kill has the same effect. */
export async function checkCommand(world: World, moment: SideMoment): Promise<void> {
  if (moment.name !== "migration") return;
  const folder = moment.folder(world);
  const { code, stdout, stderr } = await runOffcut(moment.args(world), { folder });
  expect([code, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toMatchObject({ items: [{ email: "u@example.test" }] });
  const names = await readdir(join(folder, "data"));
  expect(names.filter((name) => /migrat/.test(name))).toEqual([]);
  using database = new Database(join(folder, "data", DATABASE_NAME), { readwrite: true, create: false });
  expect(database.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
  expect(database.query("SELECT name FROM migrations ORDER BY name").values().flat()).toEqual(MIGRATION_NAMES);
}
