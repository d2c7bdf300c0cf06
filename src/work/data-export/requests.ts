/** Requests for data exports, the notifications that report their state, and the removal of their archives. */

import type { SignedLinks } from "../../blobs/signed-links";
import { discard } from "../../blobs/trash";
import type { NotificationPayloads } from "../../domain/notifications";
import { findFileSize } from "../../lib/file-size";
import { newId } from "../../lib/ids";
import {
  type DataExport,
  findDataExport,
  insertDataExport,
  listReadyExports,
  updateDataExport,
} from "../../store/data-exports";
import type { Queries } from "../../store/db";
import { findNotification, type StoredNotification } from "../../store/notifications";
import type { CoreNeeds } from "../needs";
import { notify, updateExportNotification } from "../notifications/notifications";
import { requireStorage } from "../storage/limits";

type ExportPayload = NotificationPayloads["data_export_ready"];

const toIsoTime = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

const toPayload = (row: Omit<DataExport, "id" | "user_id" | "notification_id" | "failures">): ExportPayload => ({
  status: row.state,
  requested_at: new Date(row.requested_at).toISOString(),
  has_media: row.has_media,
  finished_at: toIsoTime(row.finished_at),
  expires_at: toIsoTime(row.expires_at),
  size_bytes: row.size_bytes,
  error_message: row.error_message,
});

/**
 * Requests an export of everything that belongs to a user, and returns its notification: the existing one while an
 * export is pending. Throws `upstream_unavailable` while a folder is offline or the free space is below the reserve.
 */
export async function requestDataExport(
  services: CoreNeeds,
  tx: Queries,
  request: { userId: string; hasMedia: boolean },
): Promise<StoredNotification> {
  const { userId, hasMedia } = request;
  const pending = await findDataExport(tx, userId, "pending");
  if (pending) return (await findNotification(tx, userId, pending.notification_id))!;
  requireStorage(services);
  const now = services.now();
  const row = {
    id: newId(),
    user_id: userId,
    state: "pending" as const,
    has_media: hasMedia,
    requested_at: now,
    finished_at: null,
    expires_at: null,
    size_bytes: null,
    error_message: null,
  };
  const notification = await notify(tx, {
    userId,
    workspaceId: null,
    type: "data_export_ready",
    payload: toPayload(row),
    cause: row.id,
    now,
  });
  if (!notification) throw new Error(`no notification for the data export of user ${userId}`);
  await insertDataExport(tx, { ...row, notification_id: notification.id });
  return notification;
}

/** Returns the bytes written by the user's pending export; null without one or before the first byte. */
export async function readWrittenBytes({ folders, store }: CoreNeeds, userId: string): Promise<number | null> {
  const pending = await findDataExport(store.read, userId, "pending");
  if (pending === null) return null;
  return findFileSize(folders.exportPart(pending.id)).catch(() => null);
}

/** Changes an export in state `from` and its notification. Returns null if it does not exist or its state differs. */
export async function changeDataExport(
  tx: Queries,
  id: string,
  from: "pending" | "ready",
  change: Partial<DataExport>,
): Promise<DataExport | null> {
  const row = await updateDataExport(tx, id, from, change);
  if (!row) return null;
  await updateExportNotification(tx, { id: row.notification_id, user_id: row.user_id }, toPayload(row));
  return row;
}

/**
 * Returns the download links of a user's exports by the ID of their notification. Only the latest export can be
 * downloaded, until it expires. A link is valid for 15 minutes.
 */
export async function createExportLinks({ links, now, store }: CoreNeeds & { links: SignedLinks }, userId: string) {
  const ready = await findDataExport(store.read, userId, "ready");
  if (!ready || !isDownloadable(ready, now())) return new Map();
  return new Map([[ready.notification_id, links.sign({ kind: "exports", id: ready.id, what: "archive" }, now())]]);
}

export const isDownloadable = ({ state, expires_at: expiry }: DataExport, now: number): boolean =>
  state === "ready" && expiry !== null && expiry > now;

/** Expires these exports, and removes their archives. */
export async function expireExports({ folders, store }: CoreNeeds, rows: DataExport[]): Promise<void> {
  if (rows.length === 0) return;
  await folders.guard.confirmOnline();
  for (const { id } of rows) await store.write((tx) => changeDataExport(tx, id, "ready", { state: "expired" }));
  const archives = rows.map(({ id }) => folders.exportArchive(id));
  await discard(folders, archives);
}

/** Expires exports whose archive does not exist, as after a backup without the archives was restored. */
export async function expireLostExports(services: CoreNeeds): Promise<void> {
  const lost: DataExport[] = [];
  for (const row of await listReadyExports(services.store.read)) {
    if (!(await Bun.file(services.folders.exportArchive(row.id)).exists())) lost.push(row);
  }
  await expireExports(services, lost);
}

/** Removes a user's archive. A running export removes its own if the user no longer exists. */
export async function removeArchive({ folders, store }: CoreNeeds, userId: string): Promise<void> {
  const ready = await findDataExport(store.read, userId, "ready");
  if (ready) await discard(folders, [folders.exportArchive(ready.id)]);
}
