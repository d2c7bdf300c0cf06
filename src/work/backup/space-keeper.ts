/** Frees space when the disk falls below its reserve: the trash is emptied before its time, oldest files first, then snapshots are removed. */
import { emptyTrash, isTrashHeld } from "../../blobs/trash";
import { createPoller, type Poller } from "../../lib/poller";
import type { Services } from "../services";
import { hasFreeSpace } from "../storage-limits";
import { thinSnapshots } from "./snapshots";

const POLL_MS = 5_000;
/** Share of the reserve that is freed above it, so that the next write does not need to wait again. */
const MARGIN_SHARE = 1 / 4;

/** Creates the keeper. It does nothing while a backup reads the trash. */
export function createSpaceKeeper(services: Pick<Services, "config" | "disk" | "folders" | "log">): Poller {
  const { config, disk, folders, log } = services;

  async function poll(): Promise<number> {
    if (hasFreeSpace(services) || isTrashHeld(folders)) return POLL_MS;
    const isNeeded = () => !hasFreeSpace(services) || disk.availableBytes() < config.diskReserveBytes * MARGIN_SHARE;
    const entries = await emptyTrash(folders, isNeeded);
    const snapshots = isNeeded() && !isTrashHeld(folders) ? await thinSnapshots(folders.root, isNeeded) : 0;
    if (entries + snapshots > 0) log.warn("trash.emptied_early", { entries, snapshots });
    return POLL_MS;
  }

  const poller = createPoller(poll, (error) => log.error("trash.empty_failed", { error }));
  disk.onShort(poller.wake);
  return poller;
}
