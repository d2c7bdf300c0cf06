/** Creates uploads, records their progress, and starts the preparation of complete ones. */
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { moveToTrash } from "../blobs/trash";
import { AppError } from "../domain/errors";
import type { AssetKind } from "../domain/states";
import { flushFile } from "../lib/atomic-file";
import { newId } from "../lib/ids";
import { sniffMedia } from "../media/probing/sniff";
import {
  type Asset,
  countOpenUploads,
  getAsset,
  hasUnpaidAssets,
  insertAsset,
  listOpenUploads,
  MAX_PUT_PAUSE_MS,
  type NewAsset,
  type UploadCutoff,
  updateAsset,
  updateAssetInState,
} from "../store/assets";
import { readBalance } from "../store/credits";
import type { Queries } from "../store/db";
import { findActiveProjectByName, findProject, insertProject, type Project, touchProject } from "../store/projects";
import type { Actor } from "./access";
import { type DeletionServices, removeAsset } from "./deletion";
import { startPipeline } from "./pipelines";
import type { Services } from "./services";
import { requireFreeSpace, requireQuota } from "./storage-limits";
import type { UploadMetadata } from "./upload-metadata";

export const MIN_UPLOAD_BYTES = 64;
const MAX_UPLOAD_IDLE_MS = 7 * 24 * 3600 * 1000;
const MAX_EMPTY_UPLOAD_MS = 3600 * 1000;

/** Returns when the upload expires unless it receives more bytes, in milliseconds since 1970. A PUT that is running may outlast its link. */
export const getUploadExpiry = ({ put_until, upload_active_at }: Asset): number =>
  put_until === null ? upload_active_at + MAX_UPLOAD_IDLE_MS : Math.max(put_until, upload_active_at + MAX_PUT_PAUSE_MS);
/** Returns the times by which the store tells which uploads have expired. */
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
 * Creates an upload and its asset. Errors, in this order: `bad_request` (too small), `payload_too_large`, `not_found` (project),
 * `conflict` (archived project, too many uploads, quota), `insufficient_credits`, `upstream_unavailable` (free space).
 */
export async function createUpload(
  services: Pick<Services, "config" | "disk" | "now">,
  tx: Queries,
  request: UploadParams,
): Promise<Asset> {
  const { config } = services;
  if (request.sizeBytes !== null) requireUploadSize(services, request.sizeBytes, "size_bytes");
  const now = services.now();
  const project =
    request.projectId === null
      ? await openInbox(tx, request, now)
      : await findProject(tx, request.workspaceId, request.projectId);
  if (!project) throw new AppError("not_found", "Project not found.");
  if (project.state === "archived") throw new AppError("conflict", "Project is archived and accepts no new assets.");
  if (
    (await countOpenUploads(tx, request.workspaceId, getUploadCutoff(now), now - MAX_EMPTY_UPLOAD_MS)) >=
    config.maxUploads
  ) {
    throw new AppError(
      "conflict",
      `Limit of ${config.maxUploads} unfinished uploads reached. Finish or cancel one first.`,
    );
  }
  await requireQuota(services, tx, request.workspaceId, request.sizeBytes ?? MIN_UPLOAD_BYTES);
  if (request.kind === "source") await requireCredits(tx, request.workspaceId);
  requireFreeSpace(services);
  const asset: NewAsset = {
    id: newId(),
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
    language: request.language,
    payment: "none",
    created_by: request.userId,
    created_at: now,
  };
  await touchProject(tx, project.id, now);
  return insertAsset(tx, asset);
}

/** Throws `AppError` `bad_request` or `payload_too_large` unless an upload may have this size. `name`: where the client sent it. */
export function requireUploadSize({ config }: Pick<Services, "config">, bytes: number, name: string): void {
  if (bytes < MIN_UPLOAD_BYTES) throw new AppError("bad_request", `${name} must be at least ${MIN_UPLOAD_BYTES}.`);
  if (bytes > config.maxUploadBytes)
    throw new AppError("payload_too_large", `${name} must be at most ${config.maxUploadBytes}.`);
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

/** Returns the workspace's project for uploads that name none. Creates it on first use, and again when it was renamed, archived or deleted. */
async function openInbox(tx: Queries, { workspaceId, userId }: Actor, now: number): Promise<Project> {
  const found = await findActiveProjectByName(tx, workspaceId, INBOX_NAME);
  if (found) return found;
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
 * Records the length of an upload that was created without one. Does nothing when it is known already. Errors: `bad_request`,
 * `payload_too_large`, `conflict` (quota), `upstream_unavailable` (free space).
 */
export async function declareUploadLength(
  services: Pick<Services, "config" | "disk" | "store">,
  assetId: string,
  bytes: number,
): Promise<Asset | null> {
  requireUploadSize(services, bytes, "Upload-Length");
  return services.store.write(async (tx) => {
    const asset = await getAsset(tx, assetId);
    if (!asset?.is_length_deferred) return asset;
    await requireQuota(services, tx, asset.workspace_id, bytes);
    requireFreeSpace(services);
    return updateAssetInState(tx, asset.id, "pending_upload", { upload_length: bytes, is_length_deferred: false });
  });
}

/** The first bytes of a file, from which its format is detected. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Records that bytes were received, and the detected format once enough bytes are there. */
export async function recordUploadProgress(
  services: Pick<Services, "folders" | "now" | "store">,
  asset: Asset,
  received: number,
): Promise<void> {
  if (received === 0) return;
  const change: Partial<NewAsset> = { upload_active_at: Math.max(services.now(), asset.created_at + 1) };
  if (!asset.demuxer) Object.assign(change, await sniffUpload(services, asset));
  await services.store.write((tx) => updateAssetInState(tx, asset.id, "pending_upload", change));
}

async function sniffUpload(services: Pick<Services, "folders">, asset: Asset): Promise<Partial<NewAsset>> {
  // Text, which the preparation checks.
  if (asset.kind === "cut_file") return {};
  const head = await readHead(services.folders.upload(asset.id));
  const sniffed = head ? await sniffMedia(head) : null;
  return sniffed
    ? { type: sniffed.type, extension: sniffed.extension, content_type: sniffed.contentType, demuxer: sniffed.demuxer }
    : {};
}

async function readHead(path: string): Promise<Uint8Array | null> {
  const file = Bun.file(path);
  return (await file.exists()) ? new Uint8Array(await file.slice(0, MAX_HEAD_BYTES).arrayBuffer()) : null;
}

/**
 * Starts the preparation of a complete upload. Idempotent, also after a crash: the file is moved before the state changes, and
 * `recoverUploads` finds files that were moved without a change of state.
 */
export async function finishUpload(
  services: Pick<Services, "config" | "folders" | "now" | "runner" | "store">,
  asset: Asset,
): Promise<void> {
  const { folders } = services;
  const upload = folders.upload(asset.id);
  const media = folders.media(asset.id);
  const sniffed = asset.demuxer ? {} : await sniffUpload(services, asset);
  await mkdir(media.dir, { recursive: true });
  await flushFile(upload).catch(ignoreMissing);
  await rename(upload, media.source).catch(ignoreMissing);
  const now = services.now();
  // The length of a PUT is that of what arrived.
  const length = asset.put_until === null ? asset.upload_length : await findFileSize(media.source);
  const finished = await services.store.write(async (tx) => {
    const moved = await updateAssetInState(tx, asset.id, "pending_upload", {
      state: "processing",
      upload_active_at: now,
      upload_length: length ?? asset.upload_length,
      put_until: null,
      ...sniffed,
    });
    if (!moved) return false;
    await startPipeline(services, tx, {
      workspaceId: moved.workspace_id,
      userId: moved.created_by,
      assetId: moved.id,
      name: "prepare",
      subjectId: moved.id,
      now,
    });
    await touchProject(tx, asset.project_id, now);
    return true;
  });
  if (finished) services.runner.wake();
  // Deleted while its last bytes were moved.
  else if ((await getAsset(services.store.read, asset.id)) === null) await moveToTrash(folders, [media.dir]);
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/**
 * Starts the preparation of uploads that were complete when the server stopped, and removes expired ones. `isStart`: no request is writing
 * to an upload.
 */
export async function recoverUploads(
  services: DeletionServices & Pick<Services, "config">,
  isStart: boolean,
): Promise<void> {
  for (const asset of await listOpenUploads(services.store.read)) {
    const moved = await findFileSize(services.folders.media(asset.id).source);
    const isWritten = !isStart && asset.upload_active_at + MAX_PUT_PAUSE_MS > services.now();
    if (asset.put_until !== null && (isWritten || moved !== null)) {
      if (!isWritten) await finishUpload(services, asset);
      continue;
    }
    if (isUploadExpired(asset, services.now())) {
      await removeAsset(services, asset.id, "sweep");
      continue;
    }
    if (asset.put_until !== null) {
      // A file that was not moved is not known to be complete: the client sends it again.
      await discardPut(services, asset.id);
      continue;
    }
    const size = moved ?? (await findFileSize(services.folders.upload(asset.id)));
    if (size === asset.upload_length && !asset.is_length_deferred) await finishUpload(services, asset);
    else if (size !== null && size > 0 && asset.upload_active_at === asset.created_at) {
      await services.store.write((tx) => updateAsset(tx, asset.id, { upload_active_at: services.now() }));
    }
  }
}

/** Removes what a PUT has written, and returns its bytes to the quota. */
export async function discardPut(services: Pick<Services, "folders" | "store">, assetId: string): Promise<void> {
  await rm(services.folders.upload(assetId), { force: true });
  await services.store.write(async (tx) => {
    const asset = await getAsset(tx, assetId);
    if (asset && asset.put_until !== null && asset.upload_length > 0)
      await updateAssetInState(tx, assetId, "pending_upload", { upload_length: 0 });
  });
}

/** Returns the size of a file in bytes; null when it is missing. */
export async function findFileSize(path: string): Promise<number | null> {
  return stat(path).then(
    (s) => s.size,
    () => null,
  );
}
