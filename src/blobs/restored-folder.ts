/**
 * The folders of a restore, next to the data folder `D` and, if it is separate, the media folder `M`: `D.restoring-T`
 * is being written, `D.restored-T` is complete, `D.before-restore-T` is the folder that it replaces. Renames swap them.
 * `M` is missing from the first rename to the last, so that a server that starts after a kill in between changes
 * nothing without it. The start then rolls back if `D` was not swapped, or completes the restore if it was.
 */
import { existsSync, readdirSync, renameSync } from "node:fs";
import { access, mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DATABASE_NAME, formatBackupName } from "../domain/backup";
import { conflict } from "../domain/errors";
import { flushFolder } from "../lib/atomic-file";
import { ignoreCodes, succeeds } from "../lib/error-codes";
import { isFolderLocked, lockFolder } from "../lib/folder-lock";
import { withTimeLimit } from "../lib/time-limit";
import { discardFolder } from "./backup-files";
import { listNames } from "./trash";

const WRITTEN = ".restoring-";
const COMPLETE = ".restored-";
const REPLACED = ".before-restore-";

/** A network folder whose server is down does not respond at all. */
const MAX_WAIT_MS = 5_000;

/** The folders that a restore replaces. `media` is null if it is in the data folder, or stays as it is. */
export type RestoreTargets = { data: string; media: string | null };

/**
 * Creates the folders that will replace the targets, and removes leftovers of killed restores. Throws `AppError`
 * `conflict` if another restore started in the same second.
 */
export async function createRestoredFolders({ data, media }: RestoreTargets, now: number) {
  const targets = media === null ? [data] : [data, media];
  for (const target of targets) await mkdir(dirname(target), { recursive: true });
  await discardAbandoned({ data, media });
  const stamp = formatBackupName(now).replace("offcut-", "");
  const release = await lockNew(data + WRITTEN + stamp);
  const discard = async () => {
    release();
    // The media comes first: without a draft of the data folder, it would look like part of a completed restore.
    for (const target of targets.toReversed()) await discardFolder(target + WRITTEN + stamp);
  };
  if (media !== null)
    await mkdir(media + WRITTEN + stamp, { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
      release();
      await discardFolder(data + WRITTEN + stamp);
      throw error.code === "EEXIST" ? isRunning() : error;
    });
  return {
    /** The folders to write. */
    drafts: { data: data + WRITTEN + stamp, media: media && media + WRITTEN + stamp },
    /** Puts the drafts in place of the folders. */
    swap: async () => {
      try {
        const replaced = await swapFolders(targets, stamp);
        // The lock looked for its journal at the former path.
        release();
        await rm(join(data, "lock-journal"), { force: true });
        return { data: replaced.get(data) ?? null, media: media && (replaced.get(media) ?? null) };
      } catch (error) {
        await discard();
        throw error;
      }
    },
    /** Removes the drafts, unless they were swapped. */
    discard,
  };
}

const isRunning = () => conflict("Another restore to this folder is running. Wait until it ends.");

/** Creates and locks a folder. Returns the function that releases the lock. */
async function lockNew(draft: string): Promise<() => void> {
  const lock = await mkdir(draft, { mode: 0o700 }).then(() => lockFolder(draft), ignoreCodes("EEXIST"));
  if (lock === null) throw isRunning();
  let isReleased = false;
  return () => {
    if (!isReleased) lock.release();
    isReleased = true;
  };
}

/** The media folder is last in `targets`: moved away first, moved in last. Reverts if a rename fails. */
async function swapFolders(targets: readonly string[], stamp: string): Promise<Map<string, string>> {
  const replaced = new Map<string, string>();
  const done: [from: string, to: string][] = [];
  const move = async (from: string, to: string) => {
    await rename(from, to);
    done.push([from, to]);
    // On two disks, nothing else guarantees the order of the renames in a power failure.
    await flushFolder(dirname(to));
  };
  try {
    for (const target of targets) await move(target + WRITTEN + stamp, target + COMPLETE + stamp);
    for (const target of targets.toReversed()) {
      if (!existsSync(target)) continue;
      await move(target, target + REPLACED + stamp);
      replaced.set(target, target + REPLACED + stamp);
    }
    for (const target of targets) await move(target + COMPLETE + stamp, target);
  } catch (error) {
    for (const [from, to] of done.toReversed()) await rename(to, from);
    throw error;
  }
  return replaced;
}

/** A running restore holds the lock of its draft of the data folder. */
async function discardAbandoned({ data, media }: RestoreTargets): Promise<void> {
  for (const [stamp, path] of await listDrafts(media))
    if (![WRITTEN, COMPLETE].some((infix) => isLocked(data + infix + stamp))) await discardFolder(path);
  for (const [, path] of await listDrafts(data)) if (!isLocked(path)) await discardFolder(path);
}

async function listDrafts(target: string | null): Promise<(readonly [stamp: string, path: string])[]> {
  if (target === null) return [];
  const names = await listNames(dirname(target));
  return [WRITTEN, COMPLETE].flatMap((infix) =>
    listStamps(names, target, infix).map((stamp) => [stamp, target + infix + stamp] as const),
  );
}

/** Returns the stamps of the folders `target` + `infix` + stamp among the names of its parent, the newest last. */
const listStamps = (names: readonly string[], target: string, infix: string): string[] =>
  names
    .filter((name) => name.startsWith(basename(target) + infix))
    .map((name) => name.slice(basename(target).length + infix.length))
    .sort();

const isLocked = (path: string): boolean => existsSync(path) && isFolderLocked(path);

/** Completes a restore of a data folder that was killed during the swap. Throws file system errors. */
export function completeRestore(data: string): void {
  const parent = dirname(data);
  if (existsSync(data) || !existsSync(parent)) return;
  const names = readdirSync(parent);
  const replaced = listStamps(names, data, REPLACED);
  const stamp = listStamps(names, data, COMPLETE).findLast((one) => replaced.includes(one));
  if (stamp !== undefined) renameSync(data + COMPLETE + stamp, data);
}

/**
 * Does the same for its media folder, if the data folder exists and is locked: puts the restored one in place if the
 * data folder was swapped, otherwise the previous one. Does nothing while the file system does not respond.
 */
export const completeMediaRestore = (data: string, media: string): Promise<void> =>
  withTimeLimit(completeMedia(data, media), MAX_WAIT_MS, () => undefined);

async function completeMedia(data: string, media: string): Promise<void> {
  if (await succeeds(access(media))) return;
  const names = await listNames(dirname(media));
  const stamp = listStamps(names, media, COMPLETE).at(-1);
  if (stamp === undefined) return;
  const wasThere = listStamps(names, media, REPLACED).includes(stamp);
  // Folders that did not exist were not renamed.
  const isSwapped = !existsSync(data + COMPLETE + stamp) && (existsSync(data + REPLACED + stamp) || !wasThere);
  if (!isSwapped && wasThere) await rename(media + REPLACED + stamp, media);
  if (isSwapped && existsSync(join(data, DATABASE_NAME))) await rename(media + COMPLETE + stamp, media);
}
