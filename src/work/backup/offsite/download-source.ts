/** Downloads the files of a restore from a bucket. */
import { mkdir } from "node:fs/promises";
import { discardFolder } from "../../../blobs/backup-files";
import { refuseDamage } from "../restore-backup";
import { type RestoreSource, selectSource } from "../restore-source";
import { createResolver } from "../verify-files";
import { listOffsiteBackups } from "./offsite-backup";
import type { OffsiteAccess } from "./repository";

export type DownloadPlan = { at: number | null; folder: string; skipDamagedMedia: boolean };

/**
 * Downloads a backup to `folder`, which it creates anew: the one that the URL names, the newest one, or the one with
 * the newest state until `at`. The caller removes the folder. Errors: those of `selectSource` and `listOffsiteBackups`;
 * `conflict` for damage that shows before the download; `storage_full`; file system errors; the signal's reason.
 */
export async function downloadSource(
  url: string,
  access: OffsiteAccess,
  { at, folder, skipDamagedMedia }: DownloadPlan,
  signal: AbortSignal,
): Promise<RestoreSource> {
  const source = await selectSource(url, (first) => listOffsiteBackups(url, access, signal, first), at);
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
