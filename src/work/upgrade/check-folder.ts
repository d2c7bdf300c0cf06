/**
 * The folder in the data folder in which the check of an upgrade works on a copy of the database, as the owner of the
 * data. It is removed at the end.
 */
import { readFileSync, statSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** The name of such a folder, which ends with the ID of its process. */
export const CHECK_FOLDER = /^\.upgrade-check\.(\d{1,10})$/;

/** Creates the folder of this process and returns its name. Removes those of processes that were killed. */
export async function createCheckFolder(dataDir: string): Promise<string> {
  for (const name of await readdir(dataDir)) {
    const pid = CHECK_FOLDER.exec(name)?.[1];
    if (pid !== undefined && (Number(pid) === process.pid || !isUpgradeRunning(Number(pid))))
      await remove(dataDir, name);
  }
  const name = `.upgrade-check.${process.pid}`;
  await mkdir(join(dataDir, name), { mode: 0o700 });
  return name;
}

const remove = (dataDir: string, name: string): Promise<void> =>
  rm(join(dataDir, name), { recursive: true, force: true });

/**
 * Returns whether a process with this ID runs an upgrade. A process of another program may have got the ID of one that
 * was killed.
 */
export function isUpgradeRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("upgrade");
  } catch {
    return false;
  }
}

/**
 * Drops root privileges in favor of the owner of `folder`: only the user of the service touches the data. Does nothing
 * in a process without them.
 */
export function becomeOwner(folder: string): void {
  const { uid, gid } = statSync(folder);
  if (process.getuid?.() !== 0 || uid === 0) return;
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}
