/**
 * Reads a quarter of all files each week, and looks for files that are missing or that no row knows. The progress is
 * stored every few files, so that an interrupted pass continues where it stopped.
 */
import { isDue } from "../../domain/scrub";
import { sleep } from "../../lib/sleep";
import {
  deleteFileChecks,
  type FileCheck,
  listFileChecksAfter,
  listFileChecksIn,
  readFirstCheck,
  saveFileCheck,
} from "../../store/file-checks";
import {
  findOwner,
  isAnyJobRunning,
  listAssetOwners,
  listRenderOwners,
  type StoredOwner,
} from "../../store/file-owners";
import type { BackupNeeds } from "../backup/backups";
import { type BackupCatalog, openBackupCatalog } from "../backup/find-in-backups";
import { type CheckTools, type FileChecker, openFileChecker, withProblem } from "./file-check";
import {
  findOwnerOf,
  getOwnerFolder,
  listOwnerEntries,
  listUnknownEntries,
  type MediaEntry,
  readEntry,
} from "./media-files";

/** `isOnline`: whether the media folder is online now. */
export type ScrubOptions = { bytesPerSecond?: number; isOnline: () => Promise<boolean>; maxYieldMs?: number };

/** The result of a pass. `isComplete`: false when it stopped because the folder is offline or the disk is full. */
export type ScrubReport = { isComplete: boolean; files: number; read_files: number; findings: number };

/** Leaves most of a disk to jobs and requests, and reads 150 TB in four weeks. */
const BYTES_PER_SECOND = 64_000_000;
/** Maximum time that a file waits for a machine without jobs, so that busy servers are checked too. */
const MAX_YIELD_MS = 10 * 60 * 1000;
const YIELD_POLL_MS = 1_000;
const PAGE_OWNERS = 100;
const PAGE_ROWS = 500;
/** A crash loses the checks since the last save. */
const MAX_UNSAVED_FILES = 50;
const MAX_UNSAVED_BYTES = 256_000_000;

const MAX_FAILURES = 10;

class ScrubPaused extends Error {}

/** Checks the files that are due this week. Errors: the signal's reason; file system errors. */
export async function runScrub(
  services: BackupNeeds,
  tools: CheckTools,
  options: ScrubOptions,
  signal: AbortSignal,
): Promise<ScrubReport> {
  const { folders, now, store } = services;
  const { bytesPerSecond = BYTES_PER_SECOND, maxYieldMs = MAX_YIELD_MS } = options;
  await using checker = openFileChecker(tools, folders, { bytesPerSecond, now, signal });
  const report: ScrubReport = { isComplete: false, files: 0, read_files: 0, findings: 0 };
  const pass: Pass = {
    services,
    checker,
    catalog: await openBackupCatalog(services),
    since: await readFirstCheck(store.read),
    report,
    signal,
    failures: 0,
    unsaved: [],
    waitForTurn: async () => {
      await requireUsable(services, options);
      for (let waited = 0; waited < maxYieldMs && (await isAnyJobRunning(store.read)); waited += YIELD_POLL_MS) {
        await sleep(YIELD_POLL_MS, signal);
        await requireUsable(services, options);
      }
      signal.throwIfAborted();
    },
    requireOnline: () => requireUsable(services, options),
  };
  try {
    await pass.requireOnline();
    for (const list of [listAssetOwners, listRenderOwners]) {
      for (let after = ""; ; ) {
        const owners = await list(store.read, after, PAGE_OWNERS);
        for (const owner of owners) {
          signal.throwIfAborted();
          await checkOwner(pass, owner);
        }
        const last = owners.at(-1);
        if (!last) break;
        after = last.id;
      }
    }
    await checkUnknown(pass);
    report.isComplete = true;
  } catch (error) {
    if (!(error instanceof ScrubPaused)) throw error;
  } finally {
    await save(pass);
  }
  return report;
}

type Pass = {
  services: BackupNeeds;
  checker: FileChecker;
  catalog: BackupCatalog;
  /** Time of the first check; null in the first pass. */
  since: number | null;
  report: ScrubReport;
  signal: AbortSignal;
  /**
   * Files that could not be checked, such as when a child process was killed. They are tried again by the next pass.
   */
  failures: number;
  unsaved: { check: FileCheck; bytes: number }[];
  /** Waits until no job runs. Throws `ScrubPaused`. */
  waitForTurn(): Promise<void>;
  /** Throws `ScrubPaused`. */
  requireOnline(): Promise<void>;
};

async function requireUsable({ disk }: BackupNeeds, { isOnline }: ScrubOptions): Promise<void> {
  if (disk.isCritical() || !(await isOnline())) throw new ScrubPaused();
}

async function checkOwner(pass: Pass, owner: StoredOwner): Promise<void> {
  const { folders, now, store } = pass.services;
  const entries = await listOwnerEntries(folders, owner, now());
  if (entries === null) return;
  const rows = new Map((await listFileChecksIn(store.read, getOwnerFolder(owner))).map((row) => [row.path, row]));
  for (const entry of entries) {
    const row = rows.get(entry.path) ?? null;
    rows.delete(entry.path);
    pass.report.files++;
    const check = await checkEntry(pass, { owner, entry, row });
    if (check !== null) await record(pass, owner, { check, row, bytes: entry.stat?.bytes ?? 0 });
  }
  // Files that a job or an administrator has removed.
  const gone = [...rows.values()];
  if (gone.length > 0) {
    await pass.requireOnline();
    await store.write((tx) =>
      deleteFileChecks(
        tx,
        gone.map(({ id }) => id),
      ),
    );
  }
}

type CheckedEntry = { owner: StoredOwner | null; entry: MediaEntry; row: FileCheck | null };

/** Returns the check to store for an entry; null if it stays unchanged. */
async function checkEntry(pass: Pass, { owner, entry, row }: CheckedEntry): Promise<FileCheck | null> {
  const { now } = pass.services;
  const { path, stat, tracked } = entry;
  const inBackup = pass.catalog.find(path);
  if (stat === null) {
    // Optional ones are listed by the folder: it was removed since then.
    if (!tracked?.isRequired) return null;
    const bytes = tracked.bytes ?? inBackup?.bytes ?? 0;
    const right = row ?? inBackup ?? { bytes, modified_at: now(), sha256: null };
    const finding = { problem: "missing", detail: "File does not exist." } as const;
    return withProblem(row, { path, right, found: null, finding }, now());
  }
  if (tracked === null || owner === null) {
    const facts = { bytes: stat.bytes, modified_at: stat.modified_at, sha256: null };
    const finding = { problem: "untracked", detail: "No recording or render uses it." } as const;
    return withProblem(row, { path, right: facts, found: null, finding }, now());
  }
  if (!isToBeRead(pass, entry, row)) return null;
  await pass.waitForTurn();
  try {
    const check = await pass.checker.check(owner, entry, { row, inBackup });
    if (check !== null) pass.report.read_files++;
    return check;
  } catch (error) {
    pass.signal.throwIfAborted();
    pass.failures++;
    if (pass.failures === MAX_FAILURES) throw error;
    pass.services.log.warn("scrub.file_failed", { path, error });
    return null;
  }
}

function isToBeRead(
  { since, services: { now } }: Pass,
  { path, stat, tracked }: MediaEntry,
  row: FileCheck | null,
): boolean {
  if (isDue(path, { checkedAt: row?.checked_at ?? null, since, now: now() })) return true;
  const right = row?.sha256 == null ? null : row;
  const isOther = right !== null && (right.bytes !== stat?.bytes || right.modified_at !== stat.modified_at);
  const hasWrongSize = right === null && tracked?.bytes !== null && tracked?.bytes !== stat?.bytes;
  // A change that was found and is still there is read again when it is due.
  if (row?.problem === "changed")
    return row.found?.bytes !== stat?.bytes || row.found?.modified_at !== stat?.modified_at;
  return row?.problem === "missing" || isOther || hasWrongSize;
}

/** Stores a check with the next ones. A problem of a recording that was deleted or has changed meanwhile is dropped. */
async function record(
  pass: Pass,
  owner: StoredOwner | null,
  { check, row, bytes }: { check: FileCheck; row: FileCheck | null; bytes: number },
): Promise<void> {
  const { log, store } = pass.services;
  if (check.problem !== null && check.problem !== row?.problem) {
    // An unmounted folder is not a problem of its files.
    await pass.requireOnline();
    if (owner !== null && (await findOwner(store.read, owner.kind, owner.id))?.state !== owner.state) return;
    if (check.problem === "missing" && (await readEntry(pass.services.folders, check.path, TRACKED)).stat !== null)
      return;
    pass.report.findings++;
    log.warn("scrub.problem_found", { path: check.path, problem: check.problem, detail: check.detail });
  }
  pass.unsaved.push({ check, bytes });
  const unsavedBytes = pass.unsaved.reduce((sum, each) => sum + each.bytes, 0);
  if (check.problem !== null || pass.unsaved.length >= MAX_UNSAVED_FILES || unsavedBytes >= MAX_UNSAVED_BYTES)
    await save(pass);
}

const TRACKED = { name: "", role: "fixed", isRequired: true, bytes: null } as const;

async function save({ services: { store }, unsaved }: Pass): Promise<void> {
  const checks = unsaved.splice(0).map(({ check }) => check);
  if (checks.length === 0) return;
  await store.write(async (tx) => {
    for (const check of checks) await saveFileCheck(tx, check);
  });
}

/** Records untracked files, and deletes the checks of owners and files that no longer exist. */
async function checkUnknown(pass: Pass): Promise<void> {
  const { folders, now, store } = pass.services;
  const unknown = new Map((await listUnknownEntries(folders, store.read, now())).map((entry) => [entry.path, entry]));
  const gone: string[] = [];
  for (let after = ""; ; ) {
    const rows = await listFileChecksAfter(store.read, after, PAGE_ROWS);
    for (const row of rows) {
      const entry = unknown.get(row.path);
      unknown.delete(row.path);
      if (entry !== undefined) await recordUnknown(pass, entry, row);
      else if ((await findOwnerOf(store.read, row.path)) === null) gone.push(row.id);
    }
    const last = rows.at(-1);
    if (!last) break;
    after = last.path;
  }
  for (const entry of unknown.values()) await recordUnknown(pass, entry, null);
  if (gone.length > 0) await store.write((tx) => deleteFileChecks(tx, gone));
}

async function recordUnknown(pass: Pass, entry: MediaEntry, row: FileCheck | null): Promise<void> {
  pass.report.files++;
  const check = await checkEntry(pass, { owner: null, entry, row });
  if (check !== null) await record(pass, null, { check, row, bytes: 0 });
}
