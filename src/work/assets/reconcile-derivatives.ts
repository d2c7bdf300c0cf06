/** Reconciles the files of preparations with their assets after the start. */
import { basename } from "node:path";
import type { MediaFolder } from "../../blobs/folders";
import { listUnmeasuredAssets, updateAsset } from "../../store/assets";
import { listBlobs } from "../jobs/blob-files";
import type { CoreNeeds } from "../needs";
import { discardDerivatives } from "./discard-derivatives";

/** Assets that are read at a time. */
const MAX_PAGE_ASSETS = 100;

/**
 * Measures the assets that an older version prepared, and removes the files that a crash left of failed ones. Runs once after the start,
 * in the background.
 */
export async function reconcileDerivatives(services: CoreNeeds): Promise<void> {
  const { store, folders } = services;
  for (let after = ""; ; ) {
    const page = await listUnmeasuredAssets(store.read, after, MAX_PAGE_ASSETS);
    for (const { id, state } of page) {
      if (state === "failed") await discardDerivatives(services, id);
      else {
        const bytes = await measureDerivatives(folders.media(id));
        await folders.guard.confirmOnline();
        await store.write((tx) => updateAsset(tx, id, { derived_bytes: bytes }));
      }
    }
    const last = page.at(-1);
    if (!last) return;
    after = last.id;
  }
}

/** Returns the bytes of everything in the asset's folder but its source. */
async function measureDerivatives({ dir, source }: MediaFolder): Promise<number> {
  const blobs = await listBlobs(dir, basename(source));
  return blobs.reduce((sum, { bytes }) => sum + bytes, 0);
}
