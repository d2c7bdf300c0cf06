/** Removes old backups from a folder or a bucket, and unreferenced blobs of the bucket. */
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { discardFolder } from "../../blobs/backup-files";
import type { Folders } from "../../blobs/folders";
import {
  formatBackupName,
  isOwnBackup,
  type PruneRule,
  parseBackupName,
  selectBackupsToPrune,
} from "../../domain/backup";
import { getBlobBytes, type OffsiteManifest } from "../../domain/offsite";
import { listFolderBackups } from "./backup-manifest";
import { readDamage } from "./damage";
import { lockRepository, type RepositoryLock } from "./offsite/lock";
import { isIntact, type OffsiteAccess, openRepository, type Repository, type StoredBlob } from "./offsite/repository";

/**
 * Removes old backups with media and returns their names. Those without media, with a damaged manifest or of another
 * data folder are not counted and not removed; those with missing or damaged blobs are not counted. Blobs stay while a
 * manifest cannot be read, because it may name them. Errors: those of `openRepository` and `lockRepository`.
 */
export async function pruneOffsite(
  url: string,
  access: OffsiteAccess,
  { folders, signal, ...options }: PruneOptions & { folders: Folders; signal: AbortSignal },
): Promise<string[]> {
  const repository = await openRepository(url, access, signal);
  const lock = await lockRepository(repository, folders.root, signal);
  try {
    return await prune(repository, lock, options, signal);
  } finally {
    await lock.release();
  }
}

async function prune(
  repository: Repository,
  lock: RepositoryLock,
  { keep, folderId, now }: PruneOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const blobs = await repository.listBlobs(signal);
  const names = await repository.listSnapshots(signal);
  const positions = new Map([...blobs.keys()].map((name, position) => [name, position]));
  /** Positions of the blobs that each backup names: the names of all backups would not fit in memory. */
  const named = new Map<string, Uint32Array>();
  const times: Record<"good" | "damaged", number[]> = { good: [], damaged: [] };
  for (const name of names) {
    const manifest = await repository.findManifest(name, signal);
    if (manifest === null) continue;
    const found = manifest.files.flatMap((file) => file.blobs.map((blob) => positions.get(blob) ?? -1));
    named.set(name, Uint32Array.from(found.filter((position) => position >= 0)));
    if (manifest.has_media && isOwnBackup(manifest, folderId))
      times[isComplete(manifest, blobs) ? "good" : "damaged"].push(parseBackupName(name)!);
  }
  const removed = selectBackupsToPrune(times.good, keep, now, times.damaged).map(formatBackupName);
  for (const name of removed) {
    lock.requireHeld();
    await repository.deleteSnapshot(name, signal);
    named.delete(name);
  }
  if (named.size < names.length - removed.length) return removed;
  const isKept = new Uint8Array(positions.size);
  for (const found of named.values()) for (const position of found) isKept[position] = 1;
  for (const [name, position] of positions) {
    if (isKept[position] === 1) continue;
    lock.requireHeld();
    await repository.deleteBlob(name, signal);
    if (blobs.get(name)?.isDamaged) await repository.markBlob(name, false, signal);
  }
  return removed;
}

const isComplete = ({ files, blob_bytes }: OffsiteManifest, blobs: Map<string, StoredBlob>): boolean =>
  files.every((file) =>
    file.blobs.every((name, index) => isIntact(blobs.get(name), getBlobBytes(file, index, blob_bytes))),
  );

/** `folderId`: the ID of the data folder. */
type PruneOptions = { keep: PruneRule; folderId: string | null; now: number };

/**
 * Removes old backups with media from a folder, and returns their names. Backups without a valid manifest, without
 * media and of another data folder are neither counted nor removed; damaged ones are not counted. A backup is renamed
 * before its removal, so that a crash leaves no incomplete backup.
 */
export async function pruneBackups(target: string, { keep, folderId, now }: PruneOptions): Promise<string[]> {
  const times: Record<"good" | "damaged", number[]> = { good: [], damaged: [] };
  for await (const backup of listFolderBackups(target)) {
    const { name, manifest } = backup;
    if (!manifest.has_media || !isOwnBackup(manifest, folderId)) continue;
    times[(await readDamage(backup)).size === 0 ? "good" : "damaged"].push(parseBackupName(name)!);
  }
  const removed = selectBackupsToPrune(times.good, keep, now, times.damaged).map(formatBackupName);
  for (const name of removed) {
    const doomed = join(target, `.${name}.part`);
    await rename(join(target, name), doomed);
    await discardFolder(doomed);
  }
  return removed;
}
