/** Where the TUS server keeps its uploads: the bytes in a file each, what is known of them in the asset's row. */
import { mkdir, writeFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { FileStore } from "@tus/file-store";
import { Upload } from "@tus/server";
import { getAsset } from "../../store/assets";
import type { Services } from "../../work/services";
import { sizeOf } from "../../work/uploads";
import { writeStream } from "./write-stream";

/** A file store whose configuration is the `assets` table. */
export class AssetUploadStore extends FileStore {
  constructor(private readonly services: Services) {
    super({ directory: services.folders.uploads, configstore: rowsAsConfig(services) });
    // What is really offered: creation is POST /v1/assets, and lengths are always announced.
    this.extensions = ["creation", "termination", "expiration"];
  }

  override async getUpload(id: string): Promise<Upload> {
    const { folders, store } = this.services;
    const path = folders.upload(id);
    // Made on first use: the row is committed before there is a file, and a crash may come between the two. A complete upload's
    // file has moved on while its row has not: that one must not begin anew.
    const isNew = (await sizeOf(path)) === null && (await sizeOf(folders.media(id).source)) === null;
    if (isNew && (await getAsset(store.read, id))?.state === "pending_upload") {
      await mkdir(folders.uploads, { recursive: true });
      await writeFile(path, "", { flag: "a" });
    }
    return super.getUpload(id);
  }

  override async write(readable: Readable, id: string, offset: number): Promise<number> {
    return offset + (await writeStream(readable, this.services.folders.upload(id), offset));
  }
}

function rowsAsConfig(services: Services) {
  return {
    get: async (id: string): Promise<Upload | undefined> => {
      const asset = await getAsset(services.store.read, id);
      if (asset?.state !== "pending_upload") return undefined;
      return new Upload({
        id,
        offset: 0,
        size: asset.upload_length,
        creation_date: new Date(asset.created_at).toISOString(),
      });
    },
    set: async () => {},
    delete: async () => {},
  };
}
