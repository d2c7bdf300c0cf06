/**
 * Removes the files of a preparation when it has failed or its asset was deleted, and reconciles them with the assets
 * after the start.
 */
import { basename, join } from "node:path";
import type { MediaFolder } from "../../blobs/folders";
import { discard, listNames, moveToTrash } from "../../blobs/trash";
import { findAssetById, listUnmeasuredAssets, updateAsset } from "../../store/assets";
import { listBlobs } from "../jobs/blob-files";
import type { CoreNeeds } from "../needs";

/**
 * Removes the files that the preparation of a failed asset has created. The source stays until the asset is deleted.
 */
export async function discardDerivatives({ store, folders }: CoreNeeds, assetId: string): Promise<void> {
  const { dir, source } = folders.media(assetId);
  const names = (await listNames(dir)).filter((name) => name !== basename(source));
  const paths = names.map((name) => join(dir, name));
  await discard(folders, paths);
  await store.write((tx) => updateAsset(tx, assetId, { derived_bytes: 0 }));
}

/**
 * Removes the folder that a job has created again when its asset was deleted as the job started. It may still be the
 * folder that was deleted.
 */
export async function discardFolderOfDeleted({ store, folders }: CoreNeeds, assetId: string): Promise<void> {
  if ((await findAssetById(store.read, assetId)) === null) await moveToTrash(folders, [folders.media(assetId).dir]);
}

/** Assets that are read at a time. */
const MAX_PAGE_ASSETS = 100;

/**
 * Measures the assets that an older version prepared, and removes the files that a crash left of failed ones. Runs once
 * after the start, in the background.
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
