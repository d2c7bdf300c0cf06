/** The scratch folders of drills. Each is locked by its drill, so a free lock means that the drill was killed. */
import { mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { discardFolder, storeCopy, tryLink } from "../../blobs/backup-files";
import { getFolders } from "../../blobs/folders";
import { listNames } from "../../blobs/trash";
import { type BackupFile, DATABASE_NAME, isEssential, MANIFEST_NAME, sumBytes } from "../../domain/backup";
import { badRequest, conflict } from "../../domain/errors";
import { ignoreMissing } from "../../lib/error-codes";
import { findFileSize } from "../../lib/file-size";
import { isFolderLocked, lockFolder } from "../../lib/folder-lock";
import { deleteAllSessions } from "../../store/database-file";
import type { Backup } from "./backup-folder";
import { writeMediaMarker } from "./restore-targets";
import { requireSpace } from "./space";

const PREFIX = ".drill-";
/** The data folder in a scratch folder. */
const DATA_NAME = "data";
/** For the extracted assets, the rendered file and the database's log. */
const WORK_BYTES = 1024 ** 3;
const MAX_SOCKET_PATH_BYTES = 107;
const CONTROL_SOCKET_NAME = "control.sock";

/** Files of the rows. The snapshots and the trash of a backup are not needed to start a server. */
const RESTORED_FOLDERS = ["media/", "renders/", "uploads/", "models/"];
/** Complete files in these folders never change, so they may be linked. */
const LINKED_FOLDERS = ["media/", "renders/", "models/"];

const isIn = (path: string, folders: readonly string[]): boolean => folders.some((folder) => path.startsWith(folder));

export const isRestoredForDrill = (path: string): boolean => isEssential(path) || isIn(path, RESTORED_FOLDERS);

export const getDrillData = (scratch: string): string => join(scratch, DATA_NAME);

/**
 * Creates a locked scratch folder in the first of `parents` whose path is short enough for a socket. It is removed when
 * it is disposed of.
 */
export async function createDrillFolder(parents: readonly string[], now: number) {
  const name = `${PREFIX}${now.toString(36)}`;
  const fits = (parent: string) =>
    Buffer.byteLength(join(getDrillData(join(parent, name)), CONTROL_SOCKET_NAME)) <= MAX_SOCKET_PATH_BYTES;
  const parent = parents.find(fits);
  if (parent === undefined) throw badRequest(`The path ${parents[0]} is too long for a drill. Choose a shorter one.`);
  const path = join(parent, name);
  await mkdir(path, { mode: 0o700 });
  const lock = lockFolder(path);
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      lock?.release();
      await discardFolder(path);
    },
  };
}

/** Removes the scratch folders of drills that were killed. */
export async function discardAbandonedDrills(parents: readonly string[]): Promise<void> {
  for (const parent of parents)
    for (const name of await listNames(parent).catch(() => [])) {
      if (!name.startsWith(PREFIX)) continue;
      const path = join(parent, name);
      if (await isInUse(path)) continue;
      await discardFolder(path);
    }
}

/** Without a lock, a drill may be about to take it. */
const UNLOCKED_MS = 60_000;

async function isInUse(path: string): Promise<boolean> {
  try {
    if ((await findFileSize(join(path, "lock"))) === null) return Date.now() - (await stat(path)).mtimeMs < UNLOCKED_MS;
    return isFolderLocked(path);
  } catch {
    // It was removed in the meantime, or is not a folder.
    return true;
  }
}

/**
 * Restores a backup to the data folder of a scratch folder: media is linked to the backup, or copied where the file
 * system cannot. Missing files are left to the checks. `damaged` receives the paths of damaged files. Returns the bytes
 * that were copied. Errors: `AppError` `storage_full`, `conflict` for a file that has changed; the signal's reason.
 */
export async function restoreToScratch(backup: Backup, scratch: string, damaged: Set<string>, signal: AbortSignal) {
  const data = getDrillData(scratch);
  await mkdir(data, { mode: 0o700 });
  if (backup.download !== null) return downloadToScratch(backup, scratch, damaged, signal);
  const canLink = await tryLink(join(backup.path, MANIFEST_NAME), join(scratch, MANIFEST_NAME));
  const files = backup.manifest.files.filter(({ path }) => isRestoredForDrill(path));
  const isLinked = ({ path }: BackupFile) => canLink && isIn(path, LINKED_FOLDERS);
  const copied = files.filter((file) => !isLinked(file));
  await requireSpace(scratch, sumBytes(copied) + WORK_BYTES);
  if (!canLink) await storeCopy(join(backup.path, MANIFEST_NAME), join(scratch, MANIFEST_NAME), signal);
  for (const file of files) {
    signal.throwIfAborted();
    const [from, to] = [join(backup.path, file.path), join(data, file.path)];
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await (isLinked(file) ? tryLink(from, to) : copyUnchanged(file, from, to, signal)).catch((error) => {
      damaged.add(file.path);
      ignoreMissing(error);
    });
  }
  await deleteAllSessions(join(data, DATABASE_NAME));
  await writeMediaMarker(getFolders(data));
  return sumBytes(copied);
}

/** Damaged files are missing then, which the checks find. */
async function downloadToScratch(
  { manifest, download }: Backup,
  scratch: string,
  damaged: Set<string>,
  signal: AbortSignal,
): Promise<number> {
  const files = manifest.files.filter(({ path }) => isRestoredForDrill(path));
  await requireSpace(scratch, sumBytes(files) + WORK_BYTES);
  await Bun.write(join(scratch, MANIFEST_NAME), JSON.stringify(manifest));
  const skipped = manifest.files.filter(({ path }) => !isRestoredForDrill(path));
  for (const { path } of await download!(getDrillData(scratch), skipped, signal)) damaged.add(path);
  const database = join(getDrillData(scratch), DATABASE_NAME);
  if ((await findFileSize(database)) === null) throw conflict(`${DATABASE_NAME} is damaged.`);
  await deleteAllSessions(database);
  await writeMediaMarker(getFolders(getDrillData(scratch)));
  return sumBytes(files);
}

async function copyUnchanged({ sha256 }: BackupFile, from: string, to: string, signal: AbortSignal): Promise<void> {
  const copy = await storeCopy(from, to, signal);
  if (copy.sha256 !== sha256) throw conflict(`${from} has changed since the backup.`);
}
