/** Writes that must succeed on a full disk: deletions, which free space, and the start of a backup to another disk. */
import { releaseSpareSpace } from "../../lib/spare-space";
import { isStorageFull } from "../../lib/storage-full";
import type { Queries } from "../../store/db";
import type { CoreNeeds } from "../needs";

/**
 * Runs `work` in a write transaction, again with the spare space if the disk is full. Errors: those of `store.write`.
 */
export async function writeUrgently<T>(
  { folders, store }: Pick<CoreNeeds, "folders" | "store">,
  work: (tx: Queries) => Promise<T>,
): Promise<T> {
  try {
    return await store.write(work);
  } catch (error) {
    if (!isStorageFull(error)) throw error;
    await releaseSpareSpace(folders.root);
    return store.write(work);
  }
}
