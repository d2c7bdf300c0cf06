/** Reads the manifests of backups in a folder. */
import { join } from "node:path";
import { listNames } from "../../blobs/trash";
import { type BackupManifest, MANIFEST_NAME, parseBackupName, parseManifest } from "../../domain/backup";
import { badRequest } from "../../domain/errors";

/** A manifest has about 200 bytes for each file. */
const MAX_MANIFEST_BYTES = 1024 ** 3;

/** Reads the manifest of a backup. Throws `AppError` `bad_request` when the folder is not one. */
export async function readManifest(folder: string): Promise<BackupManifest> {
  const file = Bun.file(join(folder, MANIFEST_NAME));
  if (!(await file.exists())) throw badRequest(`${folder} is not a backup: it has no ${MANIFEST_NAME}.`);
  if (file.size > MAX_MANIFEST_BYTES)
    throw badRequest(`${folder} is not a valid backup: ${MANIFEST_NAME} is too large.`);
  try {
    return parseManifest(await file.text());
  } catch (error) {
    throw badRequest(`${folder} is not a valid backup: ${(error as Error).message}`);
  }
}

export type FolderBackup = { name: string; path: string; manifest: BackupManifest };

/** Yields the backups in a folder. Skips those whose manifest is missing or damaged. */
export async function* listFolderBackups(
  folder: string,
  first: "oldest" | "newest" = "newest",
): AsyncGenerator<FolderBackup> {
  const names = (await listNames(folder)).filter((name) => parseBackupName(name) !== null).sort();
  for (const name of first === "newest" ? names.reverse() : names) {
    const path = join(folder, name);
    const manifest = await readManifest(path).catch(() => null);
    if (manifest !== null) yield { name, path, manifest };
  }
}
