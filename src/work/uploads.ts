/** Uploads: opening one, what is learnt from its first bytes, and handing a complete one to the preparation. */
import { mkdir, open, rename, stat } from "node:fs/promises";
import { basename } from "node:path";
import { AppError } from "../domain/errors";
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
import { type DeletionServices, removeAsset } from "./deletion";
import { startPipeline } from "./pipeline";
import type { Services } from "./services";
import { requireFreeSpace, requireQuota } from "./storage";

export const MIN_UPLOAD_BYTES = 64;
const MAX_UPLOAD_IDLE_MS = 7 * 24 * 3600 * 1000;
const MAX_EMPTY_UPLOAD_MS = 3600 * 1000;

/** When the upload is given up unless more bytes come. */
export const getUploadExpiry = (asset: Asset): number => asset.upload_active_at + MAX_UPLOAD_IDLE_MS;
/** The last byte of an upload that is not given up yet came then or later. */
export const getUploadActivityCutoff = (now: number): number => now - MAX_UPLOAD_IDLE_MS;
export const isUploadExpired = (asset: Asset, now: number): boolean =>
  asset.state === "pending_upload" && getUploadExpiry(asset) < now;

/** What the client says about its file, from the `Upload-Metadata` header. */
export type UploadMetadata = { header: string | null; filename: string | null; externalId: string | null };

/**
 * Reads a TUS `Upload-Metadata` header (`key base64value,…`). The file name is reduced to its basename, so that no client can name a path.
 * Errors: `bad_request` for a value that is not base64 or an `external_id` that is too long.
 */
export function parseUploadMetadata(header: string | null): UploadMetadata {
  const values = new Map<string, string>();
  for (const pair of (header ?? "")
    .split(",")
    .map((p) => p.trim())
    .filter(Boolean)) {
    const [key = "", value = "", ...more] = pair.split(/\s+/);
    if (more.length > 0 || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) {
      throw new AppError("bad_request", "Upload-Metadata holds pairs of a key and a base64 value.");
    }
    values.set(key, Buffer.from(value, "base64").toString("utf8"));
  }
  const externalId = values.get("external_id") || null;
  if (externalId && ([...externalId].length > 256 || /\p{Cc}/u.test(externalId))) {
    throw new AppError("bad_request", "external_id has at most 256 characters, none of them a control character.");
  }
  return { header, filename: toSafeBasename(values.get("filename") ?? ""), externalId };
}

/** Control characters, line separators, and what turns the direction of text to disguise a name. */
const UNSAFE_IN_NAMES = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** The last part of a path of any system, without control characters; null when nothing is left. */
export function toSafeBasename(name: string): string | null {
  const clean = basename(name.replaceAll("\\", "/").replace(UNSAFE_IN_NAMES, "")).trim();
  if (!clean || clean === "." || clean === "..") return null;
  // By characters, so that none is cut in half.
  return [...clean].slice(0, 255).join("");
}

export type UploadParams = {
  userId: string;
  projectId: string;
  sizeBytes: number;
  language: string | null;
  metadata: UploadMetadata;
};

/**
 * Opens an upload: makes the asset. Errors, in this order: `bad_request` (too small), `payload_too_large`, `not_found` (project),
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
  const project = await findProject(tx, request.userId, request.projectId);
  if (!project) throw new AppError("not_found", "There is no such project.");
  if (project.state === "archived") throw new AppError("conflict", "The project is archived and takes no new assets.");
  if (
    (await countOpenUploads(tx, request.userId, getUploadActivityCutoff(now), now - MAX_EMPTY_UPLOAD_MS)) >=
    config.maxUploads
  ) {
    throw new AppError(
      "conflict",
      `There are ${config.maxUploads} unfinished uploads already: finish or cancel one first.`,
    );
  }
  await requireQuota(services, tx, request.userId, request.sizeBytes);
  if ((await readBalance(tx, request.userId)) <= 0) {
    throw new AppError("insufficient_credits", "The balance is used up: add credits before uploading.");
  }
  if (await hasUnpaidAssets(tx, request.userId)) {
    throw new AppError(
      "insufficient_credits",
      "The balance does not cover an asset that was uploaded before: add credits or delete it.",
    );
  }
  requireFreeSpace(services);
  const asset: NewAsset = {
    id: newId(),
    user_id: request.userId,
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
    created_at: now,
  };
  await touchProject(tx, project.id, now);
  return insertAsset(tx, asset);
}

/** How many bytes tell what a file is. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Notes that bytes have come, and what they are once there are enough of them. */
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
 * Hands a complete upload to the preparation. Doing it twice, or after a crash half-way, is fine: the bytes move first, then the
 * state, and start-up looks for bytes that have moved while the state has not.
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
  await flush(upload);
  await rename(upload, media.source).catch(ignoreMissing);
  const now = services.now();
  const finished = await services.store.write(async (tx) => {
    const moved = await updateAssetInState(tx, asset.id, "pending_upload", {
      state: "processing",
      upload_active_at: now,
      ...sniffed,
    });
    if (!moved) return false;
    await startPipeline(tx, { userId: moved.user_id, assetId: moved.id, name: "prepare", subjectId: moved.id, now });
    await touchProject(tx, asset.project_id, now);
    return true;
  });
  if (finished) services.runner.wake();
}

/** What is acknowledged outlives a power cut: the bytes are on the disk before the row says so. */
async function flush(path: string): Promise<void> {
  const file = await open(path, "r").catch(ignoreMissing);
  if (!file) return;
  await file.sync().finally(() => file.close());
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** At start: uploads that were complete when the server stopped are handed on, expired ones are removed. */
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

/** A file's size in bytes, null when it is not there. */
export async function findFileSize(path: string): Promise<number | null> {
  return stat(path).then(
    (s) => s.size,
    () => null,
  );
}
