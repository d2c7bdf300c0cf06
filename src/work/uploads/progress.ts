/** Records the progress of uploads, and starts the preparation of complete ones. */
import { rm } from "node:fs/promises";
import { createFolder } from "../../blobs/folders";
import { moveToTrash } from "../../blobs/trash";
import { flushFolder } from "../../lib/atomic-file";
import { ignoreMissing, isSystemError } from "../../lib/error-codes";
import { findFileSize } from "../../lib/file-size";
import { sniffMedia } from "../../media/probing/sniff";
import {
  type Asset,
  findAssetById,
  listOpenUploads,
  MAX_PUT_PAUSE_MS,
  type NewAsset,
  updateAsset,
  updateAssetInState,
} from "../../store/assets";
import { touchProject } from "../../store/projects";
import { removeAsset } from "../assets/deletion";
import type { CoreNeeds } from "../needs";
import type { PipelineNeeds } from "../pipelines/pipelines";
import { startPipeline } from "../pipelines/pipelines";
import { moveIntoPlace } from "./session";
import { isUploadExpired } from "./uploads";

/** The first bytes of a file, from which its format is detected. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Records that bytes were received, and the detected format once enough bytes are there. */
export async function recordUploadProgress(services: CoreNeeds, asset: Asset, received: number): Promise<void> {
  if (received === 0) return;
  const change: Partial<NewAsset> = { upload_active_at: Math.max(services.now(), asset.created_at + 1) };
  if (!asset.demuxer) Object.assign(change, await sniffUpload(services, asset));
  await services.store.write((tx) => updateAssetInState(tx, asset.id, "pending_upload", change));
}

async function sniffUpload(services: CoreNeeds, asset: Asset): Promise<Partial<NewAsset>> {
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
 * Starts the preparation of a complete upload. Idempotent, also after a crash: the file is moved before the state
 * changes, and `recoverUploads` finds files that were moved without a change of state.
 */
export async function finishUpload(services: PipelineNeeds, asset: Asset): Promise<void> {
  const { folders } = services;
  const upload = folders.upload(asset.id);
  const media = folders.media(asset.id);
  const sniffed = asset.demuxer ? {} : await sniffUpload(services, asset);
  await folders.guard.confirmOnline();
  await createFolder(media.dir);
  await moveIntoPlace(upload, media.source).catch(ignoreMissing);
  // An attempt may have been killed between a rename and its flush. A folder is missing if it was deleted since.
  for (const folder of [media.dir, folders.mediaRoot]) await flushFolder(folder).catch(ignoreMissing);
  const now = services.now();
  // The length of a PUT, and one that was declared after the restored state, is the number of bytes that arrived.
  const isKnown = asset.put_until === null && !asset.is_length_deferred;
  const length = isKnown ? asset.upload_length : await findFileSize(media.source);
  await folders.guard.confirmOnline();
  const finished = await services.store.write(async (tx) => {
    const moved = await updateAssetInState(tx, asset.id, "pending_upload", {
      state: "processing",
      upload_active_at: now,
      upload_length: length ?? asset.upload_length,
      put_until: null,
      is_length_deferred: false,
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
  else if ((await findAssetById(services.store.read, asset.id)) === null) await moveToTrash(folders, [media.dir], now);
}

/**
 * Starts the preparation of uploads that were complete when the server stopped, and removes expired ones. `isStart`: no
 * request is writing to an upload.
 */
export async function recoverUploads(services: PipelineNeeds, isStart: boolean): Promise<void> {
  for (const asset of await listOpenUploads(services.store.read))
    await recoverUpload(services, asset, isStart).catch((error) => {
      // One file that cannot be read must not stop the others, nor the start.
      if (!isSystemError(error)) throw error;
      services.log.warn("upload.recover_failed", { asset: asset.id, error });
    });
}

async function recoverUpload(services: PipelineNeeds, asset: Asset, isStart: boolean): Promise<void> {
  const moved = await findFileSize(services.folders.media(asset.id).source);
  if (moved === null) await services.folders.guard.confirmOnline();
  const isWritten = !isStart && asset.upload_active_at + MAX_PUT_PAUSE_MS > services.now();
  if (asset.put_until !== null && (isWritten || moved !== null)) {
    if (!isWritten) await finishUpload(services, asset);
    return;
  }
  if (isUploadExpired(asset, services.confirmedNow())) {
    await removeAsset(services, asset.id, "sweep");
    return;
  }
  if (asset.put_until !== null) {
    // A file that was not moved is not known to be complete: the client sends it again.
    await discardPut(services, asset.id);
    return;
  }
  if (moved !== null && asset.is_length_deferred) {
    await finishUpload(services, asset);
    return;
  }
  const size = moved ?? (await findFileSize(services.folders.upload(asset.id)));
  if (size === asset.upload_length && !asset.is_length_deferred) await finishUpload(services, asset);
  else if (size !== null && size > 0 && asset.upload_active_at === asset.created_at) {
    await services.store.write((tx) => updateAsset(tx, asset.id, { upload_active_at: services.now() }));
  }
}

/**
 * Removes the file of a PUT, and returns its bytes to the quota. Throws `AppError` `upstream_unavailable` while a
 * folder is offline.
 */
export async function discardPut(services: CoreNeeds, assetId: string): Promise<void> {
  await services.folders.guard.confirmOnline();
  await rm(services.folders.upload(assetId), { force: true });
  await services.store.write(async (tx) => {
    const asset = await findAssetById(tx, assetId);
    if (asset && asset.put_until !== null && asset.upload_length > 0)
      await updateAssetInState(tx, assetId, "pending_upload", { upload_length: 0 });
  });
}
