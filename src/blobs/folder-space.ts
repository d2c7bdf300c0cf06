/** The disk reserve of a server whose media may be on another file system than its database. */
import { createDiskReserve, type DiskReserve, getFreeBytes } from "../lib/disk-reserve";
import type { Folders } from "./folders";

/** `media` and `database` are the space of one folder alone. They share a disk unless a media folder is configured. */
export type FoldersReserve = DiskReserve & Record<"media" | "database", Pick<DiskReserve, "availableBytes">>;

/**
 * Creates the reserve of both folders. Media needs room on both, because each file has rows. Nothing is free while a
 * folder is offline. The space of a separate media folder comes from the guard's last check: a network drive may not
 * respond, and the server must not wait for it. Tests replace `freeBytes`, which measures local folders.
 */
export function openDiskReserve(
  { root, mediaDir, guard }: Pick<Folders, "root" | "mediaDir" | "guard">,
  reserveBytes: number,
  freeBytes: (folder: string) => number = getFreeBytes,
): FoldersReserve {
  const database = createDiskReserve(root, reserveBytes, freeBytes);
  const measureLocal = () => (guard.findProblem() === null ? freeBytes(root) : 0);
  const measureMedia = mediaDir === root ? measureLocal : guard.getFreeBytes;
  const media = createDiskReserve(mediaDir, reserveBytes, measureMedia);
  const both = createDiskReserve(root, reserveBytes, () => Math.min(measureMedia(), measureLocal()));
  return {
    availableBytes: both.availableBytes,
    claim: both.claim,
    maxFileBytes: media.maxFileBytes,
    isCritical: database.isCritical,
    onShort: both.onShort,
    media,
    database,
  };
}
