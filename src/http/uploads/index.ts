/**
 * The TUS surface (version 1.0.0): OPTIONS, HEAD, PATCH and DELETE on a transfer URL. The protocol's own work is the TUS server's;
 * who may call, what a finished upload answers and how errors look is decided here.
 */
import { EVENTS, Server } from "@tus/server";
import { AppError, type HttpCode } from "../../domain/errors";
import { isUuid } from "../../lib/ids";
import { type Asset, findAsset, getAsset } from "../../store/assets";
import type { User } from "../../store/users";
import { removeAsset } from "../../work/deletion";
import type { Services } from "../../work/services";
import { requireFreeSpace } from "../../work/storage";
import { findFileSize, finishUpload, getUploadExpiry, isUploadExpired, recordUploadProgress } from "../../work/uploads";
import { ACTIVE_IDLE_SECONDS, type Connection } from "../connection";
import { isStorageFull, storageFullError } from "../errors";
import { AssetUploadStore, type AuthorizedUpload, TUS_EXTENSIONS } from "./asset-upload-store";
import { createLibraryRequest, UPLOADS_PATH } from "./library-request";
import { createLocker } from "./locker";

const TUS_VERSION = "1.0.0";
/** The status by which the TUS server says that the storage is full. */
const STORAGE_FULL = 503;

/** `authorize` throws when the caller's key is not valid any more. */
type UploadCaller = { user: User; connection: Connection; authorize(): Promise<unknown> };

/** How often the key of a PATCH under way is looked at: it may go on for hours. */
const AUTHORIZE_INTERVAL_MS = 500;

export type UploadSurface = {
  /** What is offered, to anybody. */
  options(): Response;
  /** Runs `method` on the upload `id` for its caller. Errors: the contract's. */
  handle(request: Request, method: UploadMethod, caller: UploadCaller, id: string): Promise<Response>;
};

const UPLOAD_METHODS = ["HEAD", "PATCH", "DELETE"] as const;
export type UploadMethod = (typeof UPLOAD_METHODS)[number];

/**
 * Returns the method that is meant: a client that cannot send PATCH or DELETE sends POST and names the method in `X-HTTP-Method-Override`.
 * Errors: `not_found` for a POST that names none of the three.
 */
export function parseUploadMethod(request: Request): UploadMethod {
  const named = request.method === "POST" ? request.headers.get("x-http-method-override")?.trim() : request.method;
  const method = UPLOAD_METHODS.find((known) => known === named?.toUpperCase());
  if (!method) throw new AppError("not_found", "Path not found.");
  return method;
}

/** What the protocol wants on a refusal: its version, and with a 412 the versions that are spoken here. */
export const createTusErrorHeaders = (status: number): Record<string, string> => ({
  "Tus-Resumable": TUS_VERSION,
  ...(status === 412 ? { "Tus-Version": TUS_VERSION } : {}),
});

/** The transfer URLs of a server. */
export function createUploadSurface(services: Services): UploadSurface {
  const locker = createLocker();

  /** A library of one upload: it knows no other, whatever the request says. */
  function createTusServer(authorized: AuthorizedUpload, connection: Connection): Server {
    const tus = new Server({
      path: UPLOADS_PATH,
      datastore: new AssetUploadStore(services, authorized),
      locker,
      maxSize: services.config.maxUploadBytes,
      allowedOrigins: [],
      getFileIdFromRequest: () => authorized.id,
      // Asked here, because the streams in between may pass the write's error on before the store can.
      onResponseError: (_, error) => (isStorageFull(error) ? { status_code: STORAGE_FULL, body: "" } : undefined),
    });
    tus.on(EVENTS.POST_RECEIVE, (_stream: unknown, upload: { id: string; offset: number }) => {
      // A slow sender is not an idle one.
      connection.setIdleTimeout(ACTIVE_IDLE_SECONDS);
      void getAsset(services.store.read, upload.id)
        .then((asset) => asset && recordUploadProgress(services, asset, upload.offset))
        .catch((error) => services.log.warn("bytes could not be noted", { asset: upload.id, error }));
    });
    return tus;
  }

  /** Lets the library answer for the upload of `asset`; its errors become the contract's. */
  async function delegate(
    request: Request,
    method: "HEAD" | "PATCH",
    asset: Asset,
    connection: Connection,
    beforeWrite: () => void = () => {},
  ): Promise<Response> {
    const tus = createTusServer({ userId: asset.user_id, id: asset.id, beforeWrite }, connection);
    return toContractResponse(await tus.handleWeb(createLibraryRequest(request, method, asset.id)), request.signal);
  }

  async function patch(request: Request, asset: Asset, { connection, authorize }: UploadCaller): Promise<Response> {
    requireOffsetBody(request);
    if (asset.state !== "pending_upload") return respondToFinishedUpload(request, asset);
    requireFreeSpace(services);
    const { signal } = request;
    const noted = () => recordReceivedBytes(services, asset);
    signal.addEventListener("abort", noted, { once: true });
    let refusal: { error: unknown } | null = null;
    const authorizing = setInterval(() => {
      authorize().catch((error) => {
        if (error instanceof AppError) refusal = { error };
      });
    }, AUTHORIZE_INTERVAL_MS);
    const throwRefusal = () => {
      if (refusal) throw refusal.error;
    };
    try {
      const answer = await delegate(request, "PATCH", asset, connection, throwRefusal).catch((error) => {
        // The library has made an answer of its own out of it.
        throwRefusal();
        throw error;
      });
      const offset = Number(answer.headers.get("upload-offset"));
      if (offset === asset.upload_length) await finishUpload(services, asset);
      else await recordUploadProgress(services, asset, offset);
      answer.headers.set(
        "Upload-Expires",
        new Date(services.now() + getUploadExpiry(asset) - asset.upload_active_at).toUTCString(),
      );
      return answer;
    } finally {
      clearInterval(authorizing);
      signal.removeEventListener("abort", noted);
    }
  }

  async function head(request: Request, asset: Asset, { connection }: UploadCaller): Promise<Response> {
    if (asset.state !== "pending_upload") {
      const length = String(asset.upload_length);
      return tusResponse(200, { "Upload-Offset": length, "Upload-Length": length, "Cache-Control": "no-store" });
    }
    const answer = await delegate(request, "HEAD", asset, connection);
    answer.headers.set("Upload-Expires", new Date(getUploadExpiry(asset)).toUTCString());
    if (asset.upload_metadata) answer.headers.set("Upload-Metadata", asset.upload_metadata);
    return answer;
  }

  return {
    options: () =>
      tusResponse(204, {
        "Tus-Version": TUS_VERSION,
        "Tus-Extension": TUS_EXTENSIONS.join(","),
        "Tus-Max-Size": String(services.config.maxUploadBytes),
      }),
    handle: async (request, method, caller, named) => {
      const { user, connection } = caller;
      if (request.headers.get("tus-resumable") !== TUS_VERSION) {
        throw new AppError("precondition_failed", `Send the header Tus-Resumable: ${TUS_VERSION}.`);
      }
      const id = named.toLowerCase();
      const found = isUuid(id) ? await findAsset(services.store.read, user.id, id) : null;
      const asset = found && !isUploadExpired(found, services.now()) ? found : null;
      if (method === "DELETE") {
        // Asked twice, for someone else's, or after the end: nothing to do, and nothing to tell.
        if (asset?.state === "pending_upload") {
          const tus = createTusServer({ userId: user.id, id: asset.id }, connection);
          await tus.handleWeb(createLibraryRequest(request, "DELETE", asset.id)).catch(() => {});
          await removeAsset(services, asset.id);
        }
        return tusResponse(204, {});
      }
      if (!asset) throw new AppError("not_found", "There is no such upload.");
      const answer = method === "HEAD" ? head : patch;
      return answer(request, asset, caller).catch(async (error) => {
        // Another call may have finished the upload meanwhile: then that is what this one is told.
        const current = asset.state === "pending_upload" ? await getAsset(services.store.read, id) : null;
        if (!current || current.state === "pending_upload") throw error;
        return answer(request, current, caller);
      });
    },
  };
}

const tusResponse = (status: number, headers: Record<string, string>): Response =>
  new Response(null, { status, headers: { "Tus-Resumable": TUS_VERSION, ...headers } });

function requireOffsetBody(request: Request): void {
  if (request.headers.get("content-type") !== "application/offset+octet-stream") {
    throw new AppError("unsupported_media_type", "Send the bytes as application/offset+octet-stream.");
  }
  if (!/^\d{1,15}$/.test(request.headers.get("upload-offset") ?? "")) {
    throw new AppError("bad_request", "Send the header Upload-Offset with the offset of the first byte.");
  }
}

/** A PATCH of an upload that is complete: an empty one at its end repeats the last answer, anything else does not fit. */
function respondToFinishedUpload(request: Request, asset: Asset): Response {
  const offset = Number(request.headers.get("upload-offset"));
  if (offset !== asset.upload_length)
    throw new AppError("conflict", `The upload is at ${asset.upload_length}, not at ${offset}.`);
  if (Number(request.headers.get("content-length") ?? 0) > 0) {
    throw new AppError("payload_too_large", "The upload is complete: no more bytes fit.");
  }
  return tusResponse(204, { "Upload-Offset": String(asset.upload_length) });
}

/** A client that went away in the middle: what has arrived counts as activity. */
function recordReceivedBytes(services: Services, asset: Asset): void {
  void findFileSize(services.folders.upload(asset.id))
    .then((size) => (size ? recordUploadProgress(services, asset, size) : undefined))
    .catch((error) => services.log.warn("bytes could not be noted", { asset: asset.id, error }));
}

/** Which origins may call is decided for all of the server, not by the TUS server for its part. */
function withoutCors(answer: Response): Response {
  for (const name of [...answer.headers.keys()]) if (name.startsWith("access-control-")) answer.headers.delete(name);
  return answer;
}

const ERROR_CODES: Record<number, HttpCode> = {
  400: "bad_request",
  404: "not_found",
  409: "conflict",
  410: "not_found",
  412: "precondition_failed",
  413: "payload_too_large",
  415: "unsupported_media_type",
  // An extension of the protocol that is not offered here.
  501: "bad_request",
};

/** Where the TUS server's own words say little. */
const ERROR_MESSAGES: Record<number, string> = {
  409: "Upload-Offset is not the offset of the upload: send HEAD and resume from there.",
  413: "Request body exceeds the length of the upload.",
};

/** The library's answer to a request with this signal. Throws its errors as the contract's. */
async function toContractResponse(answer: Response, signal: AbortSignal): Promise<Response> {
  if (answer.status < 400) return withoutCors(answer);
  if (answer.status === STORAGE_FULL) throw storageFullError();
  const said = (await answer.text()).trim();
  // Nobody reads this answer; what has arrived is kept, and HEAD tells how much it is.
  if (signal.aborted)
    throw new AppError("bad_request", "Request body ended before Content-Length bytes were received.");
  const code = ERROR_CODES[answer.status];
  if (!code) throw new Error(`the TUS server answered ${answer.status}: ${said}`);
  throw new AppError(code, ERROR_MESSAGES[answer.status] ?? (said || "Request does not follow TUS 1.0.0."));
}
