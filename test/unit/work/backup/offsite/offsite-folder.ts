/** A recorded folder whose backups go to a bucket. */
import { join } from "node:path";
import { discardFolder } from "../../../../../src/blobs/backup-files";
import { createRecoveryKey } from "../../../../../src/lib/recovery-key";
import { createBackup } from "../../../../../src/work/backup/create-backup";
import { downloadSource } from "../../../../../src/work/backup/offsite/download-source";
import { openOffsiteBackup } from "../../../../../src/work/backup/offsite/offsite-backup";
import type { OffsiteAccess } from "../../../../../src/work/backup/offsite/repository";
import { type RestoreReport, restoreState } from "../../../../../src/work/backup/restore-backup";
import { type S3Server, startS3Server } from "../../../../s3-server";
import { type RecordedFolder, recordedFolder } from "../recorded-folder";
import { PLACE } from "./offsite-place";

export const NEVER = new AbortController().signal;
export { PLACE };
export const QUICK = { requestMs: 2000, idleMs: 1000, delayMs: 1, attempts: 3 };

export type OffsiteFolder = AsyncDisposable & {
  recorded: RecordedFolder;
  s3: S3Server;
  access: OffsiteAccess;
  backup(options?: { hasMedia?: boolean; now?: number; place?: string; access?: OffsiteAccess }): Promise<Report>;
  /** Restores to `restored` below the root, as the command does. */
  restore(options?: { at?: number; skipDamagedMedia?: boolean; url?: string }): Promise<RestoreReport>;
  /** Opens the newest backup, or the one at a URL. */
  open(url?: string): ReturnType<typeof openOffsiteBackup>;
};

type Report = Awaited<ReturnType<typeof createBackup>>;

export const DAY_MS = 24 * 3600 * 1000;
export const START = Date.UTC(2027, 0, 31, 2);

export async function offsiteFolder(): Promise<OffsiteFolder> {
  const recorded = await recordedFolder();
  const s3 = await startS3Server();
  const key = createRecoveryKey();
  const access: OffsiteAccess = {
    env: s3.env,
    recoveryKey: () => key,
    saveRecoveryKey: async () => {},
    scratch: recorded.data,
    timing: QUICK,
  };
  let time = START;
  return {
    recorded,
    s3,
    access,
    backup: ({ hasMedia = true, now, place = PLACE, access: other = access } = {}) => {
      time += 3_600_000;
      const { store, folders } = recorded;
      return createBackup(
        { store, folders, now: () => now ?? time, offsite: other },
        { target: place, hasMedia },
        NEVER,
      );
    },
    restore: async ({ at, skipDamagedMedia = false, url = PLACE } = {}) => {
      const dataDir = join(recorded.root, "restored");
      const folder = `${dataDir}.downloading`;
      const options = {
        dataDir,
        mediaDir: null,
        skipDamagedMedia,
        now: START + DAY_MS,
        draftBytes: 0,
        openDraft: async () => {},
      };
      try {
        const source = await downloadSource(url, access, { at: at ?? null, folder, skipDamagedMedia }, NEVER);
        return await restoreState(source, options, NEVER);
      } finally {
        await discardFolder(folder);
      }
    },
    open: (url = PLACE) => openOffsiteBackup(url, access, { signal: NEVER }),
    [Symbol.asyncDispose]: async () => {
      await recorded[Symbol.asyncDispose]();
      await s3[Symbol.asyncDispose]();
    },
  };
}

/** Returns the message of an error, or "done". */
export const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: Error) => error.message,
  );
