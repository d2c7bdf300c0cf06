/**
 * Restores single files from the newest backup that has them with the right content, one at a time in the background.
 */
import { rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { BackupFile } from "../../domain/backup";
import { AppError, conflict } from "../../domain/errors";
import { findTracked, listTrackedFiles, RESTORING_SUFFIX } from "../../domain/scrub";
import { createFolders, renameDurably } from "../../lib/atomic-file";
import { findOpenFinding, type OpenFinding, updateFileCheck } from "../../store/file-checks";
import { type AuditActor, recordAudit } from "../access/audit";

import { openFileSource } from "../backup/find-in-backups";
import type { OffsiteAccess } from "../backup/offsite/repository";
import { requireSpace } from "../backup/space";
import { requireActingAdmin } from "../identity/administrators";
import type { CoreNeeds } from "../needs";
import { findOwnerOf, toAbsolute } from "./media-files";

/** Without `offsite`, files are restored from folders only. */
type RestoreNeeds = CoreNeeds & { offsite?: OffsiteAccess };

export function createFileRestores(services: RestoreNeeds) {
  const { log, store } = services;
  const stopping = new AbortController();
  const queued = new Set<string>();
  let running: Promise<void> = Promise.resolve();

  async function run(actor: AuditActor, { id, path }: OpenFinding): Promise<void> {
    try {
      stopping.signal.throwIfAborted();
      const backup = await restoreFile(services, actor, id, stopping.signal);
      log.info("file.restored", { path, backup });
    } catch (error) {
      if (stopping.signal.aborted) return;
      log.error("file.restore_failed", { error, path });
      const reason =
        error instanceof AppError ? error.message : `File could not be restored: ${(error as Error).message}`;
      await store.write((tx) => updateFileCheck(tx, id, { restore_error: reason }));
    }
  }

  return {
    /** Queues the restore of a file, unless it is queued already. */
    start: (actor: AuditActor, finding: OpenFinding) => {
      if (queued.has(finding.id)) return;
      queued.add(finding.id);
      running = running
        .then(() => run(actor, finding))
        .catch((error) => log.error("file.restore_failed", { error, path: finding.path }))
        .finally(() => queued.delete(finding.id));
    },
    isQueued: (id: string) => queued.has(id),
    /** Ends the running restore and discards the others. Resolves when its files are removed. */
    stop: async () => {
      stopping.abort(new Error("The server stops."));
      await running;
    },
  };
}

export type FileRestores = ReturnType<typeof createFileRestores>;

/**
 * Restores the file of a finding and returns the name of the backup. Errors: `AppError`; file system errors; the
 * signal's reason.
 */
async function restoreFile(
  { config, folders, now, offsite, store }: RestoreNeeds,
  actor: AuditActor,
  findingId: string,
  signal: AbortSignal,
): Promise<string> {
  const finding = await findOpenFinding(store.read, findingId);
  if (finding === null) throw conflict("Problem has already been resolved.");
  const { path } = finding;
  const target = toAbsolute(folders, path);
  const source = openFileSource(config.backupTo, offsite, signal);
  if (source === null) throw conflict("There are no backups: set backup_to.");
  if (target === null || !(await hasOwnerOf(store, path))) throw conflict("Recording was deleted.");
  await folders.guard.confirmOnline();
  const part = `${target}${RESTORING_SUFFIX}`;
  const problems: string[] = [];
  await createFolders(dirname(target));
  try {
    for await (const found of source.find(path, (file) => isWanted(finding, file))) {
      await rm(part, { force: true });
      await requireSpace(dirname(target), found.file.bytes);
      try {
        const { bytes, modified_at, sha256 } = await found.copyTo(part, signal);
        await requireActingAdmin(store.read, actor);
        await renameDurably(part, target);
        await store.write(async (tx) => {
          const details = { path, problem: finding.problem, backup: found.backup };
          await recordAudit(tx, actor, { action: "file.restored", target: findingId, details }, now());
          const solved = { problem: null, detail: null, found: null, found_at: null, restore_error: null };
          await updateFileCheck(tx, findingId, {
            bytes,
            modified_at,
            sha256,
            checked_at: now(),
            decoded_at: null,
            ...solved,
          });
        });
        return found.backup;
      } catch (error) {
        if (error instanceof AppError || signal.aborted) throw error;
        problems.push(`${found.backup}: ${(error as Error).message}`);
      }
    }
  } finally {
    await rm(part, { force: true });
  }
  throw conflict(
    problems.length === 0
      ? "No backup has this file with the right content."
      : `Backups are damaged. ${problems.join(" ")}`,
  );
}

/** A damaged file is not replaced by the same content. Without a recorded hash, the newest backup is right. */
function isWanted({ problem, sha256, found, bytes }: OpenFinding, file: BackupFile): boolean {
  if (problem === "undecodable") return file.sha256 !== sha256;
  if (sha256 !== null) return file.sha256 === sha256;
  // Neither a row nor a backup recorded the size.
  if (problem === "missing" && bytes === 0) return true;
  return file.bytes === bytes && file.sha256 !== found?.sha256;
}

async function hasOwnerOf({ read }: CoreNeeds["store"], path: string): Promise<boolean> {
  const owner = await findOwnerOf(read, path);
  const tracked = owner && listTrackedFiles(owner);
  return tracked !== null && findTracked(tracked, basename(path)) !== null;
}
