/**
 * Restores a state to a data folder: verifies it, writes it next to the data folder and swaps the two by renaming. The data folder is neither
 * changed nor deleted, only renamed.
 */
import { existsSync } from "node:fs";
import { lchown, mkdir, readdir, rename, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { version } from "../../../package.json";
import { discardFolder, flushFolders, storeCopy, tryLink, tryReflink } from "../../blobs/backup-files";
import { createRestoredFolder } from "../../blobs/restored-folder";
import { DATABASE_NAME, SECRETS_NAME, sumBytes } from "../../domain/backup";
import { AppError } from "../../domain/errors";
import { parseTrashName, selectFiles, TRASH_FOLDER } from "../../domain/point-in-time";
import { flushFile } from "../../lib/atomic-file";
import { newId } from "../../lib/ids";
import { deleteAllSessions, findDatabaseProblems, readDatabaseContents } from "../../store/database-file";
import { isKnownMigration } from "../../store/migrate";
import { type DamagedFile, verifyFiles } from "./backup-folder";
import { readUnpackedSize, unpackFile } from "./compressed-file";
import type { RestoreSource, SourceFile } from "./restore-source";
import { requireSpace } from "./space";

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

/** `openDraft` prepares the folder that becomes the data folder, so that databases can be opened. It writes `draftBytes`. */
export type RestoreOptions = {
  dataDir: string;
  skipDamagedMedia: boolean;
  now: number;
  draftBytes: number;
  openDraft(draft: string): Promise<void>;
};

/** Maximum number of damaged files that an error names. */
const MAX_NAMED_FILES = 10;

/** A file to write. `to` is its path in the restored folder. */
type PlannedFile = { file: SourceFile; to: string };

/**
 * Restores a state. The caller holds the lock of `dataDir` if it exists. Errors: `AppError` `bad_request` for a backup of a newer version and for a
 * data folder that cannot be renamed, `conflict` for damage and while another restore runs, `storage_full` when it does not fit; file system errors;
 * the signal's reason.
 */
export async function restoreState(
  source: RestoreSource,
  { dataDir, skipDamagedMedia, now, draftBytes, openDraft }: RestoreOptions,
  signal: AbortSignal,
): Promise<RestoreReport> {
  if (source.backup !== null) requireKnown(source, source.backup.manifest.schema);
  const target = resolve(dataDir);
  const live = await stat(target).catch(() => null);
  await requireRenamable(target, live);
  const unpackedBytes = await measureState(source, target, draftBytes);
  const restored = await createRestoredFolder(target, now);
  const { draft } = restored;
  try {
    await openDraft(draft);
    const isWhole = source.state.path === DATABASE_NAME;
    const { plan, missing } = isWhole
      ? { plan: source.files.map((file) => ({ file, to: file.path })), missing: [] }
      : await planSnapshot(source, draft, signal);
    const found = [
      ...missing.map((path) => ({ path, problem: "is missing" })),
      ...(await verifyFiles(
        source.path,
        plan.map(({ file }) => file),
        { hasDatabase: isWhole, signal },
      )),
    ];
    const damaged = found.map((file) => findDownloadDamage(source, file.path) ?? file);
    refuseDamage(source.origin, damaged, skipDamagedMedia);
    const skipped = new Set(damaged.map(({ path }) => path));
    const chosen = plan.filter(({ file }) => !skipped.has(file.path));
    const copied = chosen.filter(({ to }) => !(source.backup === null && isLinkable(to)));
    await requireRoom(
      source,
      copied.map(({ file }) => file),
      draft,
      { written: unpackedBytes + draftBytes },
    );
    for (const planned of chosen) await restoreFile(source, planned, draft, signal);
    await deleteAllSessions(join(draft, DATABASE_NAME));
    await flushFile(join(draft, DATABASE_NAME));
    if (live !== null && process.getuid?.() === 0) await chownTree(draft, live.uid, live.gid);
    await flushFolders(
      draft,
      chosen.map(({ to }) => to),
    );
    signal.throwIfAborted();
    return {
      from: source.origin,
      created_at: new Date(source.state.time).toISOString(),
      data_dir: target,
      previous: await restored.swap(),
      files: chosen.length + (isWhole ? 0 : 1),
      bytes: sumBytes(chosen.map(({ file }) => file)) + (isWhole ? 0 : unpackedBytes),
      skipped: damaged,
    };
  } catch (error) {
    await restored.discard();
    throw error;
  }
}

function requireKnown({ origin, backup }: RestoreSource, schema: string): void {
  if (isKnownMigration(schema)) return;
  const writer = backup === null ? "a newer version of Offcut" : `Offcut ${backup.manifest.version}`;
  throw new AppError(
    "bad_request",
    `${origin} was written by ${writer}, which has a newer database than this version (${version}). Restore it with that version.`,
  );
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

/**
 * Returns the bytes of the unpacked snapshot, 0 for a backup's own database. Throws `storage_full` when it is known before anything is written
 * that the source has no room.
 */
async function measureState(source: RestoreSource, target: string, draftBytes: number): Promise<number> {
  const { path, state, files } = source;
  const folder = findExistingFolder(target);
  if (state.path === DATABASE_NAME) {
    await requireRoom(source, files, folder, { more: draftBytes });
    return 0;
  }
  const unpacked = await readUnpackedSize(join(path, state.path));
  await requireSpace(folder, unpacked + draftBytes);
  return unpacked;
}

function findExistingFolder(path: string): string {
  let folder = dirname(path);
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}

/** Unpacks the snapshot to the draft, checks it and returns the files of its rows. */
async function planSnapshot(
  source: RestoreSource,
  draft: string,
  signal: AbortSignal,
): Promise<{ plan: PlannedFile[]; missing: string[] }> {
  const { path, state, files } = source;
  const snapshot = files.filter((file) => file.path === state.path);
  const damaged = await verifyFiles(path, snapshot, { hasDatabase: false, signal });
  refuseDamage(
    source.origin,
    damaged.map((file) => findDownloadDamage(source, file.path) ?? file),
    false,
  );
  const database = join(draft, DATABASE_NAME);
  await unpackFile(join(path, state.path), database, signal);
  const [problem] = await findDatabaseProblems(database);
  if (problem !== undefined) throw new AppError("conflict", `${join(path, state.path)} is damaged: ${problem}`);
  const contents = await readDatabaseContents(database);
  requireKnown(source, contents.migrations.at(-1) ?? "");
  const known = new Map(files.map((file) => [file.path, file]));
  const { files: selected, missing } = selectFiles(known.keys(), contents, state.time);
  const secrets = known.get(SECRETS_NAME);
  if (secrets === undefined) throw new AppError("conflict", `${path} lacks ${SECRETS_NAME}.`);
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

/**
 * Throws `storage_full` when the files and `more` bytes do not fit into `folder`, where `written` bytes were written already. Files that can share
 * their blocks with the source need no space.
 */
async function requireRoom(
  { path, download }: RestoreSource,
  files: readonly SourceFile[],
  folder: string,
  { more = 0, written = 0 }: { more?: number; written?: number },
): Promise<void> {
  await requireSpace(folder, more, written);
  // They are on this file system already, and are moved.
  if (download !== null) return;
  try {
    await requireSpace(folder, sumBytes(files) + more, written);
  } catch (error) {
    const probe = join(folder, `.offcut-${newId()}.probe`);
    const canShare = await tryReflink(join(path, SECRETS_NAME), probe).catch(() => false);
    await discardFolder(probe);
    if (!canShare) throw error;
  }
}

/** Files that never change may be links to the data folder; uploads still grow. */
function isLinkable(path: string): boolean {
  const [folder, entry = ""] = path.split("/");
  return folder === TRASH_FOLDER
    ? parseTrashName(entry)?.folder !== "uploads"
    : folder !== "uploads" && path !== SECRETS_NAME;
}

async function restoreFile(
  { path, backup, download }: RestoreSource,
  { file, to }: PlannedFile,
  draft: string,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const [from, target] = [join(path, file.path), join(draft, to)];
  if (download !== null || (backup === null && isLinkable(to))) {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    if (download !== null) return rename(from, target);
    if (await tryLink(from, target)) return;
  }
  const copy = await storeCopy(from, target, signal);
  if (file.sha256 !== null && copy.sha256 !== file.sha256)
    throw new AppError("conflict", `${from} changed during the restore.`);
}

/** A restore as root leaves the files to the owner of the folder that it replaces. */
async function chownTree(path: string, uid: number, gid: number): Promise<void> {
  await lchown(path, uid, gid);
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true }))
    await lchown(join(entry.parentPath, entry.name), uid, gid);
}
