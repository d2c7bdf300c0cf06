/**
 * Uploads through a signed link: one PUT sends the whole file, without a credential. The file is complete or absent, so
 * a PUT that breaks is sent again from its start. The bytes count towards the quota as they arrive.
 */
import { AppError, conflict, notFound, requireFound } from "../../domain/errors";
import { type Asset, findAssetById, updateAssetInState } from "../../store/assets";
import type { Queries } from "../../store/db";
import { readStorageUsed } from "../../store/storage";
import { findUserById } from "../../store/users";
import { isWorkspaceDisabled } from "../../store/workspaces";
import { requireWriter } from "../access/access";
import type { CoreNeeds } from "../needs";
import { readStorageQuota, requireQuota, requireStorage } from "../storage/limits";
import { requireUploadSize } from "./uploads";

/** Time within which a PUT to the link must start. */
const PUT_LINK_MS = 24 * 3600 * 1000;

/** Returns when a link that is created at `now` expires: a whole second, as its query has it. */
export const getPutExpiry = (now: number): number => Math.floor(now / 1000) * 1000 + PUT_LINK_MS;

/**
 * Returns the asset whose file may be sent now. Errors: `not_found` if it was deleted; `conflict` if its file has
 * arrived; `forbidden` if the user who requested the link may no longer upload.
 */
export async function requireOpenPut(db: Queries, assetId: string): Promise<Asset> {
  const asset = requireFound(await findAssetById(db, assetId), "Upload");
  const user = asset.created_by === null ? null : await findUserById(db, asset.created_by);
  if (!user || (await isWorkspaceDisabled(db, asset.workspace_id))) throw revokedLink();
  await requireWriter(db, user, asset.workspace_id);
  if (asset.state !== "pending_upload") throw conflict("Upload is already complete.");
  if (asset.put_until === null) throw notFound("Upload");
  return asset;
}

const revokedLink = () => new AppError("forbidden", "Upload link was revoked with the account that created it.");

/** A body without a length reserves this much at a time, so that not every chunk is a transaction. */
const RESERVED_BYTES = 64 * 1024 ** 2;

/**
 * Reserves room for a body of `bytes`, or of at least that many when its length is unknown, and returns how many bytes
 * are reserved. The reservation counts towards the quota like the length of any unfinished upload. Errors:
 * `payload_too_large`, `conflict` (quota), `not_found`, `upstream_unavailable` (storage).
 */
export async function reservePut(services: CoreNeeds, assetId: string, bytes: number, isExact: boolean) {
  const { maxUploadBytes } = services.config;
  requireUploadSize(services, Math.max(bytes, isExact ? 0 : 64), "Request body");
  requireStorage(services);
  return services.store.write(async (tx) => {
    const asset = await findAssetById(tx, assetId);
    if (!asset || asset.put_until === null) throw notFound("Upload");
    const more = bytes - asset.upload_length;
    await requireQuota(services, tx, asset.workspace_id, more);
    const quota = await readStorageQuota(services, tx, asset.workspace_id);
    const room = quota === null ? RESERVED_BYTES : quota - (await readStorageUsed(tx, asset.workspace_id)) - more;
    const ahead = isExact ? 0 : Math.min(RESERVED_BYTES, room, maxUploadBytes - bytes);
    const reserved = bytes + ahead;
    await updateAssetInState(tx, assetId, "pending_upload", {
      upload_length: reserved,
      upload_active_at: Math.max(services.now(), asset.created_at + 1),
    });
    return reserved;
  });
}

/** Records that the PUT is running, so that it does not expire. */
export async function recordPutActivity(services: CoreNeeds, assetId: string): Promise<void> {
  await services.store.write((tx) =>
    updateAssetInState(tx, assetId, "pending_upload", { upload_active_at: services.now() }),
  );
}
