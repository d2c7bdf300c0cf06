/** Removes files without a row, and expired rows. */
import { parseWorkName } from "../../blobs/folders";
import { listNames, moveToTrash } from "../../blobs/trash";
import { isUuid } from "../../lib/ids";
import { findExistingAssetIds } from "../../store/assets";
import { findExportIdsWithFiles } from "../../store/data-exports";
import { deleteDeviceCodesExpiredBefore } from "../../store/device-codes";
import { deleteStoredResponsesBefore } from "../../store/idempotency";
import { deleteFinishedMailsBefore } from "../../store/mails";
import { deleteReadNotificationsBefore } from "../../store/notifications";
import { deleteExpiredTokens } from "../../store/one-time-tokens";
import { deleteRenderSharesExpiredBefore } from "../../store/render-shares";
import { findExistingRenderIds } from "../../store/renders";
import { listOpenSteps } from "../../store/steps";
import { deleteFinishedDeliveriesBefore } from "../../store/webhooks";
import { RESPONSES_KEPT_MS } from "../idempotency";
import type { CoreNeeds } from "../needs";

/** Kept for a while, so that a late poll learns that the code has expired. */
const DEVICE_CODES_KEPT_MS = 3600 * 1000;
const DELIVERIES_KEPT_MS = 30 * 24 * 3600 * 1000;
const NOTIFICATIONS_KEPT_MS = 90 * 24 * 3600 * 1000;
const MAX_DELETED_NOTIFICATIONS = 500;
const MAILS_KEPT_MS = 30 * 24 * 3600 * 1000;

/** Returns the archives of exports that do not exist, have failed or have expired. */
async function findOrphanedExports({ folders, store }: CoreNeeds): Promise<string[]> {
  const names = await listNames(folders.exportsRoot);
  const toId = (name: string) => name.replace(/\.(?:zip|part)$/, "");
  const living = await findExportIdsWithFiles(store.read, names.map(toId).filter(isUuid));
  return names.filter((name) => !living.has(toId(name))).map((name) => `${folders.exportsRoot}/${name}`);
}

/** Removes the files of deleted assets and renders, and the work folders of ended jobs. Errors: those of `moveToTrash`. */
export async function sweepOrphans(services: CoreNeeds): Promise<void> {
  const { folders, store } = services;
  const orphans = async (
    folder: string,
    alive: (ids: string[]) => Promise<Set<string>>,
    toId = (name: string): string => name,
  ) => {
    const names = await listNames(folder);
    const living = await alive(names.map(toId).filter(isUuid));
    return names.filter((name) => !living.has(toId(name))).map((name) => `${folder}/${name}`);
  };
  const assets = (ids: string[]) => findExistingAssetIds(store.read, ids);
  const paths = [
    ...(await orphans(folders.mediaRoot, assets)),
    ...(await orphans(folders.uploads, assets)),
    ...(await findOrphanedExports(services)),
    ...(await orphans(folders.rendersRoot, (ids) => findExistingRenderIds(store.read, ids))),
    ...(await orphans(
      folders.workRoot,
      async (ids) => new Set((await listOpenSteps(store.read, ids)).flatMap(({ subject_id: id }) => id ?? [])),
      parseWorkName,
    )),
  ];
  if (paths.length > 0) {
    await moveToTrash(folders, paths, services.now());
    services.log.info("orphans.removed", { count: paths.length });
  }
}

/** Deletes expired rows. */
export async function sweepExpiredRows(services: CoreNeeds): Promise<void> {
  const { store } = services;
  await store.write(async (tx) => {
    await deleteStoredResponsesBefore(tx, services.now() - RESPONSES_KEPT_MS);
    await deleteDeviceCodesExpiredBefore(tx, services.now() - DEVICE_CODES_KEPT_MS);
    await deleteFinishedDeliveriesBefore(tx, services.now() - DELIVERIES_KEPT_MS);
    await deleteFinishedMailsBefore(tx, services.now() - MAILS_KEPT_MS);
    await deleteExpiredTokens(tx, services.now());
    await deleteRenderSharesExpiredBefore(tx, services.now());
  });
  const before = services.now() - NOTIFICATIONS_KEPT_MS;
  const deleteSome = () => store.write((tx) => deleteReadNotificationsBefore(tx, before, MAX_DELETED_NOTIFICATIONS));
  while ((await deleteSome()) === MAX_DELETED_NOTIFICATIONS);
}
