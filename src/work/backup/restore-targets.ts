/** The folders that a restore replaces: checks permission and space. */
import { existsSync } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { discardFolder, tryReflink } from "../../blobs/backup-files";
import { type Folders, isMediaPath } from "../../blobs/folders";
import type { RestoreTargets } from "../../blobs/restored-folder";
import { SECRETS_NAME, sumBytes } from "../../domain/backup";
import { badRequest, conflict } from "../../domain/errors";
import { formatMarker, MEDIA_MARKER_NAME, parseMarker } from "../../domain/media-folder";
import { SECRET_FILE_MODE, writeAtomic } from "../../lib/atomic-file";
import { findUnmounted, readMountTables } from "../../lib/file-systems";
import { newId } from "../../lib/ids";
import { findRealPath } from "../../lib/real-path";
import { readFolderId } from "./folder-id";
import type { RestoreSource, SourceFile } from "./restore-source";
import { requireSpace } from "./space";

/**
 * Returns the folders to replace. `mediaDir`: the configured media folder; null for the data folder. It stays as it is
 * when the source has nothing for it. Throws `AppError` `bad_request` for a folder that cannot be renamed, `conflict`
 * for a media folder of another data folder.
 */
export async function planTargets(
  { backup }: RestoreSource,
  { dataDir, mediaDir }: { dataDir: string; mediaDir: string | null },
): Promise<RestoreTargets> {
  const data = resolve(dataDir);
  await requireRenamable(data, "--data-dir");
  const media = findSeparateMedia(dataDir, mediaDir);
  if (media === null || backup?.manifest.has_media === false) return { data, media: null };
  await requireRenamable(media, "--media-dir");
  await requireSameOwner(media, data);
  return { data, media };
}

/** Returns the path of the media folder; null when it is the data folder. */
export const findSeparateMedia = (dataDir: string, mediaDir: string | null): string | null =>
  mediaDir === null || resolve(mediaDir) === resolve(dataDir) ? null : resolve(mediaDir);

/**
 * A mount point cannot be renamed, and a renamed link would leave the restored folder on the disk of the link. This is
 * found before anything is copied.
 */
async function requireRenamable(target: string, option: string): Promise<void> {
  if ((await lstat(target).catch(() => null))?.isSymbolicLink())
    throw badRequest(`${target} is a link. Name the folder that it leads to: ${option} ${await findRealPath(target)}.`);
  const live = await stat(target).catch(() => null);
  if (live === null) return;
  const parent = await stat(dirname(target));
  if (parent.dev !== live.dev)
    throw badRequest(
      `${target} is a mount point, which cannot be replaced. Unmount it, or restore to another folder with ${option}.`,
    );
}

/**
 * Throws `AppError` `conflict` when the media folder is in use by a data folder other than the one that is replaced,
 * `bad_request` when it is below a mount point without a mount.
 */
async function requireSameOwner(media: string, data: string): Promise<void> {
  const marker = await readText(join(media, MEDIA_MARKER_NAME));
  const id = marker === null ? null : parseMarker(marker);
  const unmounted = id === null ? findUnmounted(media, readMountTables()) : null;
  if (unmounted !== null)
    throw badRequest(
      `Media folder ${media} is below ${unmounted}, which /etc/fstab lists and where nothing is mounted. Mount it first.`,
    );
  if (id === null || id === (await readFolderId(data))) return;
  throw conflict(
    `Media folder ${media} belongs to another data folder than ${data}. Rename it, or restore with --media-dir and another folder.`,
  );
}

const readText = async (path: string): Promise<string | null> => {
  const file = Bun.file(path);
  return (await file.exists()) ? file.text() : null;
};

/**
 * Writes the marker of the restored media folder: without it, the folder would be offline. The backup of an older
 * version has no ID yet.
 */
export async function writeMediaMarker({ root, mediaDir }: Folders): Promise<void> {
  const path = join(root, SECRETS_NAME);
  const known = await readFolderId(root);
  // The first start creates both.
  if (known === null && mediaDir === root) return;
  const id = known ?? newId();
  if (known === null) {
    const secrets = { ...JSON.parse((await readText(path)) ?? "{}"), folder_id: id };
    await writeAtomic(path, JSON.stringify(secrets), SECRET_FILE_MODE);
  }
  await writeAtomic(join(mediaDir, MEDIA_MARKER_NAME), formatMarker(id), SECRET_FILE_MODE);
}

/** Other data to write to the data folder. `written`: how many bytes of it are already written. */
type Extra = { more?: number; written?: number };

/**
 * Throws `storage_full` when files do not fit beside the targets. `files` have their paths in the restored folders. On
 * one disk they must fit together.
 */
export async function requireRoom(
  source: RestoreSource,
  files: readonly (Pick<SourceFile, "bytes"> & { to: string })[],
  { data, media }: RestoreTargets,
  extra: Extra,
): Promise<void> {
  const [main, other] = [findExistingFolder(data), media && findExistingFolder(media)];
  if (other === null || (await stat(main)).dev === (await stat(other)).dev)
    return requireRoomIn(source, files, main, extra);
  const { toMedia = [], toData = [] } = Object.groupBy(files, ({ to }) => (isMediaPath(to) ? "toMedia" : "toData"));
  await requireRoomIn(source, toData, main, extra);
  await requireRoomIn(source, toMedia, other, {});
}

function findExistingFolder(path: string): string {
  let folder = dirname(path);
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}

/** Files that can share their blocks with the source need no space. */
async function requireRoomIn(
  { path, resolve, download }: RestoreSource,
  files: readonly Pick<SourceFile, "bytes">[],
  folder: string,
  { more = 0, written = 0 }: Extra,
): Promise<void> {
  await requireSpace(folder, more, written);
  // Files that were downloaded to this file system are moved.
  if (download !== null && (await stat(path)).dev === (await stat(folder)).dev) return;
  try {
    await requireSpace(folder, sumBytes(files) + more, written);
  } catch (error) {
    const probe = join(folder, `.offcut-${newId()}.probe`);
    const canShare = await tryReflink(resolve(SECRETS_NAME), probe).catch(() => false);
    await discardFolder(probe);
    if (!canShare) throw error;
  }
}
