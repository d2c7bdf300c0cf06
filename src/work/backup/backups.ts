/** Writes and verifies backups, one at a time, until the server stops. */
import { AppError } from "../../domain/errors";
import type { Log } from "../../lib/log";
import { readBackup, type VerifyReport, verifyBackup } from "./backup-folder";
import { type BackupReport, type BackupSource, createBackup } from "./create-backup";

export type Backups = {
  /** Writes a backup to a folder in `target`. Errors: those of `createBackup`; `conflict` while another backup is being written. */
  create(options: { target: string; hasMedia: boolean }): Promise<BackupReport>;
  /** Reads a backup. Errors: those of `readBackup`; the reason of `stop`. */
  verify(options: { path: string; sample: number }): Promise<VerifyReport>;
  /** Returns whether a backup is being written. */
  isWriting(): boolean;
  /** Ends what is running and removes what it has written. */
  stop(): Promise<void>;
};

/** Creates the backups of a data folder. */
export function createBackups(source: BackupSource & { log: Log }): Backups {
  const { log } = source;
  const stopping = new AbortController();
  let writing: Promise<BackupReport> | null = null;
  const reading = new Set<Promise<unknown>>();
  return {
    create: async (options) => {
      if (writing !== null)
        throw new AppError("conflict", "Another backup is being written. Wait until it is complete.");
      try {
        writing = createBackup(source, options, stopping.signal);
        const report = await writing;
        const { notes: _notes, missing, ...counts } = report;
        log.info("backup.completed", { ...counts, missing_files: missing.length });
        return report;
      } catch (error) {
        log.error("backup.failed", { error, target: options.target });
        throw error;
      } finally {
        writing = null;
      }
    },
    verify: async ({ path, sample }) => {
      const verifying = readBackup(path).then((backup) => verifyBackup(backup, { sample, signal: stopping.signal }));
      reading.add(verifying);
      try {
        return await verifying;
      } finally {
        reading.delete(verifying);
      }
    },
    isWriting: () => writing !== null,
    stop: async () => {
      stopping.abort(new AppError("conflict", "The server stopped before the backup was complete."));
      await Promise.allSettled([writing, ...reading]);
    },
  };
}
