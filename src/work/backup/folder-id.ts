/** The ID of a data folder, and the backups that belong to it. */
import { join } from "node:path";
import { type BackupManifest, isOwnBackup, SECRETS_NAME } from "../../domain/backup";
import { AppError } from "../../domain/errors";

/** Returns the ID in the secrets of a data folder; null without them, and before its first start with this version. */
export async function readFolderId(dataDir: string): Promise<string | null> {
  const file = Bun.file(join(dataDir, SECRETS_NAME));
  if (!(await file.exists())) return null;
  return ((await file.json()) as { folder_id?: string }).folder_id ?? null;
}

/** Throws `AppError` `conflict` when the newest backup of a place is that of another data folder than `dataDir`. */
export async function requireOwnPlace(
  place: string,
  newest: { manifest: BackupManifest } | null,
  dataDir: string,
): Promise<void> {
  if (newest === null || isOwnBackup(newest.manifest, await readFolderId(dataDir))) return;
  throw new AppError(
    "conflict",
    `${place} has backups of another data folder, which would be removed as old ones. Choose another place. If this server replaces the other one, restore its backup first.`,
  );
}
