/**
 * Calls the TUS library with authorized and parsed requests, and converts its responses. In its file store, the bytes
 * are in a file that the upload's session writes, and everything else is in the asset's row.
 */

import { writeFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { type Configstore, FileStore } from "@tus/file-store";
import { type DataStore, ERRORS, type Lock, Server, Upload } from "@tus/server";
import { createFolder } from "../../blobs/folders";
import { moveToTrash } from "../../blobs/trash";
import { AppError, notFound } from "../../domain/errors";
import { isStorageFull } from "../../domain/storage-full";
import { findFileSize } from "../../lib/file-size";
import { findAsset } from "../../store/assets";
import type { Services } from "../../work/services";
import { requireOffset, tooLongError, type UploadPart, type UploadSession } from "../../work/uploads/session";
import { brokenBodyError } from "../read-chunks";
import { OFFSET_TYPE, TUS_VERSION } from "./protocol-headers";

/** The library builds no link from these, so they are the same for every family. */
const ORIGIN = "http://offcut";
const UPLOADS_PATH = "/uploads";

/**
 * Runs a request on the authorized upload. The library takes an upload's ID from the end of the whole URL, query
 * included, and some headers change what a request does, so it gets neither. Throws `AppError`, and errors of the disk.
 */
export async function callTusLibrary(
  services: Services,
  method: "HEAD" | "PATCH" | "DELETE",
  { body, signal }: Pick<Request, "body" | "signal">,
  authorized: AuthorizedUpload,
): Promise<Response> {
  const { id, session, transfer } = authorized;
  let failure: unknown = null;
  const tus = new Server({
    path: UPLOADS_PATH,
    datastore: new AssetUploadStore(services, authorized),
    locker: { newLock: () => createLock(session) },
    allowedOrigins: [],
    getFileIdFromRequest: () => id,
    onResponseError: (_, error) => {
      failure = error;
      return undefined;
    },
  });
  const headers = new Headers({ "Tus-Resumable": TUS_VERSION });
  if (transfer !== null) {
    headers.set("Content-Type", OFFSET_TYPE);
    headers.set("Upload-Offset", String(transfer.offset));
  }
  const url = `${ORIGIN}${UPLOADS_PATH}/${id}`;
  const response = await tus.handleWeb(new Request(url, { method, headers, signal, body: transfer && body }));
  if (response.status >= 400) {
    // The library's message for a wrong offset does not contain the upload's offset.
    if (failure === ERRORS.INVALID_OFFSET && transfer !== null)
      requireOffset(transfer.offset, await session.readOffset());
    throw toAppError(failure, response.status, signal);
  }
  // `cors.ts` sets the CORS headers of the whole server.
  response.headers.delete("access-control-expose-headers");
  return response;
}

/**
 * Returns a lock for the library. Its own locker polls without pause while a request waits and keeps the memory of
 * every poll until the wait ends: a few requests took a gigabyte.
 */
function createLock(session: UploadSession): Lock {
  let release = () => {};
  return {
    lock: async (signal, requestRelease) => {
      const ask = () => {
        void requestRelease();
        return true;
      };
      release = await session.acquire(ask, signal);
    },
    unlock: async () => release(),
  };
}

/** Returns the error of the library's error response. */
function toAppError(failure: unknown, status: number, { aborted }: AbortSignal): unknown {
  // The client has disconnected. The received bytes are kept, and HEAD returns their number.
  if (aborted) return brokenBodyError(failure);
  if (failure instanceof AppError || isStorageFull(failure)) return failure;
  if (status === 404 || status === 410) return notFound("Upload");
  if (status === 413) return tooLongError();
  // The stream of the body ended with an error, or the request had to release the lock.
  if (status === 400) return brokenBodyError(failure);
  return failure ?? new Error(`TUS library responded with ${status}`);
}

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

/**
 * Creates the reader of the authorized upload's row. Uploads with other IDs, of other workspaces, and complete ones do
 * not exist in it.
 */
function createRowReader({ folders, store }: Services, { workspaceId, id: own }: AuthorizedUpload): Configstore {
  return {
    get: async (id) => {
      const asset = id === own ? await findAsset(store.read, workspaceId, own) : null;
      if (asset?.state !== "pending_upload") return undefined;
      const path = folders.upload(own);
      // The file is created on first use, because a crash may come between the commit of the row and the file. If the
      // file of a complete upload was moved but its row not yet updated, the upload must not start again.
      if ((await findFileSize(path)) === null && (await findFileSize(folders.media(own).source)) === null) {
        // Otherwise, every upload would start over while the folder is offline.
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
