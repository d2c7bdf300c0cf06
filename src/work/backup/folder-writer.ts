/**
 * Writes a backup to a folder. Files that did not change since the previous backup in the same folder are hard-linked
 * to it; the others share their blocks with the live file if the file system supports it, and are copied otherwise.
 * Everything is written to a folder with a temporary name, which gets its own name when the manifest is in it.
 */
import { mkdir, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { discardFolder, flushFolders, type StoredFile, storeCopy, tryLink, tryReflink } from "../../blobs/backup-files";
import type { Folders } from "../../blobs/folders";
import { listNames, type TrashHold } from "../../blobs/trash";
import {
  type BackupFile,
  type BackupManifest,
  DATABASE_NAME,
  formatBackupName,
  MANIFEST_NAME,
  parseBackupName,
  SECRETS_NAME,
  sumBytes,
} from "../../domain/backup";
import { badRequest } from "../../domain/errors";
import { isInside, MEDIA_MARKER_NAME } from "../../domain/media-folder";
import { toFormerPath } from "../../domain/point-in-time";
import { renameDurably, SECRET_FILE_MODE, writeAtomic } from "../../lib/atomic-file";
import { getFreeBytes } from "../../lib/disk-reserve";
import { ignoreMissing } from "../../lib/error-codes";
import { findFileSize } from "../../lib/file-size";
import type { MountTables } from "../../lib/file-systems";
import { createFileKey, hashFile } from "../../lib/hash";
import { findRealPath } from "../../lib/real-path";
import { readDatabaseContents } from "../../store/database-file";
import type { Store } from "../../store/db";
import { readStorageTotals } from "../../store/storage";
import { type Backup, findNewestBackup } from "./backup-folder";
import { type BackupWriter, createStoredFiles, type StoredFiles } from "./backup-writer";
import { readDamage, replaceDamaged } from "./damage";
import { type FoundFile, findFiles, storeFound } from "./find-files";
import { requireOwnPlace } from "./folder-id";
import { prepareFolder, requireMounted } from "./folder-target";
import { measureDatabase, requireSpace } from "./space";

const PART_PREFIX = ".";
const PART_SUFFIX = ".part";
/** A file that is written to test the file system's abilities. */
const PROBE_NAME = ".probe";
/** A backup that was killed left its folder behind. One of another data folder may still run. */
const PART_KEPT_MS = 12 * 3600 * 1000;

/** Tests replace `readMounts`. */
type WriterSource = { store: Store; folders: Folders; readMounts?: (() => MountTables) | undefined };

/**
 * Opens a writer to `target/offcut-<time>/`. Errors: `AppError` `bad_request` for a target inside the data folder,
 * without its mount or without write access; `conflict` for one with backups of another data folder.
 */
export async function openFolderWriter(
  target: string,
  { source, hasMedia, now }: { source: WriterSource; hasMedia: boolean; now: number },
  signal: AbortSignal,
): Promise<BackupWriter> {
  const { folders, readMounts } = source;
  const folder = resolve(target);
  const real = await findRealPath(folder);
  for (const live of [folders.root, folders.mediaDir])
    if (isInside(folder, resolve(live)) || isInside(real, await findRealPath(live)))
      throw badRequest(`Backup folder ${folder} is inside the data folder or the media folder. Choose another disk.`);
  requireMounted(folder, readMounts);
  await prepareFolder(folder);
  await requireOwnPlace(folder, await findNewestBackup(folder), folders.root);
  const owner = createFileKey([hostname(), resolve(folders.root)]);
  await discardAbandoned(folder, owner, now);
  const taken = new Set(await listNames(folder));
  let createdAt = now;
  while (taken.has(formatBackupName(createdAt))) createdAt += 1000;
  const name = formatBackupName(createdAt);
  const part = join(folder, `${PART_PREFIX}${name}.${owner}${PART_SUFFIX}`);
  await mkdir(part, { mode: 0o700 });
  let paths: string[] = [];
  return {
    path: join(folder, name),
    createdAt,
    scratch: part,
    requireRoom: (hold) => requireRoom(source, { folder, part, hasMedia, hold }),
    store: async (files, hold) => {
      const stored = await storeFiles(files, { part, folder, folders, hold }, signal);
      paths = stored.stored.map(({ path }) => path);
      return stored;
    },
    complete: async (manifest) => {
      await flushFolders(part, paths);
      await writeAtomic(join(part, MANIFEST_NAME), `${JSON.stringify(manifest, null, 1)}\n`, SECRET_FILE_MODE);
      await renameDurably(part, join(folder, name));
      return describeReplaced({ path: join(folder, name), manifest }, signal);
    },
    discard: () => discardFolder(part),
    release: async () => {},
  };
}

/**
 * Throws `storage_full` before anything is written when the database and the media that the previous backup lacks do
 * not fit. Counts the files only when the rows do not rule it out.
 */
async function requireRoom(
  { folders, store }: { folders: Folders; store: Store },
  { folder, part, hasMedia, hold }: { folder: string; part: string; hasMedia: boolean; hold: TrashHold },
): Promise<void> {
  const database = await measureDatabase(folders.root);
  await requireSpace(folder, database);
  if (!hasMedia || (await canReflink(folders, part))) return;
  const { sourceBytes, derivedBytes, renderBytes } = await readStorageTotals(store.read);
  if (database + sourceBytes + derivedBytes + renderBytes <= getFreeBytes(folder)) return;
  const { files } = await findFiles(folders, hold, await readDatabaseContents(join(folders.root, DATABASE_NAME)));
  const findUnchanged = await createUnchangedFinder(await findNewestBackup(folder, { hasMedia: true }));
  await requireSpace(folder, database + sumBytes(files.filter((file) => findUnchanged(file) === null)));
}

/** Returns whether `part` can share the blocks of media. */
async function canReflink({ root, mediaDir }: Folders, part: string): Promise<boolean> {
  const probe = join(part, PROBE_NAME);
  const sample = mediaDir === root ? join(root, SECRETS_NAME) : join(mediaDir, MEDIA_MARKER_NAME);
  const canShare = await tryReflink(sample, probe).catch(() => false);
  await discardFolder(probe);
  return canShare;
}

/**
 * Returns a function that finds a file in the previous backup, unless it is damaged there. One that was deleted since
 * then has another path now, and the same bytes.
 */
async function createUnchangedFinder(previous: Backup | null): Promise<(file: FoundFile) => BackupFile | null> {
  if (previous === null) return () => null;
  const damage = await readDamage(previous);
  const intact = previous.manifest.files.filter(({ path }) => !damage.has(path));
  const known = new Map(intact.map((file) => [file.path, file]));
  return (file) => {
    const before = known.get(file.path) ?? known.get(toFormerPath(file.path));
    return before?.bytes === file.bytes && before.modified_at === file.modified_at ? before : null;
  };
}

type WriterFolders = { part: string; folder: string; folders: Folders; hold: TrashHold };

/** Links the files to those of the previous backup that are the same, and copies the others. */
async function storeFiles(
  files: readonly FoundFile[],
  places: WriterFolders,
  signal: AbortSignal,
): Promise<StoredFiles> {
  const { part, folder, folders, hold } = places;
  const report = createStoredFiles();
  const media: FoundFile[] = [];
  for (const file of files) {
    if (file.path === DATABASE_NAME)
      report.stored.push({ path: file.path, ...(await describeFile(file.from, signal)) });
    else if (file.path === SECRETS_NAME)
      report.stored.push({ path: file.path, ...(await storeCopy(file.from, join(part, file.path), signal)) });
    else media.push(file);
  }
  const previous = await findNewestBackup(folder, { hasMedia: true });
  const canLink = previous !== null && (await tryLink(join(previous.path, MANIFEST_NAME), join(part, PROBE_NAME)));
  await discardFolder(join(part, PROBE_NAME));
  const canShare = await canReflink(folders, part);
  if (previous !== null && !canLink)
    report.notes.push(`${folder} does not support hard links: unchanged files are copied again.`);
  const findUnchanged = await createUnchangedFinder(canLink ? previous : null);
  if (!canShare) await requireSpace(folder, sumBytes(media.filter((file) => findUnchanged(file) === null)));
  for (const file of media) {
    signal.throwIfAborted();
    const unchanged = findUnchanged(file);
    if (unchanged !== null && (await linkPrevious(previous!.path, unchanged, join(part, file.path)))) {
      report.linked_files++;
      report.stored.push({ ...unchanged, path: file.path });
      continue;
    }
    const copy = await storeFound(file, part, { folders, hold }, signal);
    if (copy === null) {
      report.missing.push(file.path);
      continue;
    }
    report.stored.push(copy);
    if (canShare) {
      report.shared_files++;
      continue;
    }
    report.copied_files++;
    report.copied_bytes += copy.bytes;
  }
  return report;
}

/** The backup is complete: files in earlier ones that cannot be replaced now are replaced by the next backup. */
async function describeReplaced(
  backup: { path: string; manifest: BackupManifest },
  signal: AbortSignal,
): Promise<string[]> {
  try {
    const replaced = await replaceDamaged(backup, signal);
    return replaced === 0 ? [] : [`Damaged files of earlier backups that were replaced: ${replaced}.`];
  } catch (error) {
    return [`Damaged files of earlier backups could not be replaced: ${(error as Error).message}`];
  }
}

/** Returns false if the previous backup lacks the file or a part of it; the file is then copied again. */
async function linkPrevious(previous: string, file: BackupFile, path: string): Promise<boolean> {
  const existing = join(previous, file.path);
  if ((await findFileSize(existing)) !== file.bytes) return false;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return (await tryLink(existing, path).catch(ignoreMissing)) ?? false;
}

async function describeFile(path: string, signal: AbortSignal): Promise<StoredFile> {
  const { size, mtimeMs } = await stat(path);
  return { bytes: size, sha256: await hashFile(path, signal), modified_at: Math.round(mtimeMs) };
}

/**
 * The data folder is locked, and its process writes one backup at a time: a leftover of the same owner is abandoned.
 */
async function discardAbandoned(folder: string, owner: string, now: number): Promise<void> {
  for (const name of await listNames(folder)) {
    if (!name.startsWith(PART_PREFIX) || !name.endsWith(PART_SUFFIX)) continue;
    const [backup = "", writer] = name.slice(PART_PREFIX.length, -PART_SUFFIX.length).split(".");
    const time = parseBackupName(backup);
    if (time !== null && (writer === owner || time < now - PART_KEPT_MS)) await discardFolder(join(folder, name));
  }
}
