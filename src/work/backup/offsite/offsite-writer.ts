/** Writes a backup to a bucket. */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { discardFolder } from "../../../blobs/backup-files";
import type { Folders } from "../../../blobs/folders";
import { formatBackupName } from "../../../domain/backup";
import type { OffsiteFile } from "../../../domain/offsite";
import { findBackup } from "../backup-folder";
import type { BackupWriter } from "../backup-writer";
import { requireOwnPlace } from "../folder-id";
import { measureDatabase, requireSpace } from "../space";
import { lockRepository } from "./lock";
import { initializeRepository, type OffsiteAccess, openRepository, requireOffsite } from "./repository";
import { BLOB_BYTES, createUpload } from "./upload";

/**
 * Opens a writer to a bucket, which it locks. Errors: those of `openRepository`, `lockRepository` and
 * `requireOwnPlace`.
 */
export async function openOffsiteWriter(
  url: string,
  { folders, offsite, now }: { folders: Folders; offsite: OffsiteAccess | undefined; now: number },
  signal: AbortSignal,
): Promise<BackupWriter> {
  const repository = await openRepository(url, requireOffsite(offsite), signal);
  const lock = await lockRepository(repository, folders.root, signal);
  try {
    await initializeRepository(repository, signal);
    await requireOwnPlace(url, await findBackup(repository.listManifests(signal)), folders.root);
    const taken = new Set(await repository.listSnapshots(signal));
    let createdAt = now;
    while (taken.has(formatBackupName(createdAt))) createdAt += 1000;
    const name = formatBackupName(createdAt);
    const scratch = await createScratch(folders.root, name);
    const upload = createUpload(repository, folders, signal);
    return {
      path: `${repository.url}/${name}`,
      createdAt,
      scratch,
      requireRoom: async () => requireSpace(scratch, await measureDatabase(folders.root)),
      store: upload.store,
      complete: async (manifest) => {
        const replaced = await upload.verify();
        lock.requireHeld();
        const files = manifest.files as OffsiteFile[];
        await repository.writeManifest(name, { ...manifest, blob_bytes: BLOB_BYTES, files }, signal);
        return replaced === 0 ? [] : [`Damaged blobs in the bucket that were replaced: ${replaced}.`];
      },
      // Blobs of an unfinished backup stay for the next one.
      discard: async () => {},
      release: async () => {
        await discardFolder(scratch);
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

const SCRATCH_PREFIX = ".offsite-";

/**
 * Creates a private folder in the data folder, and removes those of killed backups: one backup at a time is written.
 */
async function createScratch(root: string, name: string): Promise<string> {
  for (const entry of await readdir(root))
    if (entry.startsWith(SCRATCH_PREFIX)) await rm(join(root, entry), { recursive: true, force: true });
  const scratch = join(root, SCRATCH_PREFIX + name);
  await mkdir(scratch, { mode: 0o700 });
  return scratch;
}
