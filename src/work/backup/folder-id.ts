/** The identity of a data folder: its ID, its backups, and the key of those in a bucket. */
import { join } from "node:path";
import { type BackupManifest, isOwnBackup, SECRETS_NAME } from "../../domain/backup";
import { conflict } from "../../domain/errors";
import { SECRET_FILE_MODE, writeAtomic } from "../../lib/atomic-file";

type Identity = { folder_id?: string; backup_key?: string };

async function readIdentity(dataDir: string): Promise<Identity> {
  const file = Bun.file(join(dataDir, SECRETS_NAME));
  return (await file.exists()) ? file.json() : {};
}

/** Returns the ID in the secrets of a data folder; null without them, and before its first start with this version. */
export const readFolderId = async (dataDir: string): Promise<string | null> =>
  (await readIdentity(dataDir)).folder_id ?? null;

/**
 * Adds the recovery key of the data folder `replaced` to a restored one that is older than the key: without it, the
 * backups that this server has since written to the bucket could not be restored. Ignores the key of another data
 * folder, and of one whose secrets are damaged.
 */
export async function keepRecoveryKey(restored: string, replaced: string): Promise<void> {
  const { backup_key: key, folder_id: id } = await readIdentity(replaced).catch((): Identity => ({}));
  const secrets = await readIdentity(restored);
  const isSame = secrets.folder_id === undefined || secrets.folder_id === id;
  if (key === undefined || secrets.backup_key !== undefined || !isSame) return;
  await writeAtomic(join(restored, SECRETS_NAME), JSON.stringify({ ...secrets, backup_key: key }), SECRET_FILE_MODE);
}

/** Throws `AppError` `conflict` when the newest backup of a place is that of another data folder than `dataDir`. */
export async function requireOwnPlace(
  place: string,
  newest: { manifest: BackupManifest } | null,
  dataDir: string,
): Promise<void> {
  if (newest === null || isOwnBackup(newest.manifest, await readFolderId(dataDir))) return;
  throw conflict(
    `${place} has backups of another data folder, which would be removed as old ones. Choose another place. If this server replaces the other one, restore its backup first.`,
  );
}
