/**
 * Lists the files in the media folder: those of recordings and renders, and those that no row knows. Uploads and
 * unfinished jobs are left out.
 */
import { lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Folders } from "../../blobs/folders";
import { listNames } from "../../blobs/trash";
import {
  type CheckedPath,
  type FileFacts,
  findTracked,
  isSettled,
  listTrackedFiles,
  parseCheckedPath,
  RESTORING_SUFFIX,
  type TrackedFile,
} from "../../domain/scrub";
import { isUuid } from "../../lib/ids";
import { findExistingAssetIds } from "../../store/assets";
import type { Queries } from "../../store/db";
import { findOwner, type StoredOwner } from "../../store/file-owners";
import { findExistingRenderIds } from "../../store/renders";

/** Size and time of a file. `since`: when it was last written, renamed or moved here. */
type FileStat = Pick<FileFacts, "bytes" | "modified_at"> & { since: number };

/**
 * A file or folder. `tracked` null: no row knows it. `stat` null: it does not exist. `path` is relative to the media
 * folder.
 */
export type MediaEntry = { path: string; tracked: TrackedFile | null; stat: FileStat | null };

/**
 * The sweep removes files of unknown owners every hour, and jobs write temporary files: others are untracked after this
 * time.
 */
const UNTRACKED_AFTER_MS = 3 * 3600 * 1000;

/** Returns the absolute path of a file of `file_checks`; null for a path that no check writes. */
export function toAbsolute(folders: Folders, path: string): string | null {
  const parsed = parseCheckedPath(path);
  return parsed === null ? null : join(getRoot(folders, parsed.folder), parsed.owner, parsed.name ?? "");
}

const getRoot = (folders: Folders, folder: CheckedPath["folder"]): string =>
  ({ media: folders.mediaRoot, renders: folders.rendersRoot, uploads: folders.uploads })[folder];

/** Returns the folder of an owner, relative to the media folder. */
export const getOwnerFolder = ({ kind, id }: Pick<StoredOwner, "kind" | "id">): string =>
  `${kind === "asset" ? "media" : "renders"}/${id}`;

/** Returns the recording or render that a path belongs to; null without one, such as for `media/junk`. */
export async function findOwnerOf(db: Queries, path: string): Promise<StoredOwner | null> {
  const parsed = parseCheckedPath(path);
  if (parsed === null || parsed.name === null || parsed.folder === "uploads") return null;
  return findOwner(db, parsed.folder === "media" ? "asset" : "render", parsed.owner);
}

/**
 * Lists the entries of an owner; null while jobs or uploads write to its folder. Errors: those of the file system, but
 * for missing files.
 */
export async function listOwnerEntries(
  folders: Folders,
  owner: StoredOwner,
  now: number,
): Promise<MediaEntry[] | null> {
  const tracked = listTrackedFiles(owner);
  if (tracked === null) return null;
  const folder = getOwnerFolder(owner);
  const names = new Set(await listNames(toAbsolute(folders, folder)!));
  for (const { name, isRequired } of tracked) if (isRequired) names.add(name);
  const entries: MediaEntry[] = [];
  for (const name of names) {
    const file = findTracked(tracked, name);
    if (file === null && (!isSettled(owner) || name.endsWith(RESTORING_SUFFIX))) continue;
    const path = `${folder}/${name}`;
    const entry = await readEntry(folders, path, file);
    if (file !== null || isUntracked(entry, now)) entries.push(entry);
  }
  return entries;
}

/** Lists the entries directly in one of the folders that belong to no row, or to a complete upload. */
export async function listUnknownEntries(folders: Folders, db: Queries, now: number): Promise<MediaEntry[]> {
  const entries: MediaEntry[] = [];
  for (const folder of ["media", "renders", "uploads"] as const) {
    const names = await listNames(getRoot(folders, folder));
    const ids = names.filter(isUuid);
    const known = folder === "renders" ? await findExistingRenderIds(db, ids) : await findExistingAssetIds(db, ids);
    for (const name of names) {
      if (known.has(name) && !(folder === "uploads" && (await isCompleteUpload(db, name)))) continue;
      const entry = await readEntry(folders, `${folder}/${name}`, null);
      if (isUntracked(entry, now)) entries.push(entry);
    }
  }
  return entries;
}

const isCompleteUpload = async (db: Queries, id: string): Promise<boolean> =>
  (await findOwner(db, "asset", id))?.state !== "pending_upload";

const isUntracked = ({ stat: found }: MediaEntry, now: number): boolean =>
  found !== null && found.since < now - UNTRACKED_AFTER_MS;

/** Returns whether an entry is still untracked. Errors: those of the file system. */
export async function isStillUntracked(folders: Folders, db: Queries, path: string, now: number): Promise<boolean> {
  const parsed = parseCheckedPath(path);
  if (parsed === null) return false;
  if (parsed.name === null) return (await listUnknownEntries(folders, db, now)).some((entry) => entry.path === path);
  const owner = await findOwnerOf(db, path);
  const entries = owner === null ? null : await listOwnerEntries(folders, owner, now);
  return entries?.some((entry) => entry.path === path && entry.tracked === null) ?? false;
}

export async function readEntry(folders: Folders, path: string, tracked: TrackedFile | null): Promise<MediaEntry> {
  const absolute = toAbsolute(folders, path);
  return { path, tracked, stat: absolute === null ? null : await readStat(absolute, tracked !== null) };
}

async function readStat(path: string, isFollowed: boolean): Promise<FileStat | null> {
  try {
    const found = isFollowed ? await stat(path) : await lstat(path);
    if (isFollowed && !found.isFile()) return null;
    const bytes = found.isDirectory() ? await measureFolder(path) : found.size;
    return { bytes, modified_at: Math.round(found.mtimeMs), since: Math.max(found.mtimeMs, found.ctimeMs) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
}

async function measureFolder(path: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    bytes += (await lstat(join(entry.parentPath, entry.name)).catch(() => null))?.size ?? 0;
  }
  return bytes;
}
