/** Finds what to restore: a backup, or the data folder itself with its snapshots and its trash. */
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { listNames } from "../../blobs/trash";
import {
  BACKUP_FOLDERS,
  type BackupFile,
  DATABASE_NAME,
  MANIFEST_NAME,
  parseBackupName,
  SECRETS_NAME,
} from "../../domain/backup";
import { AppError } from "../../domain/errors";
import { findStateAt, listStates, type RecordedState } from "../../domain/point-in-time";
import { type Backup, type DamagedFile, findNewestBackup, readBackup } from "./backup-folder";
import { walk } from "./find-files";

/** A file of a source. `sha256` null: not known, because the file is not in a backup. */
export type SourceFile = Omit<BackupFile, "sha256"> & { sha256: string | null };

/**
 * `path`: the folder with the files; `origin`: where they come from, for people. `state`: the copy of the database to restore. `backup` null: the
 * data folder is its own source. `download`: set when `path` has files that were downloaded for this restore only, without the damaged ones.
 */
export type RestoreSource = {
  path: string;
  origin: string;
  state: RecordedState;
  files: SourceFile[];
  backup: Backup | null;
  download: { damaged: DamagedFile[] } | null;
};

/** Returns the source that restores a whole backup. */
export const toSource = (backup: Backup): RestoreSource => ({
  path: backup.path,
  origin: backup.path,
  state: { path: DATABASE_NAME, time: Date.parse(backup.manifest.created_at) },
  files: backup.manifest.files,
  backup,
  download: null,
});

/**
 * Returns the newest state until `at` of the backups in a folder, or of a single backup. Several backups may have its snapshot: the oldest of them
 * has lost the fewest files. `at` null: the newest backup. Throws `AppError` `not_found` when there is none.
 */
export async function findBackupSource(folder: string, at: number | null): Promise<RestoreSource> {
  const isSingle = await Bun.file(join(folder, MANIFEST_NAME)).exists();
  if (at === null) {
    const newest = isSingle ? await readBackup(folder) : await findNewest(folder);
    return toSource(newest);
  }
  const names = (await listNames(folder)).filter((name) => parseBackupName(name) !== null).sort();
  const paths = isSingle ? [folder] : names.map((name) => join(folder, name));
  return selectSource(folder, readBackups(paths), at);
}

async function* readBackups(paths: readonly string[]): AsyncGenerator<Backup> {
  for (const path of paths) {
    const backup = await readBackup(path).catch(() => null);
    if (backup !== null) yield backup;
  }
}

/** Returns the newest state until `at` of the backups of a place, the oldest first. Throws `AppError` `not_found` when there is none. */
export async function selectSource<T extends Backup>(
  place: string,
  backups: AsyncIterable<T>,
  at: number,
): Promise<RestoreSource & { backup: T }> {
  let best: (RestoreSource & { backup: T }) | null = null;
  let oldest = Number.POSITIVE_INFINITY;
  for await (const backup of backups) {
    const source = { ...toSource(backup), backup };
    const states = listStates(
      source.files.map(({ path }) => path),
      source.state.time,
    );
    oldest = Math.min(oldest, ...states.map(({ time }) => time));
    const state = findStateAt(states, at);
    if (state !== null && isBetter({ ...source, state }, best)) best = { ...source, state };
  }
  if (best === null) throw noState(place, at, oldest);
  return best;
}

async function findNewest(folder: string): Promise<Backup> {
  const newest = (await findNewestBackup(folder, { hasMedia: true })) ?? (await findNewestBackup(folder));
  if (newest === null) throw new AppError("not_found", `No complete backup in ${folder}.`);
  return newest;
}

/** A backup without media is used only when no other one has a state. */
function isBetter(source: RestoreSource, best: RestoreSource | null): boolean {
  if (best === null) return true;
  const [has, had] = [source, best].map(({ backup }) => backup!.manifest.has_media);
  return has === had ? source.state.time > best.state.time : has === true;
}

/** Returns the newest snapshot of a data folder until `at`. Throws `AppError` `not_found` when there is none. */
export async function findLiveSource(dataDir: string, at: number): Promise<RestoreSource> {
  const path = resolve(dataDir);
  const files: SourceFile[] = [];
  for (const folder of BACKUP_FOLDERS) files.push(...(await listFiles(path, folder)));
  for (const name of [SECRETS_NAME]) files.push(...(await listFiles(path, name)));
  const states = listStates(
    files.map((file) => file.path),
    Number.POSITIVE_INFINITY,
  );
  const state = findStateAt(states, at);
  if (state === null) throw noState(path, at, Math.min(Number.POSITIVE_INFINITY, ...states.map(({ time }) => time)));
  return { path, origin: path, state, files, backup: null, download: null };
}

async function listFiles(root: string, path: string): Promise<SourceFile[]> {
  const found = await stat(join(root, path)).catch(() => null);
  if (found === null) return [];
  return (await walk(join(root, path), path)).map(({ from: _from, ...file }) => ({ ...file, sha256: null }));
}

function noState(folder: string, at: number, oldest: number): AppError {
  const advice = Number.isFinite(oldest)
    ? `The oldest state is of ${new Date(oldest).toISOString()}.`
    : "Choose a folder with backups.";
  return new AppError("not_found", `${folder} has no state until ${new Date(at).toISOString()}. ${advice}`);
}
