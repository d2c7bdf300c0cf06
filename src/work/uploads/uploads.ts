import { AppError, badRequest, conflict, notFound } from "../../domain/errors";
import type { AssetKind } from "../../domain/states";
import { newId } from "../../lib/ids";
import {
  type Asset,
  countOpenUploads,
  findAssetById,
  hasUnpaidAssets,
  insertAsset,
  MAX_PUT_PAUSE_MS,
  type NewAsset,
  type UploadCutoff,
  updateAssetInState,
} from "../../store/assets";
import { readBalance } from "../../store/credits";
import type { Queries } from "../../store/db";
import { findActiveProjectByName, findProject, insertProject, type Project, touchProject } from "../../store/projects";
import { readStorageUsed } from "../../store/storage";
import type { Actor } from "../access/access";
import { readBillingMode } from "../billing/prices";
import { planCut } from "../cuts/planned-cuts";
import type { CoreNeeds } from "../needs";
import { readStorageQuota, requireQuota, requireRoomForProject, requireStorage } from "../storage/limits";
import type { UploadMetadata } from "./metadata";

export const MIN_UPLOAD_BYTES = 64;
const MAX_UPLOAD_IDLE_MS = 7 * 24 * 3600 * 1000;
const MAX_EMPTY_UPLOAD_MS = 3600 * 1000;

/**
 * Returns when the upload expires unless it receives more bytes, in milliseconds since 1970. A PUT that is running may
 * outlast its link.
 */
export const getUploadExpiry = ({ put_until, upload_active_at }: Asset): number =>
  put_until === null ? upload_active_at + MAX_UPLOAD_IDLE_MS : Math.max(put_until, upload_active_at + MAX_PUT_PAUSE_MS);
export const getUploadCutoff = (now: number): UploadCutoff => ({ activeSince: now - MAX_UPLOAD_IDLE_MS, now });
export const isUploadExpired = (asset: Asset, now: number): boolean =>
  asset.state === "pending_upload" && getUploadExpiry(asset) < now;

export type UploadParams = Actor & {
  kind: AssetKind;
  /** Null: the workspace's project "Inbox". */
  projectId: string | null;
  /** Null: not known yet. */
  sizeBytes: number | null;
  /** Until when the signed link accepts the file; null for an upload in parts. */
  putUntil: number | null;
  language: string | null;
  metadata: UploadMetadata;
};

/**
 * Creates an upload and its asset. Errors, in this order: `bad_request` (too small), `payload_too_large`, `not_found`
 * (project), `conflict` (archived project, too many uploads, quota), `insufficient_credits`, `upstream_unavailable`
 * (storage).
 */
export async function createUpload(services: CoreNeeds, tx: Queries, request: UploadParams): Promise<Asset> {
  const { config } = services;
  if (request.sizeBytes !== null) requireUploadSize(services, request.sizeBytes, "size_bytes");
  const now = services.now();
  const project =
    request.projectId === null
      ? await openInbox(tx, request, now)
      : await findProject(tx, request.workspaceId, request.projectId);
  if (!project) throw notFound("Project");
  if (project.state === "archived") throw conflict("Project is archived and accepts no new assets.");
  if (
    (await countOpenUploads(tx, request.workspaceId, getUploadCutoff(now), now - MAX_EMPTY_UPLOAD_MS)) >=
    config.maxUploads
  ) {
    throw conflict(`Limit of ${config.maxUploads} unfinished uploads reached. Finish or cancel one first.`);
  }
  await requireQuota(services, tx, request.workspaceId, request.sizeBytes ?? MIN_UPLOAD_BYTES);
  if (request.kind === "source" && (await readBillingMode(config, tx)) === "on")
    await requireCredits(tx, request.workspaceId);
  requireStorage(services);
  const asset: NewAsset = {
    workspace_id: request.workspaceId,
    project_id: project.id,
    kind: request.kind,
    state: "pending_upload",
    upload_length: request.sizeBytes ?? 0,
    is_length_deferred: request.sizeBytes === null && request.putUntil === null,
    put_until: request.putUntil,
    upload_active_at: now,
    upload_metadata: request.metadata.header,
    filename: request.metadata.filename,
    external_id: request.metadata.externalId,
    language: request.language ?? project.cut_language,
    payment: "none",
    created_by: request.userId,
    created_at: now,
  };
  await touchProject(tx, project.id, now);
  const inserted = await insertAsset(tx, asset);
  if (project.cut_mode !== null && inserted.kind === "source")
    await planCut(services, tx, request, inserted, { mode: project.cut_mode, script: "" });
  return inserted;
}

/**
 * Throws `AppError` `bad_request` or `payload_too_large` unless an upload may have this size. `name`: where the client
 * sent it.
 */
export function requireUploadSize({ config }: CoreNeeds, bytes: number, name: string): void {
  if (bytes < MIN_UPLOAD_BYTES) throw badRequest(`${name} must be at least ${MIN_UPLOAD_BYTES}.`);
  if (bytes > config.maxUploadBytes)
    throw new AppError("payload_too_large", `${name} must be at most ${config.maxUploadBytes}.`);
}

/**
 * Returns the size of the largest file, and the bytes for which the disk and the workspace's quota have room. Throws
 * `AppError` `upstream_unavailable` while a folder is offline.
 */
export async function readUploadLimits(services: CoreNeeds, workspaceId: string) {
  const { config, disk, folders, store } = services;
  folders.guard.requireOnline();
  const quota = await readStorageQuota(services, store.read, workspaceId);
  const left = quota === null ? Number.MAX_SAFE_INTEGER : quota - (await readStorageUsed(store.read, workspaceId));
  return { maxBytes: config.maxUploadBytes, freeBytes: Math.max(0, Math.min(left, disk.availableBytes())) };
}

async function requireCredits(tx: Queries, workspaceId: string): Promise<void> {
  if ((await readBalance(tx, workspaceId)) <= 0) {
    throw new AppError("insufficient_credits", "No credits left. Add credits before uploading.");
  }
  if (await hasUnpaidAssets(tx, workspaceId)) {
    throw new AppError(
      "insufficient_credits",
      "Credits do not cover an asset that was uploaded earlier. Add credits or delete it.",
    );
  }
}

const INBOX_NAME = "Inbox";

/**
 * Returns the workspace's project for uploads that name none. Creates it on first use, and again when it was renamed,
 * archived or deleted.
 */
async function openInbox(tx: Queries, { workspaceId, userId }: Actor, now: number): Promise<Project> {
  const found = await findActiveProjectByName(tx, workspaceId, INBOX_NAME);
  if (found) return found;
  await requireRoomForProject(tx, workspaceId);
  return insertProject(tx, {
    id: newId(),
    workspace_id: workspaceId,
    created_by: userId,
    name: INBOX_NAME,
    state: "active",
    archived_at: null,
    created_at: now,
    updated_at: now,
    last_activity_at: now,
  });
}

/**
 * Records the length of an upload that was created without one. Does nothing when it is known already. Errors:
 * `bad_request`, `payload_too_large`, `conflict` (quota), `upstream_unavailable` (storage).
 */
export async function declareUploadLength(services: CoreNeeds, assetId: string, bytes: number): Promise<Asset | null> {
  requireUploadSize(services, bytes, "Upload-Length");
  return services.store.write(async (tx) => {
    const asset = await findAssetById(tx, assetId);
    if (!asset?.is_length_deferred) return asset;
    await requireQuota(services, tx, asset.workspace_id, bytes);
    requireStorage(services);
    return updateAssetInState(tx, asset.id, "pending_upload", { upload_length: bytes, is_length_deferred: false });
  });
}
