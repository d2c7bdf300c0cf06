/** The TUS library's file store: the bytes are in a file that the upload's session writes, everything else is in the asset's row. */
import { writeFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { type Configstore, FileStore } from "@tus/file-store";
import { type DataStore, ERRORS, Upload } from "@tus/server";
import { createFolder } from "../../blobs/folders";
import { moveToTrash } from "../../blobs/trash";
import { findFileSize } from "../../lib/file-size";
import { findAsset } from "../../store/assets";
import type { Services } from "../../work/services";
import type { UploadPart, UploadSession } from "../../work/uploads/session";

/** The data of a PATCH about its bytes. */
export type Transfer = Pick<UploadPart, "announced" | "authorize" | "offset" | "onProgress">;

/** The only upload that a request may access, and its owner. `transfer` is null if the request writes nothing. */
export type AuthorizedUpload = { workspaceId: string; id: string; session: UploadSession; transfer: Transfer | null };

/** The library's store with the type of its base class: TypeScript does not let a subclass replace a private method. */
const LibraryStore: new (options: { directory: string; configstore: Configstore }) => DataStore = FileStore;

/** The store of one upload for one request. For other IDs, its methods throw the library's 404. */
export class AssetUploadStore extends LibraryStore {
  constructor(
    private readonly services: Services,
    private readonly authorized: AuthorizedUpload,
  ) {
    super({ directory: services.folders.uploads, configstore: createRowReader(services, authorized) });
  }

  /** Does nothing. The library's method creates the folder in the background, and a failure would end the server. */
  checkOrCreateDirectory(): void {}

  override async create(): Promise<never> {
    throw ERRORS.FILE_NOT_FOUND;
  }

  read(): never {
    throw ERRORS.FILE_NOT_FOUND;
  }

  override async write(chunks: Readable, id: string, offset: number): Promise<number> {
    const { size } = await this.getUpload(id);
    const { session, transfer } = this.authorized;
    if (transfer === null || size === undefined) throw ERRORS.FILE_NOT_FOUND;
    return session.receive({ ...transfer, offset, length: size, chunks: () => chunks });
  }

  override async remove(id: string): Promise<void> {
    await this.getUpload(id);
    const { folders, now } = this.services;
    await moveToTrash(folders, [folders.upload(id)], now());
  }
}

/** Creates the reader of the authorized upload's row. Uploads with other IDs, of other workspaces, and complete ones do not exist in it. */
function createRowReader({ folders, store }: Services, { workspaceId, id: own }: AuthorizedUpload): Configstore {
  return {
    get: async (id) => {
      const asset = id === own ? await findAsset(store.read, workspaceId, own) : null;
      if (asset?.state !== "pending_upload") return undefined;
      const path = folders.upload(own);
      // The file is created on first use, because a crash may come between the commit of the row and the file. If the file of a complete
      // upload was moved but its row not yet updated, the upload must not start again.
      if ((await findFileSize(path)) === null && (await findFileSize(folders.media(own).source)) === null) {
        // In an offline folder, every upload would start over.
        await folders.guard.confirmOnline();
        await createFolder(folders.uploads);
        await writeFile(path, "", { flag: "a" });
      }
      // The library reads the offset from the file.
      const upload = { id: own, offset: 0 };
      return new Upload(asset.is_length_deferred ? upload : { ...upload, size: asset.upload_length });
    },
    set: async () => {
      throw ERRORS.FILE_NOT_FOUND;
    },
    delete: async () => {},
  };
}
