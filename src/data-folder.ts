/** The data folder: private, owned by the user that runs the program, locked by one process. */
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { createFolderGuard } from "./blobs/folder-guard";
import { completeMediaRestore, completeRestore } from "./blobs/restored-folder";
import { ConfigError } from "./config";
import { DATABASE_NAME, SECRETS_NAME } from "./domain/backup";
import { MEDIA_MARKER_NAME } from "./domain/media-folder";
import { SECRET_FILE_MODE, writeAtomic } from "./lib/atomic-file";
import type { ReadFileSystemType } from "./lib/file-systems";
import { type FolderLock, lockFolder } from "./lib/folder-lock";
import { newId, randomToken } from "./lib/ids";
import {
  applyMediaFolder,
  describeRefusal,
  type FolderSettings,
  getGuardedMarkers,
  inspectMediaFolder,
  isRefusal,
  makePrivate,
  requireLocalFolder,
  useFolder,
  writeMarker,
} from "./media-folder";
import { withDatabase } from "./store/database-figures";
import { formatDatabaseDamage, isDamage } from "./store/database-file";
import { createSessionKey, type SessionKey } from "./work/identity/session-keys";

/** Created on the first start, never leaves the folder: keys, and the folder's ID, which marker files repeat. */
export type Secrets = {
  links: string;
  cursors: string;
  sessions: SessionKey[];
  sealing: string;
  folder_id: string;
  /** The recovery key of off-site backups, once there is one. */
  backup_key?: string;
};

/** Another process has locked the folder. */
export class FolderLockedError extends ConfigError {}

/** Creates the folder if it does not exist, or completes its restore, and checks its owner. Throws `ConfigError`. */
export function prepareDataFolder(configured: string): string {
  const path = resolve(configured);
  useFolder("data folder", path, () => {
    completeRestore(path);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    makePrivate("Data folder", path);
  });
  return path;
}

/** Locks a prepared folder. Throws `FolderLockedError` when another process has locked it. */
export function requireFolderLock(path: string): FolderLock {
  const lock = lockFolder(path);
  if (!lock) throw new FolderLockedError(`Another offcut process is using ${path}.`);
  return lock;
}

/**
 * Prepares and locks the data folder of a server, and its media folder. Throws `FolderLockedError` when another process
 * has locked it, `ConfigError` when one of them cannot be used.
 */
export async function openDataFolder(settings: FolderSettings, readType?: ReadFileSystemType) {
  requireLocalFolder(settings.dataDir, readType);
  const path = prepareDataFolder(settings.dataDir);
  const lock = requireFolderLock(path);
  try {
    if (settings.mediaDir !== null) await completeMediaRestore(path, resolve(settings.mediaDir));
    const file = join(path, SECRETS_NAME);
    const stored = await readStoredSecrets(file);
    if (!existsSync(file) && hasSecondFactors(join(path, DATABASE_NAME)))
      throw new ConfigError(
        `${file} is missing: without it, second factors and off-site backups cannot be read. Restore it from a backup. To start with new secrets, create it with the content {}.`,
      );
    const media = await inspectMediaFolder(settings, stored.folder_id ?? null);
    const id = media.facts.id ?? newId();
    // The marker comes first: a folder that has an ID and no marker counts as one whose media is elsewhere.
    if (stored.folder_id === undefined && (media.decision === "not_moved" || !isRefusal(media.decision)))
      await writeMarker(join(path, MEDIA_MARKER_NAME), id);
    if (isRefusal(media.decision) && media.decision !== "not_moved")
      throw new ConfigError(describeRefusal(media.decision, media, path));
    const secrets = await completeSecrets(file, stored, id);
    await applyMediaFolder(media, id, path);
    const guard = createFolderGuard(getGuardedMarkers(path, media.path, id));
    await guard.check();
    return {
      path,
      /** The media folder: the data folder unless another one is configured. It may be offline. */
      mediaDir: media.path,
      guard,
      lock,
      secrets,
      ...createSaving(file, secrets),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

export type DataFolder = Awaited<ReturnType<typeof openDataFolder>>;

/** Each save writes the changes of the earlier ones too, and waits for them. */
function createSaving(file: string, stored: Secrets) {
  let secrets = stored;
  let saving = Promise.resolve();
  const save = (change: Partial<Secrets>): Promise<void> => {
    secrets = { ...secrets, ...change };
    const write = () => writeAtomic(file, JSON.stringify(secrets), SECRET_FILE_MODE);
    saving = saving.then(write, write);
    return saving;
  };
  return {
    saveSessionKeys: (sessions: SessionKey[]) => save({ sessions }),
    /** Returns the recovery key of off-site backups; null before it is created. */
    recoveryKey: () => secrets.backup_key ?? null,
    saveRecoveryKey: (key: string) => save({ backup_key: key }),
  };
}

/** Returns the ID of a data folder; null before its first start with this version. Throws `ConfigError`. */
export const readFolderId = async (path: string): Promise<string | null> =>
  (await readStoredSecrets(join(path, SECRETS_NAME))).folder_id ?? null;

/**
 * Returns whether a database has second factors, which only the secrets of its folder open. Throws `ConfigError` if it
 * cannot be read, before new secrets are written.
 */
function hasSecondFactors(database: string): boolean {
  if (!existsSync(database)) return false;
  const find = "SELECT 1 FROM users WHERE totp_secret IS NOT NULL LIMIT 1";
  try {
    return withDatabase(database, (opened) => opened.query(find).get() !== null);
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    // An older version has no such column, and an interrupted first start no table.
    if (code === "SQLITE_ERROR") return false;
    const reason = isDamage(error) ? formatDatabaseDamage(message) : message;
    throw new ConfigError(`cannot open the database ${database}: ${reason}`);
  }
}

async function readStoredSecrets(path: string): Promise<Partial<Secrets>> {
  const file = Bun.file(path);
  return (await file.exists()) ? readJson(file, path) : {};
}

async function completeSecrets(path: string, stored: Partial<Secrets>, id: string): Promise<Secrets> {
  const secrets: Secrets = {
    links: stored.links ?? randomToken(43),
    cursors: stored.cursors ?? randomToken(43),
    // Before sessions existed, this was a text.
    sessions: Array.isArray(stored.sessions) ? stored.sessions : [createSessionKey(Date.now())],
    sealing: stored.sealing ?? randomToken(43),
    ...(stored.backup_key === undefined ? {} : { backup_key: stored.backup_key }),
    folder_id: id,
  };
  const isComplete =
    stored.links && stored.cursors && stored.sealing && stored.folder_id && Array.isArray(stored.sessions);
  if (!isComplete) await writeAtomic(path, JSON.stringify({ ...stored, ...secrets }), SECRET_FILE_MODE);
  return { ...stored, ...secrets };
}

async function readJson(file: Blob, path: string): Promise<Partial<Secrets>> {
  return file.json().catch((error: Error) => {
    throw new ConfigError(`${path} is damaged: ${error.message}`);
  });
}

/** The longest path of a Unix socket (`sun_path` without the final zero byte). */
const MAX_SOCKET_PATH_BYTES = 107;

/** Returns the path of the control socket, on which a running server accepts commands of the CLI. */
export const getControlSocketPath = (folder: string): string => join(folder, "control.sock");

/** Returns whether the path of the control socket is within the system's limit. */
export const hasValidSocketPath = (folder: string): boolean =>
  Buffer.byteLength(getControlSocketPath(folder)) <= MAX_SOCKET_PATH_BYTES;
