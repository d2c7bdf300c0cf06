/** Fetches one file: goes on where an earlier try stopped, believes only its checksum, and is whole or not there. */
import { constants } from "node:fs";
import { open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { AppError } from "../../domain/errors";
import { hashFile } from "../../lib/hash";
import { createUpstreamError, fetchModelFile, maskUrlPassword } from "./fetch-file";

export type ModelDownload = {
  url: string;
  /** Where the whole file goes. While it is fetched it is beside it, as `.part`. */
  path: string;
  sizeBytes: number;
  sha256: string;
};

export type DownloadOptions = {
  signal?: AbortSignal;
  /** Bytes that are there so far, those of an earlier try included. */
  onBytes?: (bytes: number) => void;
  /** Tries in a row that brought nothing, before it is given up; default 6. */
  maxTries?: number;
  /** Pause after the first of them, doubled after each; default 1000. */
  backoffMs?: number;
  /** A server that sends nothing for this long is asked again; default 60000. */
  stallMs?: number;
};

type DownloadSettings = Required<Omit<DownloadOptions, "signal">> & { signal: AbortSignal };

const MAX_BACKOFF_MS = 30_000;
/** However little comes with each of them. */
const MAX_REQUESTS = 500;

/**
 * Fetches the file unless it is there already. What has come stays when it fails or is aborted, and is used the next time. Errors:
 * `AppError` `upstream_error` (the server has something else), `upstream_unavailable` (it does not answer), `storage_full`; the signal's
 * reason.
 */
export async function download(file: ModelDownload, options: DownloadOptions = {}): Promise<void> {
  const settings: DownloadSettings = {
    signal: options.signal ?? new AbortController().signal,
    onBytes: options.onBytes ?? (() => {}),
    maxTries: options.maxTries ?? 6,
    backoffMs: options.backoffMs ?? 1_000,
    stallMs: options.stallMs ?? 60_000,
  };
  if ((await getFileBytes(file.path)) === file.sizeBytes && (await hashFile(file.path)) === file.sha256) {
    settings.onBytes(file.sizeBytes);
    return;
  }
  const part = `${file.path}.part`;
  // What an earlier try left may be of another file: one wrong checksum is not the server's fault.
  let resumed = (await getFileBytes(part)) > 0;
  for (;;) {
    await fetchUntilComplete(file, part, settings);
    if ((await hashFile(part)) === file.sha256) break;
    await removePart(part);
    if (!resumed)
      throw new AppError(
        "upstream_error",
        `${maskUrlPassword(file.url)} holds another file than it should: its checksum is wrong.`,
      );
    resumed = false;
  }
  await rename(part, file.path);
  await rm(getEtagPath(part), { force: true });
}

/** Asks again and again until the part has the whole length. */
async function fetchUntilComplete(file: ModelDownload, part: string, settings: DownloadSettings): Promise<void> {
  let failures = 0;
  for (let request = 1; ; request++) {
    const before = await getFileBytes(part);
    settings.onBytes(before);
    if (before === file.sizeBytes) return;
    try {
      await fetchRest(file, part, before, settings);
      if ((await getFileBytes(part)) === file.sizeBytes) return;
      throw new Error("the connection was cut off");
    } catch (error) {
      settings.signal.throwIfAborted();
      if (error instanceof AppError) throw error;
      if ((error as NodeJS.ErrnoException).code === "ENOSPC") {
        await removePart(part);
        throw new AppError("storage_full", "There is no space left on the disk.", { cause: error });
      }
      failures = (await getFileBytes(part)) > before ? 1 : failures + 1;
      if (failures >= settings.maxTries || request >= MAX_REQUESTS) {
        const reason = (error as Error).message.split(/\.\s|\n/)[0];
        const what = `${maskUrlPassword(file.url)} does not answer as it should: ${reason}.`;
        throw new AppError("upstream_unavailable", what, { cause: error });
      }
      const asked = (error as { retryAfterMs?: number }).retryAfterMs ?? 0;
      await waitBackoff(
        Math.min(MAX_BACKOFF_MS, Math.max(asked, settings.backoffMs * 2 ** (failures - 1))),
        settings.signal,
      );
    }
  }
}

/** One request, appended to the part. */
async function fetchRest(file: ModelDownload, part: string, from: number, settings: DownloadSettings): Promise<void> {
  const stall = new AbortController();
  let timer = setTimeout(() => stall.abort(new Error("nothing came for too long")), settings.stallMs);
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => stall.abort(new Error("nothing came for too long")), settings.stallMs);
  };
  const signal = AbortSignal.any([settings.signal, stall.signal]);
  try {
    const tag = from > 0 ? await readFile(getEtagPath(part), "utf8").catch(() => null) : null;
    const headers: Record<string, string> = { "accept-encoding": "identity" };
    if (from > 0) headers.range = `bytes=${from}-`;
    if (from > 0 && tag) headers["if-range"] = tag;
    // Opened before: what has come is lost when the connection breaks before it is read.
    const handle = await open(part, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      const response = await fetchModelFile(file.url, headers, signal);
      alive();
      const start = getStartOffset(response, file, from);
      let at = start;
      for await (const chunk of response.body ?? []) {
        signal.throwIfAborted();
        alive();
        if (at + chunk.length > file.sizeBytes)
          throw createUpstreamError(file.url, "sends more than the file should hold");
        if (at === 0) {
          await handle.truncate(0);
          await saveEtag(part, response.headers.get("etag"));
        }
        for (let done = 0; done < chunk.length; )
          done += (await handle.write(chunk, done, chunk.length - done, at + done)).bytesWritten;
        at += chunk.length;
        settings.onBytes(at);
      }
      await handle.sync();
    } catch (error) {
      if (error instanceof StalePartError) await removePart(part);
      throw error;
    } finally {
      await handle.close();
    }
  } finally {
    clearTimeout(timer);
    // Hangs up when the answer was not read to its end.
    stall.abort();
  }
}

/** What is here does not fit what the server has: it is thrown away. */
class StalePartError extends Error {}

/** Where the bytes of an answer belong. Throws `Stale`, or another error when it is no answer to the question. */
function getStartOffset(response: Response, file: ModelDownload, from: number): number {
  const { status, headers } = response;
  if (status === 416) throw new StalePartError("the server's file is shorter than what is here");
  if (status === 206) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get("content-range") ?? "");
    const total = range?.[2] === "*" ? file.sizeBytes : Number(range?.[2]);
    if (Number(range?.[1]) === from && total === file.sizeBytes) return from;
    throw new StalePartError("the server sends another part than it was asked for");
  }
  const length = headers.get("content-length");
  if (status === 200 && (length === null || Number(length) === file.sizeBytes)) return 0;
  throw createUpstreamError(file.url, `holds ${length ?? "?"} bytes and should hold ${file.sizeBytes}`);
}

/** The validator for `If-Range`; a weak one does not tell bytes apart. */
const saveEtag = (part: string, tag: string | null): Promise<void> =>
  tag === null || tag.startsWith("W/") ? rm(getEtagPath(part), { force: true }) : writeFile(getEtagPath(part), tag);

const getEtagPath = (part: string): string => `${part}.tag`;

const getFileBytes = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

async function removePart(part: string): Promise<void> {
  await rm(part, { force: true });
  await rm(getEtagPath(part), { force: true });
}

function waitBackoff(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
