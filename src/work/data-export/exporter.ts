/**
 * Creates the requested data exports, one at a time. The archive is written under a temporary name, flushed and renamed
 * before its row becomes ready: an interrupted export is still pending, and starts again.
 */
import { open, rm } from "node:fs/promises";
import { discard } from "../../blobs/trash";
import { formatBytes } from "../../domain/bytes";
import { AppError } from "../../domain/errors";
import { isStorageFull } from "../../domain/storage-full";
import { renameDurably } from "../../lib/atomic-file";
import { writeAll } from "../../lib/file-bytes";
import { createPoller, type Poller } from "../../lib/poller";
import {
  countExportStart,
  type DataExport,
  findDataExport,
  findNextDataExport,
  listExpiredExports,
  updateDataExport,
} from "../../store/data-exports";
import type { Queries } from "../../store/db";
import { findUserById } from "../../store/users";
import type { CoreNeeds } from "../needs";
import { claimSpace, hasFreeSpace } from "../storage/limits";
import { writeArchive } from "./archive";
import { measureMediaFiles } from "./media-files";
import { changeDataExport, expireExports } from "./requests";

/** Time for which an archive can be downloaded. */
const KEPT_MS = 7 * 24 * 3600 * 1000;
/** Maximum number of starts that fail or that the server does not survive. */
const MAX_FAILED_STARTS = 4;
const RETRY_DELAY_MS = 30_000;
const FULL_DISK_DELAY_MS = 30_000;
const OFFLINE_DELAY_MS = 1_000;

/** Creates the exporter. Its stop interrupts a running export, which starts again with the server. */
export function createDataExporter(services: CoreNeeds): Poller {
  const { disk, store, folders, log, now } = services;
  /** When an export that has failed may start again, by its ID. */
  const retryTimes = new Map<string, number>();
  const poller = createPoller(poll, (error) => log.error("export.poll_failed", { error }));

  async function poll(): Promise<number | null> {
    if (folders.guard.findProblem() !== null) return OFFLINE_DELAY_MS;
    await expireExports(services, await listExpiredExports(store.read, services.confirmedNow()));
    for (const [id, time] of retryTimes) if (time <= now()) retryTimes.delete(id);
    const next = await findNextDataExport(store.read, [...retryTimes.keys()]);
    if (!next || poller.signal.aborted) return retryTimes.size === 0 ? null : RETRY_DELAY_MS;
    if (!hasFreeSpace(services)) return FULL_DISK_DELAY_MS;
    await run(next);
    return 0;
  }

  async function run({ id }: DataExport): Promise<void> {
    // Counted before the start, so that an export that crashes the server is not retried forever.
    const begun = await store.write((tx) => countExportStart(tx, id));
    if (!begun) return;
    if (begun.failures > MAX_FAILED_STARTS)
      return fail(begun, `The export was interrupted ${MAX_FAILED_STARTS} times. Request it again, or without media.`);
    try {
      await make(begun);
    } catch (error) {
      const isOffline = (await folders.guard.check()) !== null;
      if (!isOffline) await rm(folders.exportPart(id), { force: true });
      // Shutdown and offline storage do not count as failures.
      const cause = isOffline ? "offline" : poller.signal.aborted ? "shutdown" : null;
      if (cause === null) return handleFailure(begun, error);
      log.info("export.interrupted", { export: id, cause });
      await store.write((tx) => updateDataExport(tx, id, "pending", { failures: begun.failures - 1 }));
    }
  }

  async function make(row: DataExport): Promise<void> {
    const started = performance.now();
    const user = await findUserById(store.read, row.user_id);
    if (!user) return;
    await requireRoom(row);
    const part = folders.exportPart(row.id);
    const output = await openArchiveFile(services, part);
    const size = await writeArchive(services, { user, hasMedia: row.has_media, output, signal: poller.signal })
      .then((bytes) => output.flush().then(() => bytes))
      .finally(() => output.close());
    await renameDurably(part, folders.exportArchive(row.id));
    const older = await store.write((tx) => complete(tx, row, size));
    const duration = Math.round(performance.now() - started);
    if (older !== null)
      log.info("export.completed", {
        export: row.id,
        size_bytes: size,
        has_media: row.has_media,
        duration_ms: duration,
      });
    const needless = older === null ? row.id : older?.id;
    if (needless === undefined) return;
    // The export has ended. The next sweep removes what is left.
    await discard(folders, [folders.exportArchive(needless)]).catch((error) =>
      log.warn("export.discard_failed", { export: needless, error }),
    );
  }

  /** Throws `storage_full` when the media does not fit above the disk reserve, before anything is written. */
  async function requireRoom({ user_id: userId, has_media: hasMedia }: DataExport): Promise<void> {
    const needed = hasMedia ? await measureMediaFiles(services, userId, poller.signal) : 0;
    const available = disk.availableBytes();
    if (needed <= available) return;
    const message = `The export needs ${formatBytes(needed)}, and the server has ${formatBytes(available)} free.`;
    throw new AppError("storage_full", message);
  }

  /**
   * Marks an export as ready. Returns the older one that it replaces, undefined without one; null for a purged account.
   */
  async function complete(tx: Queries, row: DataExport, size: number): Promise<DataExport | null | undefined> {
    const older = await findDataExport(tx, row.user_id, "ready");
    const change = { state: "ready" as const, size_bytes: size, finished_at: now(), expires_at: now() + KEPT_MS };
    if (older) await changeDataExport(tx, older.id, "ready", { state: "expired", expires_at: now() });
    const ready = await changeDataExport(tx, row.id, "pending", change);
    return ready && (older ?? undefined);
  }

  async function handleFailure(row: DataExport, error: unknown): Promise<void> {
    if (isStorageFull(error)) {
      const advice = row.has_media ? "Request it again later, or without media." : "Request it again later.";
      const reason = error instanceof AppError ? error.message : "The server is low on storage.";
      return fail(row, `${reason} ${advice}`);
    }
    log.error("export.failed", { export: row.id, failures: row.failures, error });
    if (row.failures >= MAX_FAILED_STARTS)
      return fail(row, "The export could not be written. Request it again, or ask the administrator of the server.");
    retryTimes.set(row.id, now() + RETRY_DELAY_MS * row.failures);
  }

  async function fail({ id }: DataExport, message: string): Promise<void> {
    const change = { state: "failed" as const, error_message: message, finished_at: now() };
    await store.write((tx) => changeDataExport(tx, id, "pending", change));
    log.warn("export.given_up", { export: id, reason: message });
  }

  return poller;
}

/** Bytes are flushed in portions: flushing many gigabytes at once would block every commit of the database. */
const FLUSH_INTERVAL_BYTES = 64 * 1024 * 1024;

/** Only the server reads it. */
const FILE_MODE = 0o600;

/**
 * Opens a file for an archive and truncates it. Its writes reject with `ENOSPC` when the free space falls below the
 * reserve.
 */
async function openArchiveFile(services: CoreNeeds, path: string) {
  const file = await open(path, "w", FILE_MODE);
  let position = 0;
  let unflushed = 0;

  return {
    write: async (bytes: Uint8Array) => {
      claimSpace(services, bytes.byteLength);
      await writeAll(file, bytes, position);
      position += bytes.byteLength;
      unflushed += bytes.byteLength;
      if (unflushed < FLUSH_INTERVAL_BYTES) return;
      unflushed = 0;
      await file.datasync();
    },
    patch: (bytes: Uint8Array, at: number) => writeAll(file, bytes, at),
    flush: () => file.sync(),
    close: () => file.close(),
  };
}
