/**
 * The receiver of bytes: of uploads over TUS, of files that a signed link takes, and of those that workers send. A
 * session belongs to one file. It owns the lock, the offset, the limits, the claim of free space, the hash, and the
 * move into place.
 */
import { constants } from "node:fs";
import { lstat, open, rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { AppError, conflict } from "../../domain/errors";
import { renameDurably } from "../../lib/atomic-file";
import { findFileSize } from "../../lib/file-size";
import { hashFile } from "../../lib/hash";
import { writeStream } from "../../lib/write-stream";
import type { CoreNeeds } from "../needs";
import { claimSpace } from "../storage/limits";
import { createUploadLock } from "./upload-lock";

/** Interval at which the sender and the folders are checked while a part arrives, which may take hours. */
const AUTHORIZE_INTERVAL_MS = 500;
const PROGRESS_INTERVAL_MS = 1_000;

/** The bytes of one request. */
export type UploadPart = {
  /** The sender's offset of the part. */
  offset: number;
  /** Size of the whole file, or the largest that it may have. */
  length: number;
  /** Announced size of the part in bytes; null if unknown. */
  announced: number | null;
  /** Returns the bytes. Once the signal is aborted they end or fail, also while none arrive. */
  chunks(signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Called with the size that the file will have, before a chunk is stored. May throw to stop. */
  reserve?(bytes: number): Promise<void> | undefined;
  /** Called regularly while the part arrives. Its `AppError` stops the part. */
  authorize?(): Promise<unknown>;
  /** Called about once a second while bytes arrive, and after a part that failed. */
  onProgress?(offset: number): void;
};

/** Throws `AppError` `conflict` unless the sender continues where the file ends. */
export function requireOffset(sent: number, offset: number): void {
  if (sent === offset) return;
  throw conflict(`Upload-Offset is ${sent} but the server has ${offset} bytes: send HEAD and resume from there.`);
}

/** The error for bytes beyond the upload's length. */
export const tooLongError = (): AppError =>
  new AppError("payload_too_large", "Request body exceeds the length of the upload.");

/** A pipe does not block, and a link is an error. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Moves a file that was received to `target`, on the same file system, and flushes it and its name, so that a row which
 * refers to it can be committed. A crash leaves the file at one of the places. Throws when it is not a regular file: a
 * job's child process may be able to write to the folder.
 */
export async function moveIntoPlace(path: string, target: string): Promise<void> {
  await using file = await open(path, OPEN_FLAGS);
  if (!(await file.stat()).isFile()) throw new Error(`${basename(path)} is not a regular file`);
  await file.sync();
  await renameDurably(path, target);
  if ((await lstat(target)).isFile()) return;
  await rm(target, { recursive: true, force: true });
  throw new Error(`${basename(path)} was replaced by something other than a file`);
}

/** Creates the session of a file. `isHashed`: the file is hashed while it arrives, so that `hash` need not read it. */
export function createUploadSession(services: CoreNeeds, path: string, isHashed = false) {
  const { now, folders } = services;
  let offset = 0;
  /** The hash of the first `hashed` bytes; null when the file must be read. */
  let hasher = isHashed ? new Bun.CryptoHasher("sha256") : null;
  let hashed = 0;
  let sha256: string | null = null;
  let receiving: AbortController | null = null;
  let lastByteAt = now();

  /** Returns the number of bytes that the file has now. */
  async function readOffset(): Promise<number> {
    offset = (await findFileSize(path)) ?? 0;
    // After a failed write the hash may be ahead of the file.
    if (hashed !== offset) hasher = null;
    return offset;
  }

  const stop = (reason: AppError): boolean => {
    if (receiving === null || receiving.signal.aborted) return false;
    receiving.abort(reason);
    return true;
  };

  /** Passes the chunks on after all that must happen before they are stored. */
  async function* check(part: UploadPart, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let end = part.offset;
    let reportedAt = lastByteAt;
    for await (const chunk of part.chunks(signal)) {
      signal.throwIfAborted();
      end += chunk.byteLength;
      lastByteAt = now();
      if (end > part.length) throw tooLongError();
      await part.reserve?.(end);
      hasher?.update(chunk);
      hashed = end;
      if (part.onProgress && lastByteAt - reportedAt >= PROGRESS_INTERVAL_MS) {
        reportedAt = lastByteAt;
        part.onProgress(end);
      }
      yield chunk;
    }
  }

  /**
   * Appends a part and returns the offset after it; the caller holds the lock. Bytes that arrived before a failure are
   * kept. Errors: `AppError` `conflict` for another offset, `payload_too_large`, `upstream_unavailable` (a folder is
   * offline); those of the part and of the file system.
   */
  async function receive(part: UploadPart): Promise<number> {
    const controller = new AbortController();
    const { signal } = controller;
    receiving = controller;
    lastByteAt = now();
    sha256 = null;
    const authorizing = setInterval(() => {
      Promise.all([part.authorize?.(), folders.guard.confirmOnline()]).catch((error) => {
        if (error instanceof AppError) stop(error);
      });
    }, AUTHORIZE_INTERVAL_MS);
    try {
      const start = await readOffset();
      requireOffset(part.offset, start);
      if (start + (part.announced ?? 0) > part.length) throw tooLongError();
      const written = await writeStream(check(part, signal), path, start, (bytes) => {
        signal.throwIfAborted();
        claimSpace(services, bytes);
      });
      offset = start + written;
      return offset;
    } catch (error) {
      const reached = await readOffset();
      part.onProgress?.(reached);
      throw error;
    } finally {
      clearInterval(authorizing);
      receiving = null;
    }
  }

  return {
    ...createUploadLock(),
    path,
    /** The number of bytes that the file had after the last part. */
    offset: () => offset,
    readOffset,
    /** Creates an empty file, also in place of one to which an earlier request may still be writing. */
    restart: async () => {
      await rm(path, { force: true });
      await writeFile(path, "", { flag: "wx" });
      offset = hashed = 0;
      hasher = isHashed ? new Bun.CryptoHasher("sha256") : null;
    },
    receive,
    /** Returns the time of the last byte of the part that is being received; null when none is. */
    findLastByteTime: () => (receiving === null ? null : lastByteAt),
    /** Ends the part that is being received with this error. Returns false when none is, or when it ends already. */
    stop,
    hash: async () => {
      sha256 ??= hasher?.digest("hex") ?? (await hashFile(path));
      hasher = null;
      return sha256;
    },
    /** Moves the file as `moveIntoPlace` does. */
    moveTo: (target: string) => moveIntoPlace(path, target),
  };
}

export type UploadSession = ReturnType<typeof createUploadSession>;

/**
 * Creates the sessions of uploads. They exist while requests use them: everything that lasts is in the file and in the
 * asset's row.
 */
export function createUploadSessions(services: CoreNeeds) {
  const open = new Map<string, { session: UploadSession; users: number }>();
  return {
    /** Runs `work` with the session of an upload. All that run at the same time for an upload have the same. */
    use: async <T>(uploadId: string, work: (session: UploadSession) => Promise<T>) => {
      const path = services.folders.upload(uploadId);
      const entry = open.get(uploadId) ?? { session: createUploadSession(services, path), users: 0 };
      open.set(uploadId, entry);
      entry.users++;
      try {
        return await work(entry.session);
      } finally {
        if (--entry.users === 0) open.delete(uploadId);
      }
    },
  };
}
