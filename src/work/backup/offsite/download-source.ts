/** Downloads the files of a restore from a bucket. */
import { mkdir } from "node:fs/promises";
import { discardFolder } from "../../../blobs/backup-files";
import { AppError } from "../../../domain/errors";
import { splitBackupUrl } from "../../../domain/offsite";
import { refuseDamage } from "../restore-backup";
import { type RestoreSource, selectSource, toSource } from "../restore-source";
import { createResolver } from "../verify-files";
import { listOffsiteBackups, type OffsiteBackup, openOffsiteBackup } from "./offsite-backup";
import type { OffsiteAccess } from "./repository";

export type DownloadPlan = { at: number | null; folder: string; skipDamagedMedia: boolean };

/**
 * Downloads a backup to `folder`, which it creates anew: the one that the URL names, the newest one, or the one with
 * the newest state until `at`. The caller removes the folder. Errors: those of `openRepository`; `not_found`;
 * `conflict` for damage that shows before the download; `storage_full`; file system errors; the signal's reason.
 */
export async function downloadSource(
  url: string,
  access: OffsiteAccess,
  { at, folder, skipDamagedMedia }: DownloadPlan,
  signal: AbortSignal,
): Promise<RestoreSource> {
  const source = at === null ? await getNewest(url, access, signal) : await getAt(url, access, at, signal);
  const { backup } = source;
  const incomplete = await backup.findIncomplete(signal);
  refuseDamage(backup.path, incomplete, skipDamagedMedia);
  await discardFolder(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const changed = await backup.download(folder, incomplete, signal);
  return {
    ...source,
    path: folder,
    resolve: createResolver(folder),
    download: { damaged: [...incomplete, ...changed] },
  };
}

type OffsiteSource = RestoreSource & { backup: OffsiteBackup };

async function getNewest(url: string, access: OffsiteAccess, signal: AbortSignal): Promise<OffsiteSource> {
  const backup =
    (await openOffsiteBackup(url, access, { hasMedia: true, signal })) ??
    (await openOffsiteBackup(url, access, { signal }));
  if (backup === null) throw new AppError("not_found", `There is no backup at ${url}.`);
  return { ...toSource(backup), backup };
}

async function getAt(url: string, access: OffsiteAccess, at: number, signal: AbortSignal): Promise<OffsiteSource> {
  const { place, name } = splitBackupUrl(url);
  const backups = name === null ? listOffsiteBackups(place, access, signal) : listSingle(url, access, signal);
  return selectSource(url, backups, at);
}

async function* listSingle(url: string, access: OffsiteAccess, signal: AbortSignal): AsyncGenerator<OffsiteBackup> {
  const backup = await openOffsiteBackup(url, access, { signal });
  if (backup !== null) yield backup;
}
