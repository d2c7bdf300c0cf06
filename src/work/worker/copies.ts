/** The copies of files of the head that a worker keeps for later executions, and the work folders of unfinished ones. */
import type { BlobCache } from "../../blobs/blob-cache";
import { MAX_COPIED_ASSETS } from "../../domain/workers";
import type { Log } from "../../lib/log";
import type { Head } from "../../outbound/head";
import type { WorkFolders } from "./work-folders";

export type Copies = {
  /**
   * Asks the head which recordings were deleted, and removes what is left of them here; then which steps have ended, were it by a cancellation or
   * on another machine, and removes their work folders. Errors: those of the head.
   */
  removeUnneeded(signal: AbortSignal): Promise<void>;
};

type CopiesParts = {
  cache: Pick<BlobCache, "forget" | "listAssets">;
  workFolders: Pick<WorkFolders, "forget" | "listAssets" | "listExecutions" | "removeOf">;
  head: Pick<Head, "findDeleted" | "findEnded">;
  log: Log;
};

export function createCopies({ cache, workFolders, head, log }: CopiesParts): Copies {
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
    removeUnneeded: async (signal) => {
      await removeDeleted(signal);
      await removeEnded(signal);
    },
  };
}
