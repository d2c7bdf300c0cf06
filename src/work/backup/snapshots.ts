/**
 * Takes a compressed snapshot of the database every hour and keeps it for 48 hours: together with the trash it restores
 * any hour of that time. Copying, checking and compressing run outside the event loop, with bounded memory.
 */
import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { discardFolder } from "../../blobs/backup-files";
import { isTrashHeld, listNames } from "../../blobs/trash";
import { DATABASE_NAME } from "../../domain/backup";
import {
  findLastSnapshotTime,
  formatSnapshotName,
  getSnapshotDelay,
  parseSnapshotName,
  SNAPSHOTS_FOLDER,
  selectSnapshotsToRemove,
} from "../../domain/point-in-time";
import { renameDurably } from "../../lib/atomic-file";
import { createPoller, type Poller } from "../../lib/poller";
import { findDatabaseProblems } from "../../store/database-file";
import type { CoreNeeds } from "../needs";
import { compressFile, verifyCompressed } from "./compressed-file";
import { measureDatabase } from "./space";

/** After a failure, and while the disk is full. */
const RETRY_MS = 10 * 60 * 1000;
/** Leftovers of a snapshot that was killed have this prefix. */
const PART_PREFIX = ".";

export const getSnapshotsFolder = (root: string): string => join(root, SNAPSHOTS_FOLDER);

export function createSnapshots(services: CoreNeeds): Poller {
  const { folders, log, now } = services;
  const folder = getSnapshotsFolder(folders.root);
  let isFirst = true;
  let failedAt = Number.NEGATIVE_INFINITY;
  /** The database at the last snapshot of this process. */
  let lastRevision = "";

  async function poll(): Promise<number> {
    // If the data folder is unmounted, its path leads to something else.
    if ((await folders.guard.check())?.setting === "data_dir") return RETRY_MS;
    if (isFirst) await removeLeftovers(folder);
    isFirst = false;
    const time = now();
    const taken = (await listSnapshotTimes(folder)).filter((each) => each <= roundUp(time));
    const isDue = Math.max(...taken) < findLastSnapshotTime(time);
    if (isDue && Math.abs(time - failedAt) >= RETRY_MS) await takeIfChanged(time);
    await removeOldSnapshots(services);
    return getSnapshotDelay(now());
  }

  async function takeIfChanged(time: number): Promise<void> {
    try {
      const revision = await readRevision(folders.root);
      if (revision === lastRevision) return;
      const report = await takeSnapshot(services, poller.signal);
      lastRevision = revision;
      if (report === null) failedAt = time;
      else log.info("snapshot.completed", report);
    } catch (error) {
      if (poller.signal.aborted) return;
      failedAt = time;
      log.error("snapshot.failed", { error });
    }
  }

  const poller = createPoller(poll, (error) => log.error("snapshot.poll_failed", { error }));
  return poller;
}

/**
 * Takes a snapshot. Returns null without one when it does not fit above the disk reserve. Errors: an `Error` when the
 * database is damaged; those of the file system; the signal's reason.
 */
export async function takeSnapshot({ disk, folders, log, now, store }: CoreNeeds, signal: AbortSignal) {
  const started = performance.now();
  const folder = getSnapshotsFolder(folders.root);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const needed = await measureDatabase(folders.root);
  const available = disk.database.availableBytes();
  if (available < needed) {
    log.warn("snapshot.postponed", { needed_bytes: needed, available_bytes: available });
    return null;
  }
  const name = formatSnapshotName(roundUp(now()));
  const copy = join(folder, `${PART_PREFIX}${name}.copy`);
  const part = join(folder, `${PART_PREFIX}${name}.part`);
  try {
    await store.copyTo(copy, { isTemporary: true });
    signal.throwIfAborted();
    const [problem] = await findDatabaseProblems(copy, { isQuick: true });
    if (problem !== undefined) {
      store.reportDamage(problem);
      throw new Error(`The database is damaged: ${problem}`);
    }
    const { size } = await stat(copy);
    const bytes = await compressFile(copy, part, signal);
    await verifyCompressed(part, size, signal);
    await renameDurably(part, join(folder, name));
    return { name, bytes, database_bytes: size, duration_ms: Math.round(performance.now() - started) };
  } finally {
    for (const leftover of [copy, `${copy}-journal`, part]) await discardFolder(leftover);
  }
}

/** The name of a snapshot is a time that nothing in it is newer than. */
const roundUp = (time: number): number => (Math.floor(time / 1000) + 2) * 1000;

/** Returns a text that changes with each commit. A transaction without changes writes nothing. */
async function readRevision(root: string): Promise<string> {
  const files = await Promise.all(
    ["", "-wal"].map((suffix) => stat(join(root, DATABASE_NAME + suffix)).catch(() => null)),
  );
  return files.map((file) => `${file?.size} ${file?.mtimeMs}`).join(" ");
}

async function listSnapshotTimes(folder: string): Promise<number[]> {
  return (await listNames(folder)).flatMap((name) => parseSnapshotName(name) ?? []);
}

/** Only this process writes to the folder: the data folder is locked. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await listNames(folder)) if (name.startsWith(PART_PREFIX)) await discardFolder(join(folder, name));
}

async function removeOldSnapshots({ confirmedNow, folders }: CoreNeeds): Promise<void> {
  const folder = getSnapshotsFolder(folders.root);
  const old = selectSnapshotsToRemove(await listSnapshotTimes(folder), confirmedNow());
  if (isTrashHeld(folders)) return;
  for (const time of old) await rm(join(folder, formatSnapshotName(time)), { force: true });
}

/**
 * Removes snapshots, oldest first but never the newest, as long as `isNeeded` returns true. Returns how many were
 * removed.
 */
export async function thinSnapshots(root: string, isNeeded: () => boolean): Promise<number> {
  const folder = getSnapshotsFolder(root);
  const oldestFirst = (await listSnapshotTimes(folder)).sort((a, b) => a - b).slice(0, -1);
  let removed = 0;
  for (const time of oldestFirst) {
    if (!isNeeded()) break;
    await rm(join(folder, formatSnapshotName(time)), { force: true });
    removed++;
  }
  return removed;
}
