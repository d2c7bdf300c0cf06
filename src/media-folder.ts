/** Checks at the start that the media folder is online, belongs to the data folder, and can be used. */
import { accessSync, chmodSync, constants, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { opendir, readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { GuardedMarker } from "./blobs/folder-guard";
import { type Config, ConfigError } from "./config";
import { DATABASE_NAME } from "./domain/backup";
import { AppError } from "./domain/errors";
import {
  DATA_MARKER_NAME,
  decideMediaFolder,
  type FolderFacts,
  findFolderConflict,
  formatMarker,
  MEDIA_FOLDERS,
  MEDIA_MARKER_NAME,
  parseMarker,
  type StartDecision,
  type StartFacts,
  type StartRefusal,
} from "./domain/media-folder";
import { isStorageFull } from "./domain/storage-full";
import { SECRET_FILE_MODE, writeAtomic } from "./lib/atomic-file";
import { ignoreMissingPath } from "./lib/error-codes";
import { findNetworkFileSystem, findUnmounted, type ReadFileSystemType, readMountTables } from "./lib/file-systems";
import { withTimeLimit } from "./lib/time-limit";

export type FolderSettings = Pick<Config, "dataDir" | "mediaDir"> & Partial<Pick<Config, "backupTo">>;

/** A network folder whose server is down does not respond at all. */
const MAX_WAIT_MS = 5_000;

/**
 * Throws `ConfigError` when the folder is on a network file system, which does not lock a database reliably, or below a
 * mount point without a mount.
 */
export function requireLocalFolder(configured: string, readType?: ReadFileSystemType): void {
  const path = resolve(configured);
  const kind = findNetworkFileSystem(path, readType);
  if (kind !== null)
    throw new ConfigError(
      `Data folder ${path} is on a network file system (${kind}), which can damage the database. Set data_dir to a local disk; media_dir may be on ${kind}.`,
    );
  const unmounted = existsSync(join(path, DATABASE_NAME)) ? null : findUnmounted(path, readMountTables());
  if (unmounted !== null)
    throw new ConfigError(
      `Data folder ${path} has no database, and nothing is mounted at ${unmounted}, which /etc/fstab lists. Mount it and start again.`,
    );
}

/** The media folder of a data folder, and the decision about it. `path`: the data folder if none is configured. */
export type InspectedMedia = { path: string; facts: StartFacts; decision: StartDecision };

/** Decides about the media folder without changing anything. `id`: the data folder's. Throws `ConfigError`. */
export async function inspectMediaFolder(settings: FolderSettings, id: string | null): Promise<InspectedMedia> {
  const data = resolve(settings.dataDir);
  const backup = settings.backupTo == null || settings.backupTo.includes("://") ? null : settings.backupTo;
  const real = {
    data: await toRealPath(data),
    media: await toRealPath(settings.mediaDir ?? data),
    backup: backup && (await toRealPath(backup)),
  };
  const conflict = findFolderConflict(real);
  if (conflict !== null) throw new ConfigError(conflict);
  const media = real.media === real.data ? null : resolve(settings.mediaDir ?? data);
  const dataFacts = await readFolderFacts(data);
  const facts: StartFacts = {
    id: id ?? dataFacts.marker,
    hasDatabase: existsSync(join(data, DATABASE_NAME)),
    data: dataFacts,
    media: media === null ? null : await readMediaFacts(media),
  };
  return { path: media ?? data, facts, decision: decideMediaFolder(facts) };
}

async function readMediaFacts(folder: string): Promise<StartFacts["media"]> {
  const facts = await withTimeLimit(readFolderFacts(folder), MAX_WAIT_MS, () => ({ marker: null, hasFiles: false }));
  return { ...facts, unmounted: facts.marker === null ? findUnmounted(folder, readMountTables()) : null };
}

/** On errors of a network folder, treats it as absent. Throws `ConfigError` without permission. */
async function readFolderFacts(folder: string): Promise<FolderFacts> {
  try {
    const text = await readFile(join(folder, MEDIA_MARKER_NAME), "utf8").catch(ignoreMissingPath);
    return { marker: text === null ? null : parseMarker(text), hasFiles: await hasFiles(folder) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EACCES" || code === "EPERM")
      throw new ConfigError(`Cannot read ${folder}: ${message}. Give it to the user that runs offcut.`);
    return { marker: null, hasFiles: false };
  }
}

async function hasFiles(folder: string): Promise<boolean> {
  // Unfinished work is repeated.
  for (const name of MEDIA_FOLDERS.filter((each) => each !== "work")) {
    const listing = await opendir(join(folder, name)).catch(ignoreMissingPath);
    if (listing === null) continue;
    const first = await listing.read();
    await listing.close();
    if (first !== null) return true;
  }
  return false;
}

/** Resolves links in the part of the path that exists. A path that does not respond stays as it is. */
const toRealPath = (path: string): Promise<string> =>
  withTimeLimit(resolveLinks(resolve(path)), MAX_WAIT_MS, () => resolve(path));

async function resolveLinks(path: string): Promise<string> {
  return realpath(path).catch(async () => {
    const parent = dirname(path);
    return parent === path ? path : join(await resolveLinks(parent), basename(path));
  });
}

/** Returns why the server refuses to start with this media folder, in one line with a solution. */
export function describeRefusal(refusal: StartRefusal, { path, facts }: InspectedMedia, dataDir: string): string {
  const data = resolve(dataDir);
  const marker = join(data, MEDIA_MARKER_NAME);
  switch (refusal) {
    case "no_data":
      return `Media folder ${path} belongs to a data folder, but ${data} has no database. Mount the data folder, or restore a backup to it.`;
    case "no_database":
      return `Data folder ${data} has media but no database. Restore a backup, or set data_dir to an empty folder.`;
    case "foreign":
      return `Media folder ${path} belongs to another data folder: its ${MEDIA_MARKER_NAME} has another ID than ${facts.id ?? "none"} of ${data}. Set media_dir to the media folder of this server.`;
    case "not_moved":
      return `Media folder ${path} is empty, and the media of this server is in ${data}. Move ${MEDIA_FOLDERS.filter((name) => name !== "work").join(", ")} and ${MEDIA_MARKER_NAME} from there to ${path}, and start again.`;
    case "unmarked":
      return existsSync(marker)
        ? `Media folder ${path} has files, but no ${MEDIA_MARKER_NAME}. If they are those of this server, move ${marker} there. If not, set media_dir to an empty folder.`
        : `Media folder ${path} has files, but no ${MEDIA_MARKER_NAME}. Set media_dir to an empty folder.`;
    case "unmounted":
      return `Media folder ${path} is below ${facts.media?.unmounted}, which /etc/fstab lists and where nothing is mounted. Mount it and start again.`;
  }
}

export const isRefusal = (decision: StartDecision): decision is StartRefusal =>
  decision !== "use" && decision !== "create" && decision !== "offline";

/**
 * Assigns the media folder to the data folder `id`, which already has its marker file: writes markers as decided. If
 * killed at any step, the next start has the same result. Throws `ConfigError`.
 */
export async function applyMediaFolder({ path, facts, decision }: InspectedMedia, id: string, dataDir: string) {
  const data = resolve(dataDir);
  if (isRefusal(decision)) throw new ConfigError(describeRefusal(decision, { path, facts, decision }, dataDir));
  await writeMarker(join(data, DATA_MARKER_NAME), id);
  if (decision !== "offline") {
    prepareFolder(path, decision === "create");
    await writeMarker(join(path, MEDIA_MARKER_NAME), id).catch((error) => {
      throw toFullDiskError(error, path);
    });
    // It names the one folder that has the media.
    if (path !== data) rmSync(join(data, MEDIA_MARKER_NAME), { force: true });
  }
}

/** Writes a marker file unless it is there. */
export async function writeMarker(path: string, id: string): Promise<void> {
  const text = await readFile(path, "utf8").catch(ignoreMissingPath);
  if (text === null || parseMarker(text) !== id) await writeAtomic(path, formatMarker(id), SECRET_FILE_MODE);
}

/** Returns the marker files that must exist while the server runs. */
export const getGuardedMarkers = (dataDir: string, mediaDir: string, id: string): GuardedMarker[] => [
  { path: join(dataDir, DATA_MARKER_NAME), id, setting: "data_dir" },
  { path: join(mediaDir, MEDIA_MARKER_NAME), id, setting: mediaDir === dataDir ? "data_dir" : "media_dir" },
];

/** Checks owner and mode as for the data folder, except on network file systems. Throws `ConfigError`. */
const prepareFolder = (path: string, canCreate: boolean): void =>
  useFolder("media folder", path, () => {
    if (canCreate) mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.W_OK | constants.X_OK);
    if (findNetworkFileSystem(path) === null) makePrivate("Media folder", path);
  });

/** Runs `prepare`. Throws `ConfigError` instead of the errors of the file system. */
export function useFolder(name: string, path: string, prepare: () => void): void {
  try {
    prepare();
  } catch (error) {
    const failure = toFullDiskError(error, path);
    if (failure instanceof ConfigError) throw failure;
    throw new ConfigError(`Cannot use the ${name} ${path}: ${(error as Error).message}`);
  }
}

export const createFullDiskError = (folder: string): ConfigError =>
  new ConfigError(`The disk of ${folder} is full. Free some space, then try again.`);

/** Maps an error of a full disk, unless an `AppError`, to a `ConfigError` with the folder. Returns others unchanged. */
export const toFullDiskError = (error: unknown, folder: string): unknown =>
  !(error instanceof AppError) && isStorageFull(error) ? createFullDiskError(folder) : error;

/** Denies others access to a folder. Throws `ConfigError` when it belongs to another user. */
export function makePrivate(name: string, path: string): void {
  const { uid, mode } = statSync(path);
  const me = process.getuid?.();
  if (me !== undefined && uid !== me)
    throw new ConfigError(
      `${name} ${path} belongs to user ID ${uid}, but offcut runs as ${me}. Run offcut as the owner of the folder.`,
    );
  if ((mode & 0o077) !== 0) chmodSync(path, 0o700);
}
