/** Reads the backups of a bucket. */
import { mkdir, open, rm, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type BackupFile, DATABASE_NAME, sumBytes } from "../../../domain/backup";
import { getBlobBytes, type OffsiteFile, type OffsiteManifest, splitBackupUrl } from "../../../domain/offsite";
import { SECRET_FILE_MODE } from "../../../lib/atomic-file";
import { getEncryptedBytes } from "../../../lib/blob-cipher";
import { createBufferCollector } from "../../../lib/collect-buffers";
import { writeAll } from "../../../lib/file-bytes";
import { newId } from "../../../lib/ids";
import { mapInOrder } from "../../../lib/map-in-order";
import { findDatabaseProblems } from "../../../store/database-file";
import { type Backup, describeUnrecorded, type FindOptions, findBackup, isChosen } from "../backup-folder";
import { requireSpace } from "../space";
import type { DamagedFile } from "../verify-files";
import { type OffsiteAccess, openRepository, type Repository, type StoredBlob } from "./repository";

/** Blobs to read concurrently: many small ones, or two of full size. */
const MAX_READ = 16;
const MAX_READ_BYTES = 8 * 1024 ** 2;

/**
 * Opens the backup at a URL: the one that it names, or the newest one that was made until `until`. Returns null without
 * such a backup. Errors: those of `listOffsiteBackups`.
 */
export const openOffsiteBackup = (
  url: string,
  access: OffsiteAccess,
  { signal, ...options }: FindOptions & { signal: AbortSignal },
): Promise<OffsiteBackup | null> =>
  findBackup(listOffsiteBackups(url, access, signal), splitBackupUrl(url).name === null ? options : {});

export type OffsiteBackup = Backup & {
  /** Returns the damage that is known without reading files: missing blobs and those of another size. */
  findIncomplete(signal: AbortSignal): Promise<DamagedFile[]>;
  download: NonNullable<Backup["download"]>;
  /** Writes one of its files to a new path. Returns the damage; a damaged file is not written. */
  copyFile(path: string, to: string, signal: AbortSignal): Promise<DamagedFile[]>;
};

/**
 * Yields the backups of a place whose manifests can be read, in order of their age, or the one that the URL names.
 * Errors: those of `openRepository`; `not_found`, and `conflict` for a damaged manifest, of the named one.
 */
export async function* listOffsiteBackups(
  url: string,
  access: OffsiteAccess,
  signal: AbortSignal,
  first: "oldest" | "newest" = "newest",
): AsyncGenerator<OffsiteBackup> {
  const { place, name } = splitBackupUrl(url);
  const repository = await openRepository(place, access, signal);
  if (name !== null)
    return yield createBackup(repository, `${repository.url}/${name}`, await repository.readManifest(name, signal));
  for await (const { path, manifest } of repository.listManifests(signal, first))
    yield createBackup(repository, path, manifest);
}

function createBackup(repository: Repository, path: string, manifest: OffsiteManifest): OffsiteBackup {
  return {
    path,
    manifest,
    findIncomplete: async (signal) => findIncomplete(await repository.listBlobs(signal), manifest),
    verify: async (options) => {
      const { signal } = options;
      const existing = await repository.listBlobs(signal);
      const incomplete = findIncomplete(existing, manifest);
      const skipped = new Set(incomplete.map((file) => file.path));
      const read = manifest.files.filter((file) => isChosen(file.path, options));
      const files = read.filter((file) => !skipped.has(file.path));
      const toTarget = ({ path: each }: BackupFile): string | null =>
        each === DATABASE_NAME ? join(repository.scratch, `.verify-${newId()}.db`) : null;
      const blobs = new Set<string>();
      const changed = await readFiles(repository, manifest, { files, toTarget, isKept: false, blobs }, signal);
      const damaged = [...incomplete, ...changed];
      const intact = files.filter((file) => !changed.some((one) => one.path === file.path));
      const notes = await describeUnrecorded(recordDamage(repository, { existing, intact, damaged: blobs }, signal));
      return { path, files: manifest.files.length, checked_files: read.length, damaged, notes };
    },
    download: async (folder, skipped, signal) => {
      const left = new Set(skipped.map((file) => file.path));
      const files = manifest.files.filter((file) => !left.has(file.path));
      await requireSpace(folder, sumBytes(files));
      const toTarget = (file: BackupFile) => join(folder, file.path);
      return readFiles(repository, manifest, { files, toTarget, isKept: true }, signal);
    },
    copyFile: (wanted, to, signal) => {
      const files = manifest.files.filter((file) => file.path === wanted);
      return readFiles(repository, manifest, { files, toTarget: () => to, isKept: true }, signal);
    },
  };
}

/** Finds the files with blobs that the bucket lacks or has in another size. */
function findIncomplete(existing: Map<string, StoredBlob>, { files, blob_bytes }: OffsiteManifest): DamagedFile[] {
  const damaged: DamagedFile[] = [];
  for (const file of files) {
    const problems = file.blobs.map((name, index) => {
      const object = existing.get(name);
      if (object === undefined) return "is missing";
      return object.bytes === getEncryptedBytes(getBlobBytes(file, index, blob_bytes)) ? null : CHANGED;
    });
    const problem = problems.find((found) => found !== null);
    if (problem) damaged.push({ path: file.path, problem });
  }
  return damaged;
}

const CHANGED = "has changed since the backup";

/** `intact`: files whose blobs were read; `damaged`: names of blobs. */
type BlobFindings = { existing: Map<string, StoredBlob>; intact: readonly OffsiteFile[]; damaged: ReadonlySet<string> };

/**
 * Marks the blobs that were found to be damaged, and removes the marks of those that are intact. Missing ones need no
 * mark.
 */
async function recordDamage(
  repository: Repository,
  { existing, intact, damaged }: BlobFindings,
  signal: AbortSignal,
): Promise<void> {
  for (const name of damaged) await repository.markBlob(name, true, signal);
  for (const name of new Set(intact.flatMap(({ blobs }) => blobs)))
    if (existing.get(name)?.isDamaged && !damaged.has(name)) await repository.markBlob(name, false, signal);
}

type FilePart = { file: OffsiteFile; index: number };

/** One item for each blob, and one without a blob for an empty file. */
function* listParts(files: readonly OffsiteFile[]): Generator<FilePart> {
  for (const file of files) {
    yield { file, index: 0 };
    for (let index = 1; index < file.blobs.length; index++) yield { file, index };
  }
}

/**
 * `toTarget`: where a file is written; null: it is only read. `isKept` false: the written file is checked as a database
 * and removed. `blobs` receives the names of those that are damaged.
 */
type FileReading = {
  files: readonly OffsiteFile[];
  toTarget(file: BackupFile): string | null;
  isKept: boolean;
  blobs?: Set<string>;
};

/** Reads files and returns the damaged ones, which are not written. */
async function readFiles(
  repository: Repository,
  { blob_bytes }: OffsiteManifest,
  { files, toTarget, isKept, blobs }: FileReading,
  signal: AbortSignal,
): Promise<DamagedFile[]> {
  const damaged: DamagedFile[] = [];
  const collect = createBufferCollector();
  let file: RestoredFile | null = null;
  const measure = (part: FilePart) => getBlobBytes(part.file, part.index, blob_bytes);
  const limits = { width: MAX_READ, maxCost: MAX_READ_BYTES, toCost: measure };
  const parts = mapInOrder(listParts(files), limits, async (part) => {
    const name = part.file.blobs[part.index];
    const bytes = measure(part);
    return { part, content: name === undefined ? EMPTY : await repository.getBlob(name, bytes, signal) };
  });
  try {
    for await (const { part, content } of parts) {
      signal.throwIfAborted();
      if (content === "changed") blobs?.add(part.file.blobs[part.index]!);
      if (part.index === 0) file = await openFile(part.file, { target: toTarget(part.file), isKept });
      if (file === null) continue;
      let problem = content instanceof Uint8Array ? null : content === "missing" ? "is missing" : CHANGED;
      if (content instanceof Uint8Array) {
        await file.write(content);
        collect(content.length);
      }
      if (problem === null && part.index < part.file.blobs.length - 1) continue;
      if (problem === null) {
        problem = await file.complete();
        // Each blob is as it was sent, but the file is not: all of them count as damaged.
        if (problem === CHANGED) for (const name of part.file.blobs) blobs?.add(name);
      }
      if (problem !== null) {
        damaged.push({ path: part.file.path, problem });
        await file.discard();
      }
      file = null;
    }
    return damaged;
  } finally {
    await file?.discard();
  }
}

const EMPTY = new Uint8Array();

async function openFile(
  { sha256, modified_at }: BackupFile,
  { target, isKept }: { target: string | null; isKept: boolean },
) {
  if (target !== null) await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const handle = target === null ? null : await open(target, "wx", SECRET_FILE_MODE);
  const hasher = new Bun.CryptoHasher("sha256");
  const remove = async (): Promise<void> => {
    if (target !== null) await rm(target, { force: true });
  };
  return {
    write: async (content: Uint8Array) => {
      hasher.update(content);
      if (handle !== null) await writeAll(handle, content, null);
    },
    /** Returns the problem of the file; null if it is intact. */
    complete: async () => {
      await handle?.sync();
      await handle?.close();
      if (hasher.digest("hex") !== sha256) return CHANGED;
      if (target === null) return null;
      await utimes(target, modified_at / 1000, modified_at / 1000);
      if (isKept) return null;
      const [problem] = await findDatabaseProblems(target);
      await remove();
      return problem ?? null;
    },
    discard: async () => {
      await handle?.close().catch(() => {});
      await remove();
    },
  };
}

type RestoredFile = Awaited<ReturnType<typeof openFile>>;
