/** The data folder: private, owned by the user that runs the program, locked by one process. */
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { completeRestore } from "./blobs/restored-folder";
import { ConfigError } from "./config";
import { SECRET_FILE_MODE, writeAtomic } from "./lib/atomic-file";
import { type FolderLock, lockFolder } from "./lib/folder-lock";
import { randomToken } from "./lib/ids";
import { createSessionKey, type SessionKey } from "./work/identity/session-keys";

/** Keys that are created on the first start and never leave the folder. */
export type Secrets = {
  links: string;
  cursors: string;
  sessions: SessionKey[];
  sealing: string;
  /** The recovery key of off-site backups, once there is one. */
  backup_key?: string;
};

export type DataFolder = {
  path: string;
  secrets: Secrets;
  saveSessionKeys(keys: SessionKey[]): Promise<void>;
  /** Returns the recovery key of off-site backups; null when there is none yet. */
  recoveryKey(): string | null;
  saveRecoveryKey(key: string): Promise<void>;
  lock: FolderLock;
};

/** Another process has locked the folder. */
export class FolderLockedError extends ConfigError {}

/** Creates the folder if it does not exist, or completes its restore, and checks its owner. Throws `ConfigError`. */
export function prepareDataFolder(configured: string): string {
  const path = resolve(configured);
  try {
    completeRestore(path);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(path);
    const me = process.getuid?.();
    if (me !== undefined && uid !== me) {
      throw new ConfigError(
        `Data folder ${path} belongs to user ID ${uid}, but offcut runs as ${me}. Run offcut as the owner of the folder.`,
      );
    }
    if ((mode & 0o077) !== 0) chmodSync(path, 0o700);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`Cannot use the data folder ${path}: ${(error as Error).message}`);
  }
  return path;
}

/** Locks a prepared folder. Throws `FolderLockedError` when another process has locked it. */
export function requireFolderLock(path: string): FolderLock {
  const lock = lockFolder(path);
  if (!lock) throw new FolderLockedError(`Another offcut process is using ${path}.`);
  return lock;
}

/** Prepares and locks the folder. Throws `FolderLockedError` when another process has locked it, `ConfigError` when it cannot be used. */
export async function openDataFolder(configured: string): Promise<DataFolder> {
  const path = prepareDataFolder(configured);
  const lock = requireFolderLock(path);
  try {
    const file = join(path, "secrets.json");
    const secrets = await readSecrets(file);
    return {
      path,
      lock,
      secrets,
      ...createSaving(file, secrets),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Each save writes the changes of the earlier ones too, and waits for them. */
function createSaving(
  file: string,
  stored: Secrets,
): Pick<DataFolder, "saveSessionKeys" | "recoveryKey" | "saveRecoveryKey"> {
  let secrets = stored;
  let saving = Promise.resolve();
  const save = (change: Partial<Secrets>): Promise<void> => {
    secrets = { ...secrets, ...change };
    const write = () => writeAtomic(file, JSON.stringify(secrets), SECRET_FILE_MODE);
    saving = saving.then(write, write);
    return saving;
  };
  return {
    saveSessionKeys: (sessions) => save({ sessions }),
    recoveryKey: () => secrets.backup_key ?? null,
    saveRecoveryKey: (key) => save({ backup_key: key }),
  };
}

async function readSecrets(path: string): Promise<Secrets> {
  const file = Bun.file(path);
  const stored = (await file.exists()) ? await readJson(file, path) : {};
  const secrets: Secrets = {
    links: stored.links ?? randomToken(43),
    cursors: stored.cursors ?? randomToken(43),
    // Before there were sessions this was a text.
    sessions: Array.isArray(stored.sessions) ? stored.sessions : [createSessionKey(Date.now())],
    sealing: stored.sealing ?? randomToken(43),
    ...(stored.backup_key === undefined ? {} : { backup_key: stored.backup_key }),
  };
  if (!stored.links || !stored.cursors || !stored.sealing || !Array.isArray(stored.sessions)) {
    await writeAtomic(path, JSON.stringify(secrets), SECRET_FILE_MODE);
  }
  return secrets;
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
