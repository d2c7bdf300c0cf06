/** Storage limits: the quota of a workspace, and the free space that the server reserves for its database. */
import { formatBytes } from "../../domain/bytes";
import { type AppError, conflict, retryLater } from "../../domain/errors";
import { isStorageFull } from "../../domain/storage-full";
import type { DiskReserve } from "../../lib/disk-reserve";
import { releaseSpareSpace } from "../../lib/spare-space";
import type { Queries } from "../../store/db";
import { countProjects } from "../../store/projects";
import { readStorageUsed } from "../../store/storage";
import { readQuotaOverride } from "../../store/workspaces";
import type { ConfigNeeds, CoreNeeds } from "../needs";

const RETRY_AFTER_SECONDS = 60;

/** An upload stops when its next write does not fit, so less than this above the reserve is useless. */
const MIN_FREE_BYTES = 1024 * 1024;

/** Returns whether media may be written: the free space is above the reserve. */
export const hasFreeSpace = ({ disk }: { disk: Pick<DiskReserve, "availableBytes"> }): boolean =>
  disk.availableBytes() >= MIN_FREE_BYTES;

/** Throws `upstream_unavailable` while a folder is offline or the free space is below the reserve. */
export function requireStorage(services: CoreNeeds): void {
  services.folders.guard.requireOnline();
  if (!hasFreeSpace(services)) throw outOfStorage();
}

/**
 * Throws `upstream_unavailable` while most of the reserve is used up. Cuts are accepted below the reserve, but each
 * writes up to megabytes to the database, which must keep space for charges and deletions.
 */
export function requireDatabaseSpace({ disk }: CoreNeeds): void {
  if (disk.isCritical()) throw outOfStorage();
}

const outOfStorage = (): AppError =>
  retryLater("upstream_unavailable", "The server is low on storage. Try again later.", RETRY_AFTER_SECONDS);

/**
 * Claims space for a write of `bytes`. Throws an `ENOSPC` error when the write does not fit above the reserve,
 * `AppError` `upstream_unavailable` when a folder is offline.
 */
export function claimSpace({ disk, folders }: CoreNeeds, bytes: number): void {
  folders.guard.requireOnline();
  if (disk.claim(bytes)) return;
  throw Object.assign(new Error("free space is below the reserve"), { code: "ENOSPC" });
}

/** Returns the quota of the workspace in bytes: its own, otherwise the configured one; null without a quota. */
export async function readStorageQuota(services: ConfigNeeds, db: Queries, workspaceId: string) {
  return findEffectiveQuota(services, await readQuotaOverride(db, workspaceId));
}

/** Returns the quota in bytes with the workspace's `override`, null without a quota. */
export const findEffectiveQuota = ({ config }: ConfigNeeds, override: number | null): number | null =>
  (override ?? config.storageQuotaBytes) || null;

/** Throws `conflict` when `bytes` more would exceed the workspace's quota. `what` needs them. */
export async function requireQuota(
  services: ConfigNeeds,
  tx: Queries,
  workspaceId: string,
  bytes: number,
  what: "upload" | "request" = "upload",
): Promise<void> {
  const quota = await readStorageQuota(services, tx, workspaceId);
  if (quota === null) return;
  const used = await readStorageUsed(tx, workspaceId);
  if (used + bytes <= quota) return;
  throw conflict(`${formatQuotaProblem(used, quota)} This ${what} needs ${formatExactBytes(bytes)}.`);
}

/**
 * Throws `conflict` when the texts would exceed the workspace's quota. Runs in the transaction that writes them, so
 * that simultaneous requests cannot exceed it together. `replaced`: texts that they replace.
 */
export async function requireRoomForText(
  services: ConfigNeeds,
  tx: Queries,
  workspaceId: string,
  texts: StoredText[],
  replaced: StoredText[] = [],
): Promise<void> {
  const bytes = countBytes(texts) - countBytes(replaced);
  if (bytes > 0) await requireQuota(services, tx, workspaceId, bytes, "request");
}

type StoredText = string | null | undefined;

const countBytes = (texts: StoredText[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ""), 0);

const MAX_PROJECTS = 10_000;

/** Throws `conflict` when the workspace has too many projects, whose names do not count toward the quota. */
export async function requireRoomForProject(tx: Queries, workspaceId: string): Promise<void> {
  if ((await countProjects(tx, workspaceId)) < MAX_PROJECTS) return;
  throw conflict("Limit of 10,000 projects reached. Delete one first.");
}

/**
 * Returns why the workspace may not create more renders, nor start a cut or render, or null. The size of a render or
 * plan is known only when it is finished, so the one that exceeds the quota is kept and the next one is refused.
 */
export async function findQuotaProblem(
  services: ConfigNeeds,
  tx: Queries,
  workspaceId: string,
): Promise<string | null> {
  const quota = await readStorageQuota(services, tx, workspaceId);
  if (quota === null) return null;
  const used = await readStorageUsed(tx, workspaceId);
  return used < quota ? null : formatQuotaProblem(used, quota);
}

const formatQuotaProblem = (used: number, quota: number): string =>
  `Storage quota reached: ${formatExactBytes(used)} of ${formatExactBytes(quota)} are used, unfinished uploads included. Delete assets or renders.`;

const formatExactBytes = (bytes: number): string =>
  bytes < 1000 ? formatBytes(bytes) : `${formatBytes(bytes)} (${bytes.toLocaleString("en-US")} bytes)`;

/**
 * Runs `work` in a write transaction, again with the spare space if the disk is full: for deletions, which free space,
 * and the start of a backup to another disk. Errors: those of `store.write`.
 */
export async function writeUrgently<T>(
  { folders, store }: Pick<CoreNeeds, "folders" | "store">,
  work: (tx: Queries) => Promise<T>,
): Promise<T> {
  try {
    return await store.write(work);
  } catch (error) {
    if (!isStorageFull(error)) throw error;
    await releaseSpareSpace(folders.root);
    return store.write(work);
  }
}
