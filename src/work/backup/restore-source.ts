/** Finds the source of a restore: a backup, or the data folder itself with its snapshots and its trash. */
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createFolderGuard } from "../../blobs/folder-guard";
import { type Folders, getFolders } from "../../blobs/folders";
import { BACKUP_FOLDERS, type BackupFile, DATABASE_NAME, SECRETS_NAME } from "../../domain/backup";
import { AppError } from "../../domain/errors";
import { MEDIA_MARKER_NAME } from "../../domain/media-folder";
import { findStateAt, listStates, type RecordedState } from "../../domain/point-in-time";
import { type Backup, findBackup, listBackupsAt } from "./backup-folder";
import { requireOnline } from "./create-backup";
import { walk } from "./find-files";
import { readFolderId } from "./folder-id";
import { createResolver, type DamagedFile, type ResolvePath } from "./verify-files";

/** A file of a source. `sha256` null: not known, because the file is not in a backup. */
export type SourceFile = Omit<BackupFile, "sha256"> & { sha256: string | null };

/**
 * `path`: the folder with the files, which `resolve` finds; `origin`: where they come from, for people. `state`: the
 * copy of the database to restore. `backup` null: the data folder, with its media folder, is its own source.
 * `download`: set when `path` has files that were downloaded for this restore only, without the damaged ones.
 */
export type RestoreSource = {
  path: string;
  resolve: ResolvePath;
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
  resolve: createResolver(backup.path),
  state: { path: DATABASE_NAME, time: Date.parse(backup.manifest.created_at) },
  files: backup.manifest.files,
  backup,
  download: null,
});

/** Returns the state of a folder with backups, or of a single backup. As `selectSource`. */
export const getBackupSource = (folder: string, at: number | null): Promise<RestoreSource> =>
  selectSource(folder, (first) => listBackupsAt(folder, first), at);

/**
 * Returns the newest state until `at` of the backups of a place. Several backups may have its snapshot: the oldest of
 * them has lost the fewest files. `at` null: the newest backup, with media if any has it. Throws `AppError` `not_found`
 * if the place has no such backup.
 */
export async function selectSource<T extends Backup>(
  place: string,
  list: (first: "oldest" | "newest") => AsyncIterable<T>,
  at: number | null,
): Promise<RestoreSource & { backup: T }> {
  if (at === null) {
    const newest = (await findBackup(list("newest"), { hasMedia: true })) ?? (await findBackup(list("newest")));
    if (newest === null) throw new AppError("not_found", `There is no complete backup at ${place}.`);
    return { ...toSource(newest), backup: newest };
  }
  let best: (RestoreSource & { backup: T }) | null = null;
  let oldest = Number.POSITIVE_INFINITY;
  for await (const backup of list("oldest")) {
    const source = { ...toSource(backup), backup };
    const paths = source.files.map(({ path }) => path);
    const states = listStates(paths, source.state.time);
    oldest = Math.min(oldest, ...states.map(({ time }) => time));
    const state = findStateAt(states, at);
    if (state !== null && isBetter({ ...source, state }, best)) best = { ...source, state };
  }
  if (best === null) throw noState(place, at, oldest);
  return best;
}

/** A backup without media is used only when no other one has a state. */
function isBetter(source: RestoreSource, best: RestoreSource | null): boolean {
  if (best === null) return true;
  const [has, had] = [source, best].map(({ backup }) => backup!.manifest.has_media);
  return has === had ? source.state.time > best.state.time : has === true;
}

/**
 * Returns the newest snapshot of a data folder until `at`, with the files of its media folder (null: they are in the
 * data folder). Throws `AppError` `not_found` without a snapshot, `upstream_unavailable` if the media folder is
 * offline.
 */
export async function getLiveSource(dataDir: string, mediaDir: string | null, at: number): Promise<RestoreSource> {
  const path = resolve(dataDir);
  const folders = await openLive(path, mediaDir === null ? path : resolve(mediaDir));
  const files: SourceFile[] = [];
  for (const name of [...BACKUP_FOLDERS, SECRETS_NAME]) files.push(...(await listFiles(folders, name)));
  // Files of an unmounted folder would count as missing.
  await requireOnline(folders);
  const paths = files.map((file) => file.path);
  const states = listStates(paths, Number.POSITIVE_INFINITY);
  const state = findStateAt(states, at);
  if (state === null) throw noState(path, at, Math.min(Number.POSITIVE_INFINITY, ...states.map(({ time }) => time)));
  return { path, resolve: folders.resolve, origin: path, state, files, backup: null, download: null };
}

/**
 * Returns the folders of a server that is stopped. Throws `AppError` `upstream_unavailable` without the media folder.
 */
async function openLive(root: string, mediaDir: string): Promise<Folders> {
  if (mediaDir === root) return getFolders(root);
  const id = (await readFolderId(root)) ?? "";
  const marker = { path: join(mediaDir, MEDIA_MARKER_NAME), id, setting: "media_dir" as const };
  const folders = getFolders(root, mediaDir, createFolderGuard([marker]));
  await requireOnline(folders);
  return folders;
}

async function listFiles({ resolve }: Folders, path: string): Promise<SourceFile[]> {
  const found = await stat(resolve(path)).catch(() => null);
  if (found === null) return [];
  return (await walk(resolve(path), path)).map(({ from: _from, ...file }) => ({ ...file, sha256: null }));
}

function noState(folder: string, at: number, oldest: number): AppError {
  const advice = Number.isFinite(oldest)
    ? `The oldest state is of ${new Date(oldest).toISOString()}.`
    : "Choose a folder with backups.";
  return new AppError("not_found", `${folder} has no state until ${new Date(at).toISOString()}. ${advice}`);
}
