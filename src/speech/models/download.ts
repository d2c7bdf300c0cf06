/** Downloads one file: resumes an earlier attempt, verifies the checksum, and leaves a complete file or none. */
import { constants } from "node:fs";
import { open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { AppError } from "../../domain/errors";
import { createStorageFullError, isStorageFull } from "../../domain/storage-full";
import { writeAll } from "../../lib/file-bytes";
import { findFileSize } from "../../lib/file-size";
import { hashFile } from "../../lib/hash";
import { sleep } from "../../lib/sleep";
import { createUpstreamError, fetchModelFile, maskUrlPassword } from "./fetch-file";

export type ModelDownload = {
  url: string;
  /** The destination. The incomplete file is next to it, as `.part`. */
  path: string;
  sizeBytes: number;
  sha256: string;
};

export type DownloadOptions = {
  signal?: AbortSignal;
  /** Receives the bytes downloaded so far, including those of an earlier attempt. */
  onBytes?: (bytes: number) => void;
  /** Consecutive requests without any data after which the download fails. Default: 6. */
  maxTries?: number;
  /** The delay after the first failed request, which doubles each time. Default: 1000. */
  backoffMs?: number;
  /** The request is repeated when no data arrives for this long. Default: 60000. */
  stallMs?: number;
};

type DownloadSettings = Required<DownloadOptions>;

const DEFAULTS = { onBytes: () => {}, maxTries: 6, backoffMs: 1_000, stallMs: 60_000 };

const MAX_BACKOFF_MS = 30_000;
/** The download fails after this number of requests, even if each of them returns some data. */
const MAX_REQUESTS = 500;

/**
 * Downloads the file unless it exists. Received data is kept if the download fails or is aborted, and the next attempt
 * resumes from it. Throws `AppError` `upstream_error` (the server has a different file), `upstream_unavailable` (it
 * does not respond), `storage_full`, and the signal's reason.
 */
export async function download(file: ModelDownload, options: DownloadOptions = {}): Promise<void> {
  const settings: DownloadSettings = { ...DEFAULTS, signal: new AbortController().signal, ...options };
  if ((await getFileBytes(file.path)) === file.sizeBytes && (await hashFile(file.path)) === file.sha256) {
    settings.onBytes(file.sizeBytes);
    return;
  }
  const part = `${file.path}.part`;
  // The partial file may come from an earlier version, so the first wrong checksum may not be the server's fault.
  let resumed = (await getFileBytes(part)) > 0;
  for (;;) {
    await fetchUntilComplete(file, part, settings);
    if ((await hashFile(part)) === file.sha256) break;
    await removePart(part);
    if (!resumed)
      throw new AppError(
        "upstream_error",
        `${maskUrlPassword(file.url)} has an unexpected checksum: the server has a different file.`,
      );
    resumed = false;
  }
  await rename(part, file.path);
  await rm(getEtagPath(part), { force: true });
}

/** Repeats requests until the partial file has its full length. */
async function fetchUntilComplete(file: ModelDownload, part: string, settings: DownloadSettings): Promise<void> {
  let failures = 0;
  for (let request = 1; ; request++) {
    const before = await getFileBytes(part);
    settings.onBytes(before);
    if (before === file.sizeBytes) return;
    try {
      await fetchRest(file, part, before, settings);
      if ((await getFileBytes(part)) === file.sizeBytes) return;
      throw new Error("the connection was closed early");
    } catch (error) {
      settings.signal.throwIfAborted();
      if (error instanceof AppError) throw error;
      if (isStorageFull(error)) {
        await removePart(part);
        throw createStorageFullError(error);
      }
      failures = (await getFileBytes(part)) > before ? 1 : failures + 1;
      if (failures >= settings.maxTries || request >= MAX_REQUESTS) {
        const reason = (error as Error).message.split(/\.\s|\n/)[0];
        const what = `Cannot download ${maskUrlPassword(file.url)}: ${reason}.`;
        throw new AppError("upstream_unavailable", what, { cause: error });
      }
      const retryAfterMs = (error as { retryAfterMs?: number }).retryAfterMs ?? 0;
      await sleep(
        Math.min(MAX_BACKOFF_MS, Math.max(retryAfterMs, settings.backoffMs * 2 ** (failures - 1))),
        settings.signal,
      );
    }
  }
}

/** Sends one request and appends the response to the part. */
async function fetchRest(file: ModelDownload, part: string, from: number, settings: DownloadSettings): Promise<void> {
  const stall = new AbortController();
  const timer = setTimeout(() => stall.abort(new Error("the server stopped sending data")), settings.stallMs);
  const signal = AbortSignal.any([settings.signal, stall.signal]);
  try {
    const tag = from > 0 ? await readFile(getEtagPath(part), "utf8").catch(() => null) : null;
    const headers: Record<string, string> = { "accept-encoding": "identity" };
    if (from > 0) headers.range = `bytes=${from}-`;
    if (from > 0 && tag) headers["if-range"] = tag;
    // Opened before the request: bytes that arrive before anything reads them would be lost when the connection breaks.
    await using handle = await open(part, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      const response = await fetchModelFile(file.url, headers, signal);
      timer.refresh();
      const start = getStartOffset(response, file, from);
      let at = start;
      for await (const chunk of response.body ?? []) {
        signal.throwIfAborted();
        timer.refresh();
        if (at + chunk.length > file.sizeBytes)
          throw createUpstreamError(file.url, "sends more data than the file should have");
        if (at === 0) {
          await handle.truncate(0);
          await saveEtag(part, response.headers.get("etag"));
        }
        await writeAll(handle, chunk, at);
        at += chunk.length;
        settings.onBytes(at);
      }
      await handle.sync();
    } catch (error) {
      if (error instanceof StalePartError) await removePart(part);
      throw error;
    }
  } finally {
    clearTimeout(timer);
    // Closes the connection if the response was not read to its end.
    stall.abort();
  }
}

/** Thrown when the partial file does not match the server's file and must be discarded. */
class StalePartError extends Error {}

/**
 * Returns the offset in the file at which a response's body starts. Throws `StalePartError`, or another error for a
 * response that does not match the request.
 */
function getStartOffset(response: Response, file: ModelDownload, from: number): number {
  const { status, headers } = response;
  if (status === 416) throw new StalePartError("the server's file is shorter than the downloaded part");
  if (status === 206) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get("content-range") ?? "");
    const total = range?.[2] === "*" ? file.sizeBytes : Number(range?.[2]);
    if (Number(range?.[1]) === from && total === file.sizeBytes) return from;
    throw new StalePartError("the server sent another range than requested");
  }
  const length = headers.get("content-length");
  if (status === 200 && (length === null || Number(length) === file.sizeBytes)) return 0;
  throw createUpstreamError(file.url, `has ${length ?? "an unknown number of"} bytes, expected ${file.sizeBytes}`);
}

/** Stores the validator for `If-Range`. A weak one is dropped, because it does not identify the exact bytes. */
const saveEtag = (part: string, tag: string | null): Promise<void> =>
  tag === null || tag.startsWith("W/") ? rm(getEtagPath(part), { force: true }) : writeFile(getEtagPath(part), tag);

const getEtagPath = (part: string): string => `${part}.tag`;

const getFileBytes = async (path: string): Promise<number> => (await findFileSize(path)) ?? 0;

async function removePart(part: string): Promise<void> {
  await rm(part, { force: true });
  await rm(getEtagPath(part), { force: true });
}
