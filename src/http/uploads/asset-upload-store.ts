/** Where the TUS library keeps an upload: the bytes in a file, what is known of them in the asset's row. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { DataStore, ERRORS, Upload } from "@tus/server";
import { type Asset, findAsset } from "../../store/assets";
import type { Services } from "../../work/services";
import { claimSpace } from "../../work/storage";
import { findFileSize } from "../../work/uploads";
import { writeStream } from "./write-stream";

/** Extensions of TUS that are offered. Creation is POST /v1/assets, and lengths are always announced. */
export const TUS_EXTENSIONS = ["creation", "termination", "expiration"];

/** The one upload that a request may touch, and the user whose it is. `beforeWrite` may throw to write no more. */
export type AuthorizedUpload = { userId: string; id: string; beforeWrite?: () => void };

/**
 * The store of one upload, for one request. Whatever id the library asks for, any other than the authorized one does not exist here, and
 * neither does an upload that is not the user's.
 */
export class AssetUploadStore extends DataStore {
  constructor(
    private readonly services: Services,
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
    // Made on first use: the row is committed before there is a file, and a crash may come between the two. A complete upload's
    // file has moved on while its row has not: that one must not begin anew.
    if ((await findFileSize(path)) === null && (await findFileSize(folders.media(asset.id).source)) === null) {
      await mkdir(folders.uploads, { recursive: true });
      await writeFile(path, "", { flag: "a" });
    }
    const offset = await findFileSize(path);
    if (offset === null) throw ERRORS.FILE_NO_LONGER_EXISTS;
    return new Upload({
      id: asset.id,
      offset,
      size: asset.upload_length,
      creation_date: new Date(asset.created_at).toISOString(),
    });
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

  /** The upload's asset. Throws the library's 404 for any other id than the authorized one, and when it is not the user's. */
  private async getOwn(id: string): Promise<Asset> {
    const { userId, id: own } = this.authorized;
    const asset = id === own ? await findAsset(this.services.store.read, userId, own) : null;
    if (!asset) throw ERRORS.FILE_NOT_FOUND;
    return asset;
  }
}
