/** Opens the data folder of a server: its lock, its assets and its database. */

import { resolve } from "node:path";
import { openDiskReserve } from "./blobs/folder-space";
import { type Folders, getFolders } from "./blobs/folders";
import { openDatabase } from "./boot-database";
import { type Config, publicUrl } from "./config";
import { openDataFolder } from "./data-folder";
import { openAssets } from "./lib/assets";
import { getFreeBytes } from "./lib/disk-reserve";
import type { ReadFileSystemType } from "./lib/file-systems";

import { silentLog } from "./lib/log";
import { createSealer } from "./lib/sealer";
import { releaseSpareSpace } from "./lib/spare-space";
import { createFullDiskError, toFullDiskError } from "./media-folder";
import type { StepListener } from "./store/migrate-copy";
import type { AdminNeeds } from "./work/access/admin-commands";
import { createBackups } from "./work/backup/backups";
import type { OffsiteAccess } from "./work/backup/offsite/repository";
import { createWorkerList } from "./work/cluster/worker-list";
import { createPasswords } from "./work/identity/passwords";
import { openSetup } from "./work/identity/setup";
import { createMails } from "./work/mail/mails";

type OpenOptions = { onStep?: StepListener; onFull?(folders: Folders): Promise<void>; readType?: ReadFileSystemType };

/**
 * Locks the data folder and opens the database. `onStep` is called for each step of a migration. `readType` says which
 * file system the data folder is on. `onFull` may make room on a full disk. Throws `ConfigError`.
 */
export const openFolder = (config: Config, options: OpenOptions = {}) =>
  openParts(config, options).catch((error) => {
    throw toFullDiskError(error, resolve(config.dataDir));
  });

async function openParts(config: Config, { onStep = () => {}, onFull = async () => {}, readType }: OpenOptions) {
  const folder = await openDataFolder(config, readType);
  try {
    const folders = getFolders(folder.path, folder.mediaDir, folder.guard);
    // Opening the database creates files.
    if (isFull(folder.path)) await releaseSpareSpace(folder.path);
    if (isFull(folder.path) && folder.guard.findProblem() === null) await onFull(folders);
    const assets = await openAssets({ dataDir: folder.path });
    const store = await openDatabase(folder.path, { onStep });
    return {
      ...folder,
      folders,
      assets,
      store,
      close: async () => {
        await store.close();
        folder.lock.release();
      },
    };
  } catch (error) {
    folder.lock.release();
    throw error;
  }
}

export type OpenDataFolder = Awaited<ReturnType<typeof openFolder>>;

const MIN_FREE_BYTES = 1024 ** 2;

/** Returns whether the database may not open. */
export const isFull = (folder: string): boolean => getFreeBytes(folder) < MIN_FREE_BYTES;

/** Size by which a commit of a few rows grows the log of the database. */
const MIN_COMMIT_BYTES = 64 * 1024;

/** Throws `ConfigError` when the disk has no room for a commit. */
export function requireRoomForCommit(folder: string): void {
  if (getFreeBytes(folder) < MIN_COMMIT_BYTES) throw createFullDiskError(folder);
}

/** Returns the settings of a data folder's off-site backups. The configured key takes precedence over the folder's. */
export const createOffsiteAccess = (
  { backupKey }: Config,
  { path, recoveryKey, saveRecoveryKey }: Pick<OpenDataFolder, "path" | "recoveryKey" | "saveRecoveryKey">,
): OffsiteAccess => ({
  env: process.env,
  recoveryKey: () => backupKey ?? recoveryKey(),
  saveRecoveryKey,
  scratch: path,
});

/**
 * Opens the data folder for an administration command. `drillCommand` starts this program on a restored backup. Throws
 * an error when a server holds the folder.
 */
export async function openForAdmin(
  config: Config,
  drillCommand: string[],
): Promise<AdminNeeds & { close(): Promise<void> }> {
  const opened = await openFolder(config);
  const { path: folder, folders, store, secrets, close } = opened;
  const disk = openDiskReserve(folders, config.diskReserveBytes);
  const core = { config, store, folders, disk, log: silentLog(), now: Date.now, confirmedNow: () => 0 };
  const backups = createBackups({ ...core, drillCommand, offsite: createOffsiteAccess(config, opened) });
  const setup = openSetup({ folder, store, publicUrl: () => publicUrl(config, config.port) });
  const workerList = createWorkerList(core);
  // The next start of the server sends them.
  const sealer = createSealer(secrets.sealing);
  const mails = createMails({ isConfigured: config.smtpUrl !== null, sealer, log: core.log });
  return {
    ...core,
    mails,
    passwords: createPasswords(),
    setup,
    cluster: null,
    workerList,
    backups,
    close,
  };
}
