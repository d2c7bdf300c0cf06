/** Checks whether a folder can have backups: its disk is mounted, and the server may write to it. */
import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import { badRequest } from "../../domain/errors";
import { findUnmounted, type MountTables, readMountTables } from "../../lib/file-systems";

/** The disk of the backups is not mounted: a backup would fill the system disk. Throws `AppError` `bad_request`. */
export function requireMounted(folder: string, readMounts: () => MountTables = readMountTables): void {
  const unmounted = findUnmounted(folder, readMounts());
  if (unmounted !== null)
    throw badRequest(
      `Backup folder ${folder} is below ${unmounted}, which /etc/fstab lists and where nothing is mounted. Mount it first.`,
    );
}

/** Creates the folder. Throws `AppError` `bad_request` when the server cannot write to it. */
export async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error) => refuseFolder(folder, error));
  await access(folder, constants.W_OK).catch((error) => refuseFolder(folder, error));
}

/**
 * Throws `AppError` `bad_request` when a backup to a folder would be refused. One that does not exist is created by the
 * first backup.
 */
export async function requireUsableFolder(folder: string, readMounts?: () => MountTables): Promise<void> {
  requireMounted(folder, readMounts);
  // A file is not a folder.
  await access(`${folder}/`, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") refuseFolder(folder, error);
  });
}

function refuseFolder(folder: string, { code = "unknown error" }: NodeJS.ErrnoException): never {
  throw badRequest(
    `The server cannot write to ${folder} (${code}). Give the folder to its user, and list it in ReadWritePaths of its systemd unit.`,
  );
}
