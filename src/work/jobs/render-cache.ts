/** The cache of a recording's renders as a file of the recording, and how a child process replaces it. */
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { RenderCacheFiles } from "../../media/render-cache/cache-file";
import { commitFile } from "../job-child/scratch";
import { findBlob, listBlobs } from "./blob-files";
import type { RunContext } from "./definition";

/** Maximum size as a share of the free disk space. */
const MAX_DISK_SHARE = 1 / 8;

export type CacheSession = {
  files: RenderCacheFiles;
  /** Paths that the child reads. */
  readOnly: string[];
  /**
   * Replaces the cache with the file that the child has written, if any. Returns the bytes of everything in the recording's folder but its
   * source: an attempt that was killed may have replaced the cache without storing them. The render is complete, so problems are only logged.
   */
  commit(sourceName: string): Promise<number>;
};

/** Prepares the files for a child process; null where no cache is kept. `maxFileBytes`: how large a file may become now. */
export async function openCacheSession(
  context: Pick<RunContext, "renderCache" | "workDir" | "log">,
  maxFileBytes: number | null,
): Promise<CacheSession | null> {
  const { renderCache, workDir, log } = context;
  if (renderCache === undefined) return null;
  const { path } = renderCache;
  const maxBytes = Math.min(renderCache.maxBytes, (maxFileBytes ?? Number.POSITIVE_INFINITY) * MAX_DISK_SHARE);
  const newPath = join(workDir, "render.cache.new");
  await rm(newPath, { recursive: true, force: true });
  // An attempt that was killed may have left it. Another render that writes it at this moment loses its cache.
  await rm(`${path}.part`, { force: true });
  const hasCache = (await findBlob(path)) !== null;
  return {
    files: { path: hasCache ? path : null, newPath, maxBytes: Math.floor(maxBytes) },
    readOnly: hasCache ? [path] : [],
    commit: async (sourceName) => {
      const written = await findBlob(newPath);
      if (written !== null && written.bytes <= maxBytes)
        try {
          // Fails when the recording was deleted meanwhile, with its folder.
          await commitFile(newPath, path);
          log("render.cache_saved", { bytes: written.bytes, file: basename(path) });
        } catch (error) {
          log("render.cache_lost", { error: String(error) });
        }
      const blobs = await listBlobs(dirname(path), sourceName);
      return blobs.reduce((sum, { bytes }) => sum + bytes, 0);
    },
  };
}
