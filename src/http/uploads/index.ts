/**
 * The TUS surface (version 1.0.0): OPTIONS, HEAD, PATCH and DELETE on a transfer URL. The TUS library implements the
 * protocol; this file implements authorization, responses of finished uploads, and errors.
 */
import { parseByteCount } from "../../domain/bytes";
import { AppError, badRequest, conflict, notFound, requireFound } from "../../domain/errors";
import { succeeds } from "../../lib/error-codes";
import { findFileSize } from "../../lib/file-size";
import { isUuid } from "../../lib/ids";
import { type Asset, findAsset, findAssetById } from "../../store/assets";
import { removeAsset } from "../../work/assets/deletion";
import type { Services } from "../../work/services";
import { requireStorage } from "../../work/storage/limits";
import { finishUpload, recordUploadProgress } from "../../work/uploads/progress";
import { createUploadSessions, requireOffset } from "../../work/uploads/session";
import { declareUploadLength, getUploadExpiry, isUploadExpired } from "../../work/uploads/uploads";
import { withHeaders } from "../call";
import { ACTIVE_IDLE_SECONDS, type Connection } from "../client";
import {
  CREATION_EXTENSIONS,
  OFFSET_TYPE,
  parseUploadLength,
  parseUploadOffset,
  TUS_EXTENSIONS,
  TUS_VERSION,
} from "./protocol-headers";
import { callTusLibrary, type Transfer } from "./tus-library";

/** `authorize` throws if the caller's credential is no longer valid. */
type UploadCaller = { workspaceId: string; connection: Connection; authorize(): Promise<unknown> };

export const UPLOAD_METHODS = ["HEAD", "PATCH", "DELETE"] as const;
export type UploadMethod = (typeof UPLOAD_METHODS)[number];

/**
 * Returns the method of an upload request. A client that cannot send PATCH or DELETE sends another method, such as
 * POST, with the header `X-HTTP-Method-Override`. HEAD stays HEAD, because it is authorized as a method that changes
 * nothing. Throws `AppError` `not_found` for a method that uploads do not have.
 */
export function parseUploadMethod({ headers, method: sent }: Request): UploadMethod {
  const named = (sent !== "HEAD" && headers.get("x-http-method-override")?.trim()) || sent;
  const method = UPLOAD_METHODS.find((known) => known === named.toUpperCase());
  if (!method) throw notFound("Path");
  return method;
}

/** Creates the surface. One is shared by all families, because its locks belong to it. */
export function createUploadSurface(services: Services) {
  const sessions = createUploadSessions(services);

  /** Passes the request to the library. Throws `AppError`, and errors of the disk. */
  const delegate = (
    request: Request,
    method: "HEAD" | "PATCH" | "DELETE",
    { id, workspace_id: workspaceId }: Asset,
    transfer: Transfer | null = null,
  ): Promise<Response> =>
    sessions.use(id, (session) => callTusLibrary(services, method, request, { workspaceId, id, session, transfer }));

  async function patch(request: Request, found: Asset, { connection, authorize }: UploadCaller): Promise<Response> {
    if (request.headers.get("content-type") !== OFFSET_TYPE)
      throw new AppError("unsupported_media_type", `Send the bytes as ${OFFSET_TYPE}.`);
    const start = parseUploadOffset(request.headers);
    if (found.state !== "pending_upload") return respondToFinishedUpload(request, found, start);
    requireStorage(services);
    const asset = found.is_length_deferred ? await declareLength(request, found, start) : found;
    const response = await delegate(request, "PATCH", asset, {
      offset: start,
      announced: parseByteCount(request.headers.get("content-length")),
      authorize,
      onProgress: (offset) => {
        // A slow sender is not idle.
        connection.setIdleTimeout(ACTIVE_IDLE_SECONDS);
        void findAssetById(services.store.read, asset.id)
          .then((current) => current && recordUploadProgress(services, current, offset))
          .catch((error) => services.log.warn("upload.activity_not_recorded", { asset: asset.id, error }));
      },
    });
    const offset = Number(response.headers.get("upload-offset"));
    if (offset === asset.upload_length) await finishUpload(services, asset);
    else await recordUploadProgress(services, asset, offset);
    return withHeaders(response, { "Upload-Expires": formatExpiry({ ...asset, upload_active_at: services.now() }) });
  }

  /** Records the length that the first PATCH of an upload carries. Throws `AppError`. */
  async function declareLength(request: Request, asset: Asset, offset: number): Promise<Asset> {
    requireOffset(offset, 0);
    const length = parseUploadLength(request.headers);
    if (length === null)
      throw badRequest("Upload was created without a length: send Upload-Length with the first PATCH.");
    const declared = requireFound(await declareUploadLength(services, asset.id, length), "Upload");
    return declared;
  }

  async function head(request: Request, asset: Asset): Promise<Response> {
    const expiry = { "Upload-Expires": formatExpiry(asset) };
    const headers = asset.upload_metadata ? { ...expiry, "Upload-Metadata": asset.upload_metadata } : expiry;
    if (asset.state !== "pending_upload") {
      const length = String(asset.upload_length);
      const position = { "Upload-Offset": length, "Upload-Length": length };
      return tusResponse(200, { ...headers, ...position, "Cache-Control": "no-store" });
    }
    const response = await delegate(request, "HEAD", asset);
    // The last request may have ended before it finished the upload, and the client sends nothing after it.
    if (response.headers.get("upload-offset") === response.headers.get("upload-length"))
      await finishUpload(services, asset);
    return withHeaders(response, headers);
  }

  return {
    /**
     * Responds with the supported protocol version and extensions. Needs no authentication. `canCreate`: uploads are
     * created through the protocol too.
     */
    options: (canCreate: boolean) =>
      tusResponse(204, {
        "Tus-Version": TUS_VERSION,
        "Tus-Extension": canCreate ? CREATION_EXTENSIONS : TUS_EXTENSIONS,
        "Tus-Max-Size": String(services.config.maxUploadBytes),
      }),
    /** Runs `method` on an upload. Throws `AppError`. */
    handle: async (request: Request, method: UploadMethod, caller: UploadCaller, named: string): Promise<Response> => {
      if (request.headers.get("tus-resumable") !== TUS_VERSION) {
        throw new AppError("precondition_failed", `Send the header Tus-Resumable: ${TUS_VERSION}.`);
      }
      const id = named.toLowerCase();
      const found = isUuid(id) ? await findAsset(services.store.read, caller.workspaceId, id) : null;
      // The file of a signed link is sent with a PUT, not in parts.
      const isTus = found !== null && found.put_until === null;
      const asset = isTus && !isUploadExpired(found, services.now()) ? found : null;
      if (method === "DELETE") {
        // 204 also for a repeated request, another workspace's upload and a finished one.
        if (asset?.state === "pending_upload") {
          await services.folders.guard.confirmOnline();
          const isRemoved = await succeeds(delegate(request, "DELETE", asset));
          // Another request may have finished the upload while this one waited.
          const isOpen = async () => (await findAssetById(services.store.read, asset.id))?.state === "pending_upload";
          if (isRemoved || (await isOpen())) await removeAsset(services, asset.id);
        }
        return tusResponse(204, {});
      }
      if (!asset) throw notFound("Upload");
      if (asset.state === "pending_upload") await services.folders.guard.confirmOnline();
      const run = method === "HEAD" ? head : patch;
      return run(request, asset, caller).catch(async (error) => {
        if (asset.state === "pending_upload") await services.folders.guard.confirmOnline();
        // A request that has moved the complete file may have failed before it updated the row.
        const isMoved = (await findFileSize(services.folders.media(id).source)) !== null;
        if (asset.state === "pending_upload" && isMoved) await finishUpload(services, asset);
        const current = await findAssetById(services.store.read, id);
        if (!current) throw error instanceof AppError ? error : notFound("Upload");
        // If another request has finished the upload in the meantime, this one gets the response of a finished upload.
        if (asset.state !== "pending_upload" || current.state === "pending_upload") throw error;
        return run(request, current, caller);
      });
    },
  };
}

export type UploadSurface = ReturnType<typeof createUploadSurface>;

const tusResponse = (status: number, headers: Record<string, string>): Response =>
  new Response(null, { status, headers: { "Tus-Resumable": TUS_VERSION, ...headers } });

/** Responds to a PATCH of a complete upload: an empty one repeats the last response, any other is rejected. */
async function respondToFinishedUpload(request: Request, asset: Asset, offset: number): Promise<Response> {
  if (offset !== asset.upload_length)
    throw conflict(`Upload-Offset is ${offset} but the upload is complete at ${asset.upload_length} bytes.`);
  for await (const { byteLength } of request.body ?? [])
    if (byteLength > 0) throw new AppError("payload_too_large", "Upload is already complete: send no more bytes.");
  return tusResponse(204, { "Upload-Offset": String(offset), "Upload-Expires": formatExpiry(asset) });
}

const formatExpiry = (asset: Asset): string => new Date(getUploadExpiry(asset)).toUTCString();
