/** Calls the TUS library with what was authorized and parsed, and converts its answers. */
import { ERRORS, type Lock, Server } from "@tus/server";
import { AppError, notFound } from "../../domain/errors";
import { isStorageFull } from "../../lib/storage-full";
import type { Services } from "../../work/services";
import { requireOffset, tooLongError, type UploadSession } from "../../work/uploads/session";
import { brokenBodyError } from "../read-chunks";
import { AssetUploadStore, type AuthorizedUpload } from "./asset-upload-store";
import { OFFSET_TYPE, TUS_VERSION } from "./protocol-headers";

/** The library builds no link from these, so they are the same for every family. */
const ORIGIN = "http://offcut";
const UPLOADS_PATH = "/uploads";

/**
 * Runs a request on the authorized upload. The library takes an upload's ID from the end of the whole URL, query included, and some headers change
 * what a request does, so it gets neither. Throws `AppError`, and errors of the disk.
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
    // The library's message for another offset than that of the upload does not name it.
    if (failure === ERRORS.INVALID_OFFSET && transfer !== null)
      requireOffset(transfer.offset, await session.readOffset());
    throw toAppError(failure, response.status, signal);
  }
  // `cors.ts` sets the CORS headers of the whole server.
  response.headers.delete("access-control-expose-headers");
  return response;
}

/**
 * Returns a lock for the library. Its own locker polls without pause while a request waits and keeps the memory of every poll until the wait ends:
 * a few requests took a gigabyte.
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
