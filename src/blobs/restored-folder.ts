/**
 * The folders of a restore, beside the data folder: `D.restoring-T` is written, `D.restored-T` is complete, `D.before-restore-T` is the folder
 * that it replaces. Two renames swap them; a start of the server completes a swap that was killed in between.
 */
import { existsSync, readdirSync, renameSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { formatBackupName } from "../domain/backup";
import { AppError } from "../domain/errors";
import { flushFile } from "../lib/atomic-file";
import { type FolderLock, lockFolder } from "../lib/folder-lock";
import { discardFolder } from "./backup-files";
import { listNames } from "./trash";

const WRITTEN = ".restoring-";
const COMPLETE = ".restored-";
const REPLACED = ".before-restore-";

export type RestoredFolder = {
  /** The folder to write. */
  draft: string;
  /** Puts the draft in the place of the data folder. Returns where that is now; null if there was none. */
  swap(): Promise<string | null>;
  /** Removes the draft, unless it was swapped. */
  discard(): Promise<void>;
};

/**
 * Creates the folder that will replace the data folder `target`, and removes what killed restores have left behind. Throws `AppError` `conflict`
 * when another restore started in this second.
 */
export async function createRestoredFolder(target: string, now: number): Promise<RestoredFolder> {
  await mkdir(dirname(target), { recursive: true });
  await discardAbandoned(target);
  const stamp = formatBackupName(now).replace("offcut-", "");
  const draft = target + WRITTEN + stamp;
  const lock = await lockNew(draft);
  let isReleased = false;
  const release = () => {
    if (!isReleased) lock.release();
    isReleased = true;
  };
  return {
    draft,
    swap: async () => {
      const complete = target + COMPLETE + stamp;
      const replaced = existsSync(target) ? target + REPLACED + stamp : null;
      try {
        await rename(draft, complete);
        if (replaced !== null) await rename(target, replaced);
        await rename(complete, target).catch(async (error) => {
          if (replaced !== null) await rename(replaced, target);
          throw error;
        });
      } catch (error) {
        await discardFolder(complete);
        throw error;
      } finally {
        release();
      }
      // The lock looked for its journal at the former path.
      await rm(join(target, "lock-journal"), { force: true });
      await flushFile(dirname(target));
      return replaced;
    },
    discard: async () => {
      release();
      await discardFolder(draft);
    },
  };
}

async function lockNew(draft: string): Promise<FolderLock> {
  const lock = await mkdir(draft, { mode: 0o700 }).then(
    () => lockFolder(draft),
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return null;
      throw error;
    },
  );
  if (lock === null) throw new AppError("conflict", "Another restore to this folder is running. Wait until it ends.");
  return lock;
}

/** A running restore holds the lock of its draft. */
async function discardAbandoned(target: string): Promise<void> {
  for (const name of await listNames(dirname(target))) {
    if (![WRITTEN, COMPLETE].some((infix) => name.startsWith(basename(target) + infix))) continue;
    const path = join(dirname(target), name);
    const lock = tryLock(path);
    if (lock === null) continue;
    lock.release();
    await discardFolder(path);
  }
}

function tryLock(path: string): FolderLock | null {
  try {
    return lockFolder(path);
  } catch {
    return null;
  }
}

/** Completes a restore that was killed between its two renames. Throws file system errors. */
export function completeRestore(target: string): void {
  const parent = dirname(target);
  if (existsSync(target) || !existsSync(parent)) return;
  const names = new Set(readdirSync(parent));
  const complete = [...names]
    .filter((name) => name.startsWith(basename(target) + COMPLETE))
    .filter((name) => names.has(name.replace(COMPLETE, REPLACED)))
    .sort()
    .at(-1);
  if (complete !== undefined) renameSync(join(parent, complete), target);
}
