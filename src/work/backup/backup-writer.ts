/** Writes a backup to one place: a folder or a bucket. */
import type { TrashHold } from "../../blobs/trash";
import type { BackupFile, BackupManifest } from "../../domain/backup";
import type { FoundFile } from "./find-files";

/** Counts files of media. `notes`: sentences for the administrator. */
export const createStoredFiles = () => ({
  stored: [] as BackupFile[],
  missing: [] as string[],
  copied_files: 0,
  copied_bytes: 0,
  linked_files: 0,
  shared_files: 0,
  notes: [] as string[],
});

export type StoredFiles = ReturnType<typeof createStoredFiles>;

export type BackupWriter = {
  /** The path of the complete backup. */
  path: string;
  createdAt: number;
  /** The private folder for the copy of the database. */
  scratch: string;
  /** Throws `storage_full` before anything is written if the backup is known not to fit. */
  requireRoom(hold: TrashHold): Promise<void>;
  /** Stores the copy of the database, the secrets and media. Errors: `storage_full` when they do not fit. */
  store(files: readonly FoundFile[], hold: TrashHold): Promise<StoredFiles>;
  /** Writes the manifest, which completes the backup. Returns sentences for the administrator. */
  complete(manifest: BackupManifest): Promise<string[]>;
  discard(): Promise<void>;
  /** Releases the place, even after a failure. */
  release(): Promise<void>;
};
