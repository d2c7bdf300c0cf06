/**
 * Restores a backup to a data folder: verifies it, copies it next to the data folder and swaps the two by renaming. The data folder is neither
 * changed nor deleted, only renamed.
 */
import { chown, mkdir, readdir, rename, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { version } from "../../../package.json";
import { discardFolder, flushFolders, storeCopy, tryReflink } from "../../blobs/backup-files";
import { type BackupFile, DATABASE_NAME, formatBackupName, SECRETS_NAME, sumBytes } from "../../domain/backup";
import { AppError } from "../../domain/errors";
import { flushFile } from "../../lib/atomic-file";
import { deleteAllSessions } from "../../store/database-file";
import { isKnownMigration } from "../../store/migrate";
import { type Backup, type DamagedFile, verifyBackup } from "./backup-folder";
import { requireSpace } from "./create-backup";

/** `previous`: where the folder is that was replaced; null when there was none. `skipped`: damaged media that was not restored. */
export type RestoreReport = {
  from: string;
  created_at: string;
  data_dir: string;
  previous: string | null;
  files: number;
  bytes: number;
  skipped: DamagedFile[];
};

/** `openDraft` prepares the folder that becomes the data folder, so that databases can be opened. */
export type RestoreOptions = {
  dataDir: string;
  skipDamagedMedia: boolean;
  now: number;
  openDraft(draft: string): Promise<void>;
};

/** Maximum number of damaged files that an error names. */
const MAX_NAMED_FILES = 10;

/**
 * Restores a backup. The caller holds the lock of `dataDir` if it exists. Errors: `AppError` `bad_request` for a backup of a newer version and for a
 * data folder that cannot be renamed, `conflict` for a damaged backup, `storage_full` when it does not fit; file system errors; the signal's reason.
 */
export async function restoreBackup(
  backup: Backup,
  { dataDir, skipDamagedMedia, now, openDraft }: RestoreOptions,
  signal: AbortSignal,
): Promise<RestoreReport> {
  const { manifest } = backup;
  if (!isKnownMigration(manifest.schema))
    throw new AppError(
      "bad_request",
      `${backup.path} was written by Offcut ${manifest.version}, which has a newer database than this version (${version}). Restore it with that version.`,
    );
  const target = resolve(dataDir);
  const live = await stat(target).catch(() => null);
  await requireRenamable(target, live);
  const stamp = formatBackupName(now).replace("offcut-", "");
  const draft = `${target}.restoring-${stamp}`;
  const previous = live === null ? null : `${target}.before-restore-${stamp}`;
  try {
    await mkdir(draft, { recursive: true, mode: 0o700 });
    await openDraft(draft);
    const { damaged } = await verifyBackup(backup, { signal });
    refuseDamage(backup, damaged, skipDamagedMedia);
    const skipped = new Set(damaged.map(({ path }) => path));
    const files = manifest.files.filter(({ path }) => !skipped.has(path));
    await requireRoom(backup, files, draft);
    for (const file of files) {
      const copy = await storeCopy(join(backup.path, file.path), join(draft, file.path), signal);
      if (copy.sha256 !== file.sha256)
        throw new AppError("conflict", `${join(backup.path, file.path)} changed during the restore.`);
    }
    await deleteAllSessions(join(draft, DATABASE_NAME));
    await flushFile(join(draft, DATABASE_NAME));
    if (live !== null && process.getuid?.() === 0) await chownTree(draft, live.uid, live.gid);
    await flushFolders(
      draft,
      files.map(({ path }) => path),
    );
    await swap(draft, target, previous);
    return {
      from: backup.path,
      created_at: manifest.created_at,
      data_dir: target,
      previous,
      files: files.length,
      bytes: sumBytes(files),
      skipped: damaged,
    };
  } catch (error) {
    await discardFolder(draft);
    throw error;
  }
}

/** A mount point cannot be renamed; this is found before anything is copied. */
async function requireRenamable(target: string, live: { dev: number } | null): Promise<void> {
  if (live === null) return;
  const parent = await stat(dirname(target));
  if (parent.dev !== live.dev)
    throw new AppError(
      "bad_request",
      `${target} is a mount point, which cannot be replaced. Unmount it, or restore to another folder with --data-dir.`,
    );
}

function refuseDamage({ path }: Backup, damaged: readonly DamagedFile[], skipDamagedMedia: boolean): void {
  const isEssential = (file: DamagedFile) => file.path === DATABASE_NAME || file.path === SECRETS_NAME;
  const refused = skipDamagedMedia ? damaged.filter(isEssential) : damaged;
  if (refused.length === 0) return;
  const named = refused.slice(0, MAX_NAMED_FILES).map((file) => `${file.path} ${file.problem}`);
  const rest = refused.length - named.length;
  const advice = refused.some(isEssential)
    ? "Choose another backup."
    : "Choose another backup, or restore the other files with --skip-damaged-media.";
  throw new AppError(
    "conflict",
    `${path} is damaged: ${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}. ${advice}`,
  );
}

async function requireRoom(backup: Backup, files: readonly BackupFile[], draft: string): Promise<void> {
  const probe = join(draft, ".probe");
  const canShare = await tryReflink(join(backup.path, SECRETS_NAME), probe);
  await discardFolder(probe);
  if (!canShare) await requireSpace(draft, sumBytes(files));
}

/** A restore as root leaves the files to the owner of the folder that it replaces. */
async function chownTree(path: string, uid: number, gid: number): Promise<void> {
  await chown(path, uid, gid);
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true }))
    await chown(join(entry.parentPath, entry.name), uid, gid);
}

async function swap(draft: string, target: string, previous: string | null): Promise<void> {
  if (previous !== null) await rename(target, previous);
  try {
    await rename(draft, target);
  } catch (error) {
    if (previous !== null) await rename(previous, target);
    throw error;
  }
  await flushFile(dirname(target));
}
