/**
 * PUT of a whole file to a signed link, without a credential. The bytes are written as they arrive; the file becomes the asset's source when
 * all of them are on disk.
 */
import { rm, writeFile } from "node:fs/promises";
import { createFolder } from "../../blobs/folders";
import { AppError } from "../../domain/errors";
import { isUuid } from "../../lib/ids";
import { writeStream } from "../../lib/write-stream";
import type { Services } from "../../work/services";
import { claimSpace } from "../../work/storage/limits";
import { discardPut, finishUpload } from "../../work/uploads/progress";
import { recordPutActivity, requireOpenPut, reservePut } from "../../work/uploads/put";
import { requireUploadSize } from "../../work/uploads/uploads";
import { ACTIVE_IDLE_SECONDS, type Connection } from "../connection";

/** The path of the link in the dashboard family; its query is the signature. */
export const SIGNED_PUT_PATH = "/uploads/:upload_id/file";
export const getSignedPutPath = (uploadId: string): string => SIGNED_PUT_PATH.replace(":upload_id", uploadId);

/** How often a running PUT is checked: the asset may be deleted, its user disabled, or a folder offline. */
const CHECK_INTERVAL_MS = 1_000;
const RECORD_INTERVAL_MS = 60_000;
const KEEP_ALIVE_INTERVAL_MS = 1_000;
/** After this pause another request may send the file: the connection of the first one is probably dead. */
const MAX_WRITER_PAUSE_MS = 10_000;

/** A PUT that is being received. */
type PutWriter = { lastByteAt: number; stop: AbortController; ended: Promise<void> };

export type SignedPut = (request: Request, uploadId: string, connection: Connection) => Promise<Response>;

/** Creates the handler of PUT. It lets one request at a time write to an upload. Throws `AppError`. */
export function createSignedPut(services: Services): SignedPut {
  const writers = new Map<string, PutWriter>();

  /** Ends a writer that has paused, and waits for its end. */
  async function endPausedWriter(id: string): Promise<void> {
    const writer = writers.get(id);
    if (writer && services.now() - writer.lastByteAt > MAX_WRITER_PAUSE_MS) {
      writer.stop.abort(new AppError("conflict", "Another request has replaced this one."));
      await writer.ended;
    }
  }

  /** Makes this request the writer of the upload. Throws `AppError` `conflict` if another one is, as of two that waited for a paused one. */
  function claim(id: string, writer: PutWriter): void {
    if (writers.has(id)) throw new AppError("conflict", "Another request is sending to this upload.");
    writers.set(id, writer);
  }

  return async (request, uploadId, connection) => {
    const id = requireSignature(services, request, uploadId);
    await requireOpenPut(services.store.read, id);
    const announced = readContentLength(request);
    await endPausedWriter(id);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const writer: PutWriter = { lastByteAt: services.now(), stop: new AbortController(), ended };
    claim(id, writer);
    try {
      await receiveFile(services, { request, id, announced, connection, writer });
    } catch (error) {
      await discardPut(services, id).catch((failure) =>
        services.log.warn("upload.not_discarded", { asset: id, error: failure }),
      );
      await services.folders.guard.confirmOnline();
      // Its file has disappeared when the asset was deleted meanwhile.
      if (!(error instanceof AppError)) await requireOpenPut(services.store.read, id);
      throw error;
    } finally {
      writers.delete(id);
      end();
    }
    return new Response(null, { status: 204 });
  };
}

/** Returns the ID of the upload in lower case. Throws `AppError` `forbidden`, whether or not there is such an upload. */
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
  if (headers.has("content-range"))
    throw new AppError("bad_request", "Send the whole file: Content-Range is not supported.");
  const length = headers.get("content-length");
  return length === null ? null : Number(length);
}

type ReceivedPut = {
  request: Request;
  id: string;
  announced: number | null;
  connection: Connection;
  writer: PutWriter;
};

/** Receives the file and starts its preparation. Throws `AppError`, and errors of the file system. */
async function receiveFile(services: Services, put: ReceivedPut): Promise<void> {
  const { request, id, announced, connection, writer } = put;
  const { folders, store } = services;
  let reserved = 0;
  if (announced !== null) reserved = await reservePut(services, id, announced, true);
  const path = folders.upload(id);
  await folders.guard.confirmOnline();
  await createFolder(folders.uploads);
  // Another file than that of an earlier PUT, whose last write may still be running.
  await rm(path, { force: true });
  await writeFile(path, "", { flag: "wx" });

  let recordedAt = services.now();
  let keptAliveAt = recordedAt;
  const checking = setInterval(() => {
    requireOpenPut(store.read, id).catch((error) => writer.stop.abort(error));
    folders.guard.confirmOnline().catch((error) => writer.stop.abort(error));
    if (services.now() - recordedAt < RECORD_INTERVAL_MS) return;
    recordedAt = services.now();
    recordPutActivity(services, id).catch((error) =>
      services.log.warn("upload.activity_not_recorded", { asset: id, error }),
    );
  }, CHECK_INTERVAL_MS);
  const onBytes = async (received: number) => {
    const now = services.now();
    writer.lastByteAt = now;
    if (now - keptAliveAt >= KEEP_ALIVE_INTERVAL_MS) {
      // A slow sender is not idle.
      connection.setIdleTimeout(ACTIVE_IDLE_SECONDS);
      keptAliveAt = now;
    }
    if (received > reserved) reserved = await reservePut(services, id, received, false);
  };
  try {
    const chunks = readChunks(request.body, writer.stop.signal, onBytes);
    const received = await writeStream(chunks, path, 0, (bytes) => claimSpace(services, bytes));
    const isCutOff = announced === null ? request.signal.aborted : received !== announced;
    if (isCutOff) throw brokenBody();
    requireUploadSize(services, received, "Request body");
  } catch (error) {
    throw isOwnError(error) ? error : brokenBody(error);
  } finally {
    clearInterval(checking);
  }
  await finishUpload(services, await requireOpenPut(store.read, id));
}

/** Reads the body and passes each chunk's end on to `onBytes`, which may throw. Throws the signal's reason when aborted. */
async function* readChunks(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
  onBytes: (received: number) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  let received = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      received += value.byteLength;
      await onBytes(received);
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

const brokenBody = (cause?: unknown): AppError =>
  new AppError("bad_request", "Request body ended before all bytes were received. Send the file again.", { cause });

/** Returns whether the error is this server's: a refusal, or one of the file system. Others are those of the connection. */
const isOwnError = (error: unknown): boolean =>
  error instanceof AppError ||
  (error instanceof Error && "syscall" in error) ||
  (error as { code?: unknown }).code === "ENOSPC";
