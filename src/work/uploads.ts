/** Creates uploads, records their progress, and starts the preparation of complete ones. */
import { mkdir, rename, stat } from "node:fs/promises";
import { basename } from "node:path";
import { AppError } from "../domain/errors";
import { flushFile } from "../lib/atomic-file";
import { newId } from "../lib/ids";
import { sniffMedia } from "../media/probing/sniff";
import {
  type Asset,
  countOpenUploads,
  hasUnpaidAssets,
  insertAsset,
  listOpenUploads,
  type NewAsset,
  updateAsset,
  updateAssetInState,
} from "../store/assets";
import { readBalance } from "../store/credits";
import type { Queries } from "../store/db";
import { findProject, touchProject } from "../store/projects";
import type { Actor } from "./access";
import { type DeletionServices, removeAsset } from "./deletion";
import { startPipeline } from "./pipeline";
import type { Services } from "./services";
import { requireFreeSpace, requireQuota } from "./storage-limits";

export const MIN_UPLOAD_BYTES = 64;
const MAX_UPLOAD_IDLE_MS = 7 * 24 * 3600 * 1000;
const MAX_EMPTY_UPLOAD_MS = 3600 * 1000;

/** Returns when the upload expires unless it receives more bytes, in milliseconds since 1970. */
export const getUploadExpiry = (asset: Asset): number => asset.upload_active_at + MAX_UPLOAD_IDLE_MS;
/** Returns the time of the last received byte after which an upload has not expired. */
export const getUploadActivityCutoff = (now: number): number => now - MAX_UPLOAD_IDLE_MS;
export const isUploadExpired = (asset: Asset, now: number): boolean =>
  asset.state === "pending_upload" && getUploadExpiry(asset) < now;

/** The `Upload-Metadata` header, as the client sent it and parsed. */
export type UploadMetadata = { header: string | null; filename: string | null; externalId: string | null };

/**
 * Parses a TUS `Upload-Metadata` header (`key base64value,…`). The file name is reduced to its last path component. Errors: `bad_request` for
 * a value that is not base64 or an `external_id` that is too long.
 */
export function parseUploadMetadata(header: string | null): UploadMetadata {
  const values = new Map<string, string>();
  for (const pair of (header ?? "")
    .split(",")
    .map((p) => p.trim())
    .filter(Boolean)) {
    const [key = "", value = "", ...more] = pair.split(/\s+/);
    if (more.length > 0 || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) {
      throw new AppError("bad_request", "Upload-Metadata must be a list of keys with base64 values.");
    }
    values.set(key, Buffer.from(value, "base64").toString("utf8"));
  }
  const externalId = values.get("external_id") || null;
  if (externalId && ([...externalId].length > 256 || /\p{Cc}/u.test(externalId))) {
    throw new AppError("bad_request", "external_id must have at most 256 characters and no control characters.");
  }
  return { header, filename: toSafeBasename(values.get("filename") ?? ""), externalId };
}

/** Control characters, line separators, and direction marks, which can disguise a file extension. */
const UNSAFE_IN_NAMES = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Returns the last component of a path of any operating system, without control characters; null when nothing is left. */
export function toSafeBasename(name: string): string | null {
  const clean = basename(name.replaceAll("\\", "/").replace(UNSAFE_IN_NAMES, "")).trim();
  if (!clean || clean === "." || clean === "..") return null;
  // Split by code points, so that no surrogate pair is cut in half.
  return [...clean].slice(0, 255).join("");
}

export type UploadParams = Actor & {
  projectId: string;
  sizeBytes: number;
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
  if (request.sizeBytes < MIN_UPLOAD_BYTES) {
    throw new AppError("bad_request", `size_bytes must be at least ${MIN_UPLOAD_BYTES}.`);
  }
  if (request.sizeBytes > config.maxUploadBytes) {
    throw new AppError("payload_too_large", `size_bytes must be at most ${config.maxUploadBytes}.`);
  }
  const now = services.now();
  const project = await findProject(tx, request.workspaceId, request.projectId);
  if (!project) throw new AppError("not_found", "Project not found.");
  if (project.state === "archived") throw new AppError("conflict", "Project is archived and accepts no new assets.");
  if (
    (await countOpenUploads(tx, request.workspaceId, getUploadActivityCutoff(now), now - MAX_EMPTY_UPLOAD_MS)) >=
    config.maxUploads
  ) {
    throw new AppError(
      "conflict",
      `Limit of ${config.maxUploads} unfinished uploads reached. Finish or cancel one first.`,
    );
  }
  await requireQuota(services, tx, request.workspaceId, request.sizeBytes);
  if ((await readBalance(tx, request.workspaceId)) <= 0) {
    throw new AppError("insufficient_credits", "No credits left. Add credits before uploading.");
  }
  if (await hasUnpaidAssets(tx, request.workspaceId)) {
    throw new AppError(
      "insufficient_credits",
      "Credits do not cover an asset that was uploaded earlier. Add credits or delete it.",
    );
  }
  requireFreeSpace(services);
  const asset: NewAsset = {
    id: newId(),
    workspace_id: request.workspaceId,
    project_id: project.id,
    kind: "source",
    state: "pending_upload",
    upload_length: request.sizeBytes,
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
  services: Pick<Services, "folders" | "now" | "runner" | "store">,
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
  const finished = await services.store.write(async (tx) => {
    const moved = await updateAssetInState(tx, asset.id, "pending_upload", {
      state: "processing",
      upload_active_at: now,
      ...sniffed,
    });
    if (!moved) return false;
    await startPipeline(tx, {
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
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** Starts the preparation of uploads that were complete when the server stopped, and removes expired ones. */
export async function recoverUploads(services: DeletionServices): Promise<void> {
  for (const asset of await listOpenUploads(services.store.read)) {
    if (isUploadExpired(asset, services.now())) {
      await removeAsset(services, asset.id, "sweep");
      continue;
    }
    const size =
      (await findFileSize(services.folders.media(asset.id).source)) ??
      (await findFileSize(services.folders.upload(asset.id)));
    if (size === asset.upload_length) await finishUpload(services, asset);
    else if (size !== null && size > 0 && asset.upload_active_at === asset.created_at) {
      await services.store.write((tx) => updateAsset(tx, asset.id, { upload_active_at: services.now() }));
    }
  }
}

/** Returns the size of a file in bytes; null when it is missing. */
export async function findFileSize(path: string): Promise<number | null> {
  return stat(path).then(
    (s) => s.size,
    () => null,
  );
}
