/**
 * PUT of a whole file to a signed link, without a credential. The bytes are written as they arrive; the file becomes
 * the asset's source when all of them are on disk.
 */
import { createFolder } from "../../blobs/folders";
import { AppError, badRequest, conflict } from "../../domain/errors";
import { isUuid } from "../../lib/ids";
import type { Services } from "../../work/services";
import { discardPut, finishUpload } from "../../work/uploads/progress";
import { recordPutActivity, requireOpenPut, reservePut } from "../../work/uploads/put";
import { createUploadSessions, type UploadSession } from "../../work/uploads/session";
import { requireUploadSize } from "../../work/uploads/uploads";
import { ACTIVE_IDLE_SECONDS, type Connection } from "../client";
import { brokenBodyError, readChunks } from "../read-chunks";

/** The path of the link in the dashboard family; its query is the signature. */
export const SIGNED_PUT_PATH = "/uploads/:upload_id/file";
export const getSignedPutPath = (uploadId: string): string => SIGNED_PUT_PATH.replace(":upload_id", uploadId);

const RECORD_INTERVAL_MS = 60_000;
/** After this pause, another request may send the file: the connection of the first one is probably dead. */
const MAX_WRITER_PAUSE_MS = 10_000;

export type SignedPut = (request: Request, uploadId: string, connection: Connection) => Promise<Response>;

/** Creates the handler of PUT. It lets one request at a time write to an upload. Throws `AppError`. */
export function createSignedPut(services: Services): SignedPut {
  const sessions = createUploadSessions(services);

  /** Ends the PUT that is received when it has paused. Returns false for one that is sending. */
  const endPaused = (session: UploadSession): boolean => {
    const lastByteAt = session.findLastByteTime();
    if (lastByteAt === null || services.now() - lastByteAt <= MAX_WRITER_PAUSE_MS) return false;
    return session.stop(conflict("Another request has replaced this one."));
  };

  return async (request, uploadId, connection) => {
    const id = requireSignature(services, request, uploadId);
    await requireOpenPut(services.store.read, id);
    const announced = readContentLength(request);
    await sessions.use(id, async (session) => {
      const release = await session.acquire(() => endPaused(session));
      try {
        await receiveFile(services, { request, id, announced, connection, session });
      } catch (error) {
        await discardPut(services, id).catch((failure) =>
          services.log.warn("upload.not_discarded", { asset: id, error: failure }),
        );
        await services.folders.guard.confirmOnline();
        // Its file has disappeared when the asset was deleted in the meantime.
        if (!(error instanceof AppError)) await requireOpenPut(services.store.read, id);
        throw error;
      } finally {
        release();
      }
    });
    return new Response(null, { status: 204 });
  };
}

/** Returns the ID of the upload in lower case. Throws `AppError` `forbidden`, even if the upload does not exist. */
function requireSignature({ links, now }: Services, request: Request, uploadId: string): string {
  const { searchParams } = new URL(request.url);
  const id = uploadId.toLowerCase();
  const [expires, signature] = [searchParams.get("expires"), searchParams.get("signature")];
  const cause = isUuid(id) ? links.findUploadProblem(id, expires, signature, now()) : "malformed";
  if (cause === null) return id;
  throw new AppError("forbidden", "Upload link is invalid or has expired.", { cause });
}

/** Returns the announced length in bytes, null for a body in chunks. Throws `AppError` `bad_request`. */
function readContentLength({ headers }: Request): number | null {
  if (headers.has("content-range")) throw badRequest("Send the whole file: Content-Range is not supported.");
  const length = headers.get("content-length");
  return length === null ? null : Number(length);
}

type ReceivedPut = {
  request: Request;
  id: string;
  announced: number | null;
  connection: Connection;
  session: UploadSession;
};

/** Receives the file and starts its preparation. Throws `AppError`, and errors of the file system. */
async function receiveFile(services: Services, put: ReceivedPut): Promise<void> {
  const { request, id, announced, connection, session } = put;
  const { folders, store } = services;
  let reserved = 0;
  if (announced !== null) reserved = await reservePut(services, id, announced, true);
  await folders.guard.confirmOnline();
  await createFolder(folders.uploads);
  await session.restart();

  let recordedAt = services.now();
  const received = await session.receive({
    offset: 0,
    length: services.config.maxUploadBytes,
    announced,
    chunks: (signal) => readChunks(request.body, signal),
    reserve: async (bytes) => {
      if (bytes > reserved) reserved = await reservePut(services, id, bytes, false);
    },
    // The asset may be deleted, or its user disabled.
    authorize: () => requireOpenPut(store.read, id),
    onProgress: () => {
      // A slow sender is not idle.
      connection.setIdleTimeout(ACTIVE_IDLE_SECONDS);
      if (services.now() - recordedAt < RECORD_INTERVAL_MS) return;
      recordedAt = services.now();
      recordPutActivity(services, id).catch((error) =>
        services.log.warn("upload.activity_not_recorded", { asset: id, error }),
      );
    },
  });
  const isCutOff = announced === null ? request.signal.aborted : received !== announced;
  if (isCutOff) throw brokenBodyError();
  requireUploadSize(services, received, "Request body");
  await finishUpload(services, await requireOpenPut(store.read, id));
}
