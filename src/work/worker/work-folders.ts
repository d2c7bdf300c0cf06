/**
 * The work folders of executions on a worker, and the removal of folders and cached files that the head no longer
 * needs. A folder is kept after an execution that did not complete, so that the next attempt on the same input resumes
 * here, and removed when its step has ended, when it was not used for a day, when there are too many, or when the disk
 * is full.
 */
import { mkdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BlobCache, findAssetOf } from "../../blobs/blob-cache";
import { listNames } from "../../blobs/trash";
import { MAX_COPIED_ASSETS } from "../../domain/workers";
import { isUuid } from "../../lib/ids";
import type { Log } from "../../lib/log";
import type { Head } from "../../outbound/head";

/** `asset`: the UUID of the recording. `key` is the same for the next attempt on the same input. */
type WorkFolderName = { asset: string; key: string; execution: string };

/** The file in a work folder with the ID of its last execution. */
const EXECUTION_FILE = "execution";

const MAX_UNUSED = 16;
const MAX_AGE_MS = 24 * 3600 * 1000;

/** Opens the folder of work folders. `key` and `execution` are safe as parts of file names. */
export async function openWorkFolders(root: string) {
  await mkdir(root, { recursive: true });
  const used = new Set<string>();
  /** Folders in use that are not needed later. */
  const forgotten = new Set<string>();
  const removals = new Map<string, Promise<void>>();
  await removeOld();

  async function listUnused(): Promise<{ name: string; usedAt: number }[]> {
    const names = (await listNames(root)).filter((name) => !used.has(name));
    const found = await Promise.all(
      names.map(async (name) => ({ name, usedAt: (await stat(join(root, name)).catch(() => null))?.mtimeMs ?? 0 })),
    );
    return found.sort((a, b) => b.usedAt - a.usedAt);
  }

  async function readExecution(name: string): Promise<string | null> {
    const text = await Bun.file(join(root, name, EXECUTION_FILE))
      .text()
      .catch(() => "");
    return isUuid(text) ? text : null;
  }

  async function remove(name: string): Promise<void> {
    // It may have been taken in the meantime.
    if (used.has(name)) return;
    const removal =
      removals.get(name) ?? rm(join(root, name), { recursive: true, force: true }).finally(() => removals.delete(name));
    removals.set(name, removal);
    await removal;
  }

  async function removeOld(): Promise<void> {
    const oldest = Date.now() - MAX_AGE_MS;
    for (const [n, { name, usedAt }] of (await listUnused()).entries())
      if (n >= MAX_UNUSED || usedAt < oldest) await remove(name);
  }

  /** Removes the folders that no execution uses and that are no longer needed. */
  async function removeUnused(isUnneeded: (name: string) => boolean | Promise<boolean> = () => true): Promise<void> {
    for (const { name } of await listUnused()) if (await isUnneeded(name)) await remove(name);
  }

  return {
    /** Returns the folder for `key`, or an empty one when another execution uses it. */
    acquire: async ({ asset, key, execution }: WorkFolderName) => {
      const own = `${asset}_${key}`;
      const name = used.has(own) ? `${asset}_${execution}` : own;
      used.add(name);
      const path = join(root, name);
      // Otherwise, files of this execution would be removed too.
      await removals.get(name)?.catch(() => {});
      await mkdir(path, { recursive: true });
      await writeFile(join(path, EXECUTION_FILE), execution);
      return {
        path,
        /** Ends the use. `keep`: for a later attempt. */
        release: async (keep: boolean) => {
          const isKept = keep && name === own && !forgotten.delete(name);
          if (isKept) await utimes(path, new Date(), new Date()).catch(() => {});
          used.delete(name);
          if (!isKept) await remove(name);
          await removeOld();
        },
      };
    },
    listAssets: async () => {
      const assets = (await listNames(root)).map(findAssetOf).filter((asset) => asset !== null);
      return [...new Set(assets)];
    },
    /** Removes all folders of an asset: those in use when they are released. */
    forget: async (asset: string) => {
      const isOfAsset = (name: string) => findAssetOf(name) === asset;
      for (const name of used) if (isOfAsset(name)) forgotten.add(name);
      await removeUnused(isOfAsset);
    },
    /** Lists the last executions of the folders that none uses. */
    listExecutions: async () => {
      const found = await Promise.all((await listUnused()).map(({ name }) => readExecution(name)));
      return found.filter((execution) => execution !== null);
    },
    /** Removes the unused folders whose last execution is one of these. */
    removeOf: (executions: readonly string[]) =>
      removeUnused(async (name) => executions.includes((await readExecution(name)) ?? "")),
    removeUnused,
  };
}

export type WorkFolder = Awaited<ReturnType<WorkFolders["acquire"]>>;

export type WorkFolders = Awaited<ReturnType<typeof openWorkFolders>>;

type CopiesParts = {
  cache: Pick<BlobCache, "forget" | "listAssets">;
  workFolders: Pick<WorkFolders, "forget" | "listAssets" | "listExecutions" | "removeOf">;
  head: Pick<Head, "findDeleted" | "findEnded">;
  log: Log;
};

export function createCopies({ cache, workFolders, head, log }: CopiesParts) {
  async function removeDeleted(signal: AbortSignal): Promise<void> {
    const assets = [...new Set([...cache.listAssets(), ...(await workFolders.listAssets())])];
    const known = new Set(assets);
    let removed = 0;
    for (let at = 0; at < assets.length; at += MAX_COPIED_ASSETS) {
      const deleted = await head.findDeleted(assets.slice(at, at + MAX_COPIED_ASSETS), signal);
      for (const asset of deleted) {
        if (!known.has(asset)) continue;
        cache.forget(asset);
        await workFolders.forget(asset);
        removed++;
      }
    }
    if (removed > 0) log.info("copies.removed", { assets: removed });
  }

  async function removeEnded(signal: AbortSignal): Promise<void> {
    const executions = (await workFolders.listExecutions()).slice(0, MAX_COPIED_ASSETS);
    const ended = executions.length > 0 ? await head.findEnded(executions, signal) : [];
    if (ended.length === 0) return;
    await workFolders.removeOf(ended);
    log.info("work_folders.removed", { executions: ended });
  }

  return {
    /**
     * Asks the head which recordings were deleted, and removes their cached files; then which steps have ended,
     * including by cancellation or on another machine, and removes their work folders. Errors: those of the head.
     */
    removeUnneeded: async (signal: AbortSignal) => {
      await removeDeleted(signal);
      await removeEnded(signal);
    },
  };
}

export type Copies = ReturnType<typeof createCopies>;
