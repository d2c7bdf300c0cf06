/**
 * Frees space when a disk falls below its reserve: empties the trash early, oldest files first, then removes snapshots.
 * While there is room, part of the reserve is set aside as a file, for deletions when other programs have used up the
 * rest.
 */
import { emptyTrash, isTrashHeld } from "../../blobs/trash";
import type { DiskReserve } from "../../lib/disk-reserve";
import { createPoller, type Poller } from "../../lib/poller";
import { reserveSpareSpace, SPARE_BYTES } from "../../lib/spare-space";
import type { CoreNeeds } from "../needs";
import { hasFreeSpace } from "../storage/limits";
import { thinSnapshots } from "./snapshots";

type Space = Pick<DiskReserve, "availableBytes">;

const POLL_MS = 5_000;
/** Share of the reserve that is freed in addition, so that the next write need not wait again. */
const MARGIN_SHARE = 1 / 4;

export function createSpaceKeeper(services: CoreNeeds): Poller {
  const { disk, log } = services;
  const poll = async () => {
    await freeSpace(services);
    const { config, folders } = services;
    const hasReserve = config.diskReserveBytes >= SPARE_BYTES && disk.database.availableBytes() >= SPARE_BYTES;
    if (hasReserve && folders.guard.findProblem() === null) await reserveSpareSpace(folders.root);
    return POLL_MS;
  };
  const poller = createPoller(poll, (error) => log.error("trash.empty_failed", { error }));
  disk.onShort(poller.wake);
  return poller;
}

/**
 * Frees space on disks below their reserve. The trash is in the media folder and the snapshots are in the data folder,
 * which may be on two disks: each makes room on its own only. Does nothing while a backup reads the trash, and while a
 * folder is offline.
 */
export async function freeSpace({ config, disk, folders, log }: CoreNeeds): Promise<void> {
  const isShort = (space: Space) => !hasFreeSpace({ disk: space });
  const isNeeded = (space: Space) => () =>
    isShort(space) || space.availableBytes() < config.diskReserveBytes * MARGIN_SHARE;
  // An unmounted folder has no free space.
  if ((await folders.guard.check()) !== null) return;
  const [isMediaShort, isDatabaseShort] = [isShort(disk.media), isShort(disk.database)];
  if (isTrashHeld(folders)) return;
  const entries = isMediaShort ? await emptyTrash(folders, isNeeded(disk.media)) : 0;
  const isStillShort = isDatabaseShort && isNeeded(disk.database)() && !isTrashHeld(folders);
  const snapshots = isStillShort ? await thinSnapshots(folders.root, isNeeded(disk.database)) : 0;
  if (entries + snapshots > 0) log.warn("trash.emptied_early", { entries, snapshots });
}
