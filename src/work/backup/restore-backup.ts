/**
 * Restores a state to a data folder and its media folder: verifies it, writes it next to them and swaps by renaming.
 * The folders are neither changed nor deleted, only renamed.
 */
import { lchown, mkdir, readdir, rename, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { version } from "../../../package.json";
import { discardFolder, flushFolders, storeCopy, tryLink } from "../../blobs/backup-files";
import { type Folders, getFolders } from "../../blobs/folders";
import { createRestoredFolders, type RestoreTargets } from "../../blobs/restored-folder";
import { DATABASE_NAME, isEssential, SECRETS_NAME, sumBytes } from "../../domain/backup";
import { badRequest, conflict } from "../../domain/errors";
import { isInside, MEDIA_MARKER_NAME } from "../../domain/media-folder";
import { parseTrashName, selectFiles, TRASH_FOLDER } from "../../domain/point-in-time";
import { flushFile } from "../../lib/atomic-file";
import { ignoreCodes } from "../../lib/error-codes";
import { deleteAllSessions, findDatabaseProblems, readDatabaseContents } from "../../store/database-file";
import { isKnownMigration } from "../../store/migrate";
import { readUnpackedSize, unpackFile } from "./compressed-file";
import { keepRecoveryKey } from "./folder-id";
import type { RestoreSource, SourceFile } from "./restore-source";
import { findSeparateMedia, planTargets, requireRoom, writeMediaMarker } from "./restore-targets";
import { type DamagedFile, verifyFiles } from "./verify-files";

/**
 * `mediaDir`: the configured media folder; null for the data folder. `openDraft` prepares the folder that becomes the
 * data folder, so that databases can be opened. It writes `draftBytes`.
 */
export type RestoreOptions = {
  dataDir: string;
  mediaDir: string | null;
  skipDamagedMedia: boolean;
  now: number;
  draftBytes: number;
  openDraft(draft: string): Promise<void>;
};

/** Maximum number of damaged files that an error names. */
const MAX_NAMED_FILES = 10;

/** A file to write. `to` is its path in the restored folders, as in a backup. */
type PlannedFile = { file: SourceFile; to: string };

/**
 * Restores a state. The caller holds the lock of `dataDir` if it exists. Errors: `AppError` `bad_request` for a backup
 * of a newer version and for a folder that cannot be renamed, `conflict` for damage, a media folder of another data
 * folder and while another restore runs, `storage_full` when it does not fit; file system errors; the signal's reason.
 *
 * In the report, `previous` and `previous_media` are the paths of the replaced folders; null if none was replaced.
 * `media_dir`: null when it is the data folder. `skipped`: damaged media that was not restored. `missing`: media that
 * did not exist when the backup was made.
 */
export async function restoreState(
  source: RestoreSource,
  { dataDir, mediaDir, skipDamagedMedia, now, draftBytes, openDraft }: RestoreOptions,
  signal: AbortSignal,
) {
  if (source.backup !== null) requireKnown(source, source.backup.manifest.schema);
  const targets = await planTargets(source, { dataDir, mediaDir });
  const separateMedia = findSeparateMedia(dataDir, mediaDir);
  const unpackedBytes = await measureState(source, targets, draftBytes);
  const restored = await createRestoredFolders(targets, now);
  const { drafts } = restored;
  const folders = getFolders(drafts.data, drafts.media ?? drafts.data);
  try {
    await openDraft(folders.root);
    const isWhole = source.state.path === DATABASE_NAME;
    const { plan, missing } = isWhole
      ? { plan: source.files.map((file) => ({ file, to: file.path })), missing: [] }
      : await planSnapshot(source, folders.root, signal);
    const found = [
      ...missing.map((path) => ({ path, problem: "is missing" })),
      ...(await verifyFiles(
        source.resolve,
        plan.map(({ file }) => file),
        { hasDatabase: isWhole, signal },
      )),
    ];
    const damaged = found.map((file) => findDownloadDamage(source, file.path) ?? file);
    refuseDamage(source.origin, damaged, skipDamagedMedia);
    const skipped = new Set(damaged.map(({ path }) => path));
    const chosen = plan.filter(({ file }) => !skipped.has(file.path));
    const canLink = source.backup === null && (await tryLinks(source, folders));
    const isCopied = ({ to }: PlannedFile) => !(canLink && isLinkable(to));
    const copied = chosen.filter(isCopied).map(({ file, to }) => ({ bytes: file.bytes, to }));
    await requireRoom(source, copied, targets, { written: unpackedBytes + draftBytes });
    for (const planned of chosen) await restoreFile(source, planned, { folders, canLink, signal });
    await keepRecoveryKey(folders.root, targets.data);
    await deleteAllSessions(join(folders.root, DATABASE_NAME));
    await flushFile(join(folders.root, DATABASE_NAME));
    // A media folder that is not replaced has its marker.
    if (separateMedia === null || drafts.media !== null) await writeMediaMarker(folders);
    const restoredPaths = chosen.map(({ to }) => folders.resolve(to));
    await finishDrafts(targets, drafts, restoredPaths);
    signal.throwIfAborted();
    const previous = await restored.swap();
    return {
      from: source.origin,
      created_at: new Date(source.state.time).toISOString(),
      data_dir: targets.data,
      media_dir: separateMedia,
      previous: previous.data,
      previous_media: previous.media,
      files: chosen.length + (isWhole ? 0 : 1),
      bytes: sumBytes(chosen.map(({ file }) => file)) + (isWhole ? 0 : unpackedBytes),
      skipped: damaged,
      missing: isWhole ? (source.backup?.manifest.missing ?? []) : [],
    };
  } catch (error) {
    await restored.discard();
    throw error;
  }
}

export type RestoreReport = Awaited<ReturnType<typeof restoreState>>;

function requireKnown({ origin, backup }: RestoreSource, schema: string): void {
  if (isKnownMigration(schema)) return;
  const writer = backup === null ? "a newer version of Offcut" : `Offcut ${backup.manifest.version}`;
  throw badRequest(
    `${origin} was written by ${writer}, which has a newer database than this version (${version}). Restore it with that version.`,
  );
}

/**
 * Returns the bytes of the unpacked snapshot, 0 for a backup's own database. Throws `storage_full` when it is known
 * before anything is written that the source has no room.
 */
async function measureState(source: RestoreSource, targets: RestoreTargets, draftBytes: number): Promise<number> {
  const { resolve, state, files } = source;
  if (state.path === DATABASE_NAME) {
    const planned = files.map(({ bytes, path }) => ({ bytes, to: path }));
    await requireRoom(source, planned, targets, { more: draftBytes });
    return 0;
  }
  const unpacked = await readUnpackedSize(resolve(state.path));
  await requireRoom(source, [], targets, { more: unpacked + draftBytes });
  return unpacked;
}

/** Unpacks the snapshot to the draft, checks it and returns the files of its rows. */
async function planSnapshot(source: RestoreSource, draft: string, signal: AbortSignal) {
  const { path, resolve, state, files } = source;
  const snapshot = files.filter((file) => file.path === state.path);
  const found = await verifyFiles(resolve, snapshot, { hasDatabase: false, signal });
  const damaged = found.map((file) => findDownloadDamage(source, file.path) ?? file);
  refuseDamage(source.origin, damaged, false);
  const database = join(draft, DATABASE_NAME);
  await unpackFile(resolve(state.path), database, signal);
  const [problem] = await findDatabaseProblems(database);
  if (problem !== undefined) throw conflict(`${resolve(state.path)} is damaged: ${problem}`);
  const contents = await readDatabaseContents(database);
  requireKnown(source, contents.migrations.at(-1) ?? "");
  const known = new Map(files.map((file) => [file.path, file]));
  const { files: selected, missing } = selectFiles(known.keys(), contents, state.time);
  const secrets = known.get(SECRETS_NAME);
  if (secrets === undefined) throw conflict(`${path} lacks ${SECRETS_NAME}.`);
  return {
    plan: [{ file: secrets, to: SECRETS_NAME }, ...selected.map(({ from, to }) => ({ file: known.get(from)!, to }))],
    missing,
  };
}

/** A downloaded file that was damaged is missing here. */
const findDownloadDamage = ({ download }: RestoreSource, path: string): DamagedFile | null =>
  download?.damaged.find((file) => file.path === path) ?? null;

/** Throws `conflict` with the names of damaged files, unless they are media and `skipDamagedMedia`. */
export function refuseDamage(path: string, damaged: readonly DamagedFile[], skipDamagedMedia: boolean): void {
  const refused = skipDamagedMedia ? damaged.filter((file) => isEssential(file.path)) : damaged;
  if (refused.length === 0) return;
  const named = refused.slice(0, MAX_NAMED_FILES).map((file) => `${file.path} ${file.problem}`);
  const rest = refused.length - named.length;
  const advice = refused.some((file) => isEssential(file.path))
    ? "Choose another backup."
    : "Choose another backup, or restore the other files with --skip-damaged-media.";
  throw conflict(`${path} is damaged: ${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}. ${advice}`);
}

/** Files that never change may be links to the data folder; uploads still grow. */
function isLinkable(path: string): boolean {
  const [folder, entry = ""] = path.split("/");
  return folder === TRASH_FOLDER
    ? parseTrashName(entry)?.folder !== "uploads"
    : folder !== "uploads" && path !== SECRETS_NAME;
}

/** Returns whether the drafts can have links to the media of the folders that they replace. */
async function tryLinks({ resolve }: RestoreSource, { root, mediaDir }: Folders): Promise<boolean> {
  const probe = join(mediaDir, ".probe");
  const sample = mediaDir === root ? resolve(SECRETS_NAME) : join(dirname(resolve("media")), MEDIA_MARKER_NAME);
  const canLink = await tryLink(sample, probe);
  await discardFolder(probe);
  return canLink;
}

async function restoreFile(
  { resolve, download }: RestoreSource,
  { file, to }: PlannedFile,
  { folders, canLink, signal }: { folders: Folders; canLink: boolean; signal: AbortSignal },
): Promise<void> {
  signal.throwIfAborted();
  const [from, target] = [resolve(file.path), folders.resolve(to)];
  if (download !== null && (await move(from, target))) return;
  if (canLink && isLinkable(to)) {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    if (await tryLink(from, target)) return;
  }
  const copy = await storeCopy(from, target, signal);
  if (file.sha256 !== null && copy.sha256 !== file.sha256) throw conflict(`${from} changed during the restore.`);
}

/** Moves a file. Returns false when the target is on another file system. */
async function move(from: string, target: string): Promise<boolean> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  return (await rename(from, target).then(() => true, ignoreCodes("EXDEV"))) ?? false;
}

/** Flushes the drafts. A restore as root leaves them to the owners of the folders that they replace. */
async function finishDrafts(targets: RestoreTargets, drafts: RestoreTargets, paths: string[]): Promise<void> {
  const data = await stat(targets.data).catch(() => null);
  for (const [target, draft] of [
    [targets.data, drafts.data],
    [targets.media, drafts.media],
  ]) {
    if (target == null || draft == null) continue;
    const owner = (await stat(target).catch(() => null)) ?? data;
    if (owner !== null && process.getuid?.() === 0) await chownTree(draft, owner.uid, owner.gid);
    const inDraft = paths.filter((path) => isInside(path, draft)).map((path) => relative(draft, path));
    await flushFolders(draft, inDraft);
  }
}

async function chownTree(path: string, uid: number, gid: number): Promise<void> {
  await lchown(path, uid, gid);
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true }))
    await lchown(join(entry.parentPath, entry.name), uid, gid);
}
