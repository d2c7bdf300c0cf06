/** Removes the files of a preparation when it has failed or its asset was deleted. */
import { basename, join } from "node:path";
import { discard, listNames, moveToTrash } from "../../blobs/trash";
import { findAssetById, updateAsset } from "../../store/assets";
import type { CoreNeeds } from "../needs";

/** Removes what the preparation of a failed asset has made. The source stays until the asset is deleted. */
export async function discardDerivatives({ store, folders }: CoreNeeds, assetId: string): Promise<void> {
  const { dir, source } = folders.media(assetId);
  const names = (await listNames(dir)).filter((name) => name !== basename(source));
  await discard(
    folders,
    names.map((name) => join(dir, name)),
  );
  await store.write((tx) => updateAsset(tx, assetId, { derived_bytes: 0 }));
}

/** Removes the folder that a job has created again when its asset was deleted as the job started. It may still be the folder that was deleted. */
export async function discardFolderOfDeleted({ store, folders }: CoreNeeds, assetId: string): Promise<void> {
  if ((await findAssetById(store.read, assetId)) === null) await moveToTrash(folders, [folders.media(assetId).dir]);
}
