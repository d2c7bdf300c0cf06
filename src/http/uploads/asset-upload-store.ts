/** The TUS library's data store: the bytes are in a file, the metadata in the asset's row. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { DataStore, ERRORS, Upload } from "@tus/server";
import { findFileSize } from "../../lib/file-size";
import { writeStream } from "../../lib/write-stream";
import { type Asset, findAsset } from "../../store/assets";
import type { Services } from "../../work/services";
import { claimSpace } from "../../work/storage-limits";

/** The TUS extension for uploads that are created without their length. */
export const DEFER_LENGTH = "creation-defer-length";

/**
 * The supported TUS extensions. An upload is created by `POST /assets`, always with its length, or by `POST /assets/upload-resumable` of the
 * dashboard family.
 */
export const TUS_EXTENSIONS = ["creation", DEFER_LENGTH, "termination", "expiration"];

/** The only upload that a request may access, and its owner. `beforeWrite` may throw to stop writing. */
export type AuthorizedUpload = { workspaceId: string; id: string; beforeWrite?: () => void };

/** The store of one upload for one request. Any other ID than the authorized one does not exist in it, nor do uploads of other workspaces. */
export class AssetUploadStore extends DataStore {
  constructor(
    private readonly services: Pick<Services, "disk" | "folders" | "store">,
    private readonly authorized: AuthorizedUpload,
  ) {
    super();
    this.extensions = TUS_EXTENSIONS;
  }

  override async getUpload(id: string): Promise<Upload> {
    const asset = await this.getOwn(id);
    if (asset.state !== "pending_upload") throw ERRORS.FILE_NOT_FOUND;
    const { folders } = this.services;
    const path = folders.upload(asset.id);
    // The file is created on first use, because a crash may come between the commit of the row and the file. If the file of a complete
    // upload was moved but its row not yet updated, the upload must not start again.
    if ((await findFileSize(path)) === null && (await findFileSize(folders.media(asset.id).source)) === null) {
      await mkdir(folders.uploads, { recursive: true });
      await writeFile(path, "", { flag: "a" });
    }
    const offset = await findFileSize(path);
    if (offset === null) throw ERRORS.FILE_NO_LONGER_EXISTS;
    const upload = { id: asset.id, offset, creation_date: new Date(asset.created_at).toISOString() };
    return new Upload(asset.is_length_deferred ? upload : { ...upload, size: asset.upload_length });
  }

  override async write(readable: Readable, id: string, offset: number): Promise<number> {
    const asset = await this.getOwn(id);
    const path = this.services.folders.upload(asset.id);
    const beforeWrite = (bytes: number) => {
      this.authorized.beforeWrite?.();
      claimSpace(this.services, bytes);
    };
    return offset + (await writeStream(readable, path, offset, beforeWrite));
  }

  override async remove(id: string): Promise<void> {
    const asset = await this.getOwn(id);
    await rm(this.services.folders.upload(asset.id), { force: true });
  }

  /** Returns the upload's asset. Throws the library's 404 for any other ID than the authorized one and for uploads of other workspaces. */
  private async getOwn(id: string): Promise<Asset> {
    const { workspaceId, id: own } = this.authorized;
    const asset = id === own ? await findAsset(this.services.store.read, workspaceId, own) : null;
    if (!asset) throw ERRORS.FILE_NOT_FOUND;
    return asset;
  }
}
