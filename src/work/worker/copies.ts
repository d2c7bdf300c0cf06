/** The copies of files of the head that a worker keeps for later executions, which end with the recordings that they were made for. */
import type { BlobCache } from "../../blobs/blob-cache";
import { MAX_COPIED_ASSETS } from "../../domain/workers";
import type { Log } from "../../lib/log";
import type { Head } from "../../outbound/head";
import type { WorkFolders } from "./work-folders";

export type Copies = {
  /** Asks the head which recordings were deleted, and removes what is left of them here. Errors: those of the head. */
  removeDeleted(signal: AbortSignal): Promise<void>;
};

type CopiesParts = {
  cache: Pick<BlobCache, "forget" | "listAssets">;
  workFolders: Pick<WorkFolders, "forget" | "listAssets">;
  head: Pick<Head, "findDeleted">;
  log: Log;
};

export function createCopies({ cache, workFolders, head, log }: CopiesParts): Copies {
  return {
    removeDeleted: async (signal) => {
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
    },
  };
}
