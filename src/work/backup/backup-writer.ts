/** What writes a backup to one place: a folder or a bucket. */
import type { TrashHold } from "../../blobs/trash";
import type { BackupFile, BackupManifest } from "../../domain/backup";
import type { FoundFile } from "./find-files";

/** Counts files of media. `notes`: sentences for the administrator. */
export type StoredFiles = {
  stored: BackupFile[];
  missing: string[];
  copied_files: number;
  copied_bytes: number;
  linked_files: number;
  shared_files: number;
  notes: string[];
};

export type BackupWriter = {
  /** Where the backup is when it is complete. */
  path: string;
  createdAt: number;
  /** The private folder that the copy of the database is written to. */
  scratch: string;
  /** Throws `storage_full` before anything is written when it is known that the backup does not fit. */
  requireRoom(hold: TrashHold): Promise<void>;
  /** Stores the copy of the database, the secrets and media. Errors: `storage_full` when they do not fit. */
  store(files: readonly FoundFile[], hold: TrashHold): Promise<StoredFiles>;
  /** Writes the manifest: only now there is a backup. Returns sentences for the administrator. */
  complete(manifest: BackupManifest): Promise<string[]>;
  /** Removes what an unfinished backup has left. */
  discard(): Promise<void>;
  /** Ends the use of the place, after a failure too. */
  release(): Promise<void>;
};

export const createStoredFiles = (): StoredFiles => ({
  stored: [],
  missing: [],
  copied_files: 0,
  copied_bytes: 0,
  linked_files: 0,
  shared_files: 0,
  notes: [],
});
