/**
 * The files of an execution on a worker: inputs in the cache, files of earlier attempts in the folders that `run`
 * writes to, and files sent to the head.
 */
import { mkdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BlobCache, CachedBlob } from "../../blobs/blob-cache";
import { createFullDiskError } from "../../blobs/fetch-parts";
import type { ExecutionFile, ExecutionManifest, SentFile } from "../../domain/worker-messages";
import { hashFile } from "../../lib/hash";
import { runTogether } from "../../lib/run-together";
import { createSemaphore } from "../../lib/semaphore";
import { writeStream } from "../../lib/write-stream";
import type { RemoteExecution } from "../../outbound/head";
import { HeadError, HeadUnreachableError, waitBeforeRetry } from "../../outbound/head-requests";
import type { InputParts } from "../jobs/definition";
import { EXECUTION_RUNS } from "./runs";

type FileSources = {
  cache: BlobCache;
  remote: Pick<RemoteExecution, "read">;
  outputDir: string;
  workDir: string;
  /** The input that is read in parts, as `findPartialInput` returns it. */
  partialInput: string | null;
};

const CONCURRENT_FILES = 3;
/** Smaller files are fetched as fast. */
const MIN_PARTIAL_BYTES = 64 * 1024 ** 2;

/** Returns the name of the input that is read in parts, when they are needed; null when all files are fetched first. */
export function findPartialInput(
  { kind, input, files }: ExecutionManifest,
  minBytes = MIN_PARTIAL_BYTES,
): string | null {
  if (!EXECUTION_RUNS[kind].readsParts(input as never)) return null;
  const { blobs } = input as { blobs?: { source?: { name?: unknown } } };
  const isSource = ({ role, name, bytes }: ExecutionFile) =>
    role === "input" && name === blobs?.source?.name && bytes >= minBytes;
  return files.find(isSource)?.name ?? null;
}

/**
 * Fetches the files of a manifest, but for the input that is read in parts. Errors: those of `BlobCache.acquire`; the
 * signal's reason when aborted. After an error nothing is in use.
 */
export async function fetchFiles(
  { files, asset }: Pick<ExecutionManifest, "files" | "asset">,
  { cache, remote, outputDir, workDir, partialInput }: FileSources,
  signal: AbortSignal,
) {
  const inputs = new Map<string, CachedBlob>();
  const missing = new Map<string, InputParts>();
  const fetched = new Map<string, string>();
  const release = () => {
    for (const blob of inputs.values()) blob.release();
  };
  const permits = createSemaphore(CONCURRENT_FILES);
  const fetchOne = async (file: ExecutionFile, stopped: AbortSignal): Promise<void> => {
    const { name, role, bytes: total } = file;
    if (role === "input") {
      const read = (range: { from: number; to: number }, aborted: AbortSignal) =>
        remote.read(name, { ...range, total }, aborted);
      if (name !== partialInput) {
        inputs.set(name, await cache.acquire({ ...file, asset }, read, stopped));
        return;
      }
      const { parts, partBytes, ...blob } = await cache.acquireParts({ ...file, asset });
      inputs.set(name, blob);
      if (parts === null) return;
      const fetch: InputParts["fetch"] = (range, aborted) => parts.fetch(range, read, aborted);
      missing.set(name, { bytes: total, modifiedAt: file.modifiedAt, partBytes, fetch });
      return;
    }
    const path = join(role === "output" ? outputDir : workDir, name);
    const found = await stat(path).catch(() => null);
    // The sizes of the chunks of another attempt may have as many bytes.
    const isSame = found?.size === total && Math.floor(found.mtimeMs / 1000) === file.modifiedAt;
    if (role === "output" || !isSame) {
      if (!cache.makeRoom(total)) throw createFullDiskError();
      await download(file, path, remote, stopped);
    }
    if (role === "output") fetched.set(path, await describe(path));
  };
  for (const dir of [outputDir, workDir]) await mkdir(dir, { recursive: true });
  try {
    await runTogether(
      signal,
      files.map((file) => (stopped) => permits.run(stopped, () => fetchOne(file, stopped))),
    );
  } catch (error) {
    release();
    throw error;
  }
  return {
    getInputPath: (name: string) => {
      const blob = inputs.get(name);
      if (blob === undefined) throw new Error(`The head has sent no file ${name}.`);
      return blob.path;
    },
    findInputParts: (name: string) => missing.get(name) ?? null,
    /** Returns whether the output is the file that the head has sent. */
    isUnchanged: async (path: string) => fetched.get(path) === (await describe(path)),
    release,
  };
}

export type ExecutionFiles = Awaited<ReturnType<typeof fetchFiles>>;

/** Writes the file complete or not at all. */
async function download(
  { name, bytes, modifiedAt }: ExecutionFile,
  path: string,
  remote: Pick<RemoteExecution, "read">,
  signal: AbortSignal,
): Promise<void> {
  const part = `${path}.part`;
  try {
    await writeFile(part, "", { mode: 0o600 });
    await writeStream(remote.read(name, { from: 0, to: bytes, total: bytes }, signal), part, 0);
    await utimes(part, new Date(), new Date(modifiedAt * 1000));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Returns a text that differs after the file was replaced or written. */
async function describe(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(path);
  return `${ino} ${size} ${mtimeMs}`;
}

type Upload = Pick<RemoteExecution, "getOutputOffset" | "writeOutput">;

const PART_BYTES = 8 * 1024 * 1024;
const MAX_CONFLICTS = 5;
const CONFLICT = 409;

/**
 * Sends a file in parts, resuming after a broken connection from the last byte that the head has. Returns the sent
 * file. Errors: `HeadError`; the signal's reason when aborted; a plain `Error` when the file changes meanwhile or the
 * head loses it repeatedly. `partBytes` is for tests.
 */
export async function sendFile(
  remote: Upload,
  file: { name: string; path: string },
  signal: AbortSignal,
  partBytes = PART_BYTES,
): Promise<SentFile> {
  const { size } = await stat(file.path);
  const [sha256] = await Promise.all([hashFile(file.path), sendParts(remote, { ...file, size }, signal, partBytes)]);
  if ((await stat(file.path)).size !== size) throw new Error(`${file.name} was written while it was sent.`);
  return { name: file.name, bytes: size, sha256 };
}

async function sendParts(
  remote: Upload,
  { name, path, size }: { name: string; path: string; size: number },
  signal: AbortSignal,
  partBytes: number,
): Promise<void> {
  const content = Bun.file(path);
  let offset = 0;
  let isComplete = false;
  let failures = 0;
  let conflicts = 0;
  while (!isComplete) {
    try {
      const body = content.slice(offset, Math.min(offset + partBytes, size));
      const next = await remote.writeOutput(name, { offset, total: size, body }, signal);
      if (next > offset) [failures, conflicts] = [0, 0];
      else if (size > 0) conflicts++;
      offset = next;
      isComplete = offset === size;
    } catch (error) {
      const isConflict = error instanceof HeadError && error.status === CONFLICT;
      if (!(isConflict || error instanceof HeadUnreachableError)) throw error;
      if (isConflict) conflicts++;
      else await waitBeforeRetry(failures++, signal);
      offset = await remote.getOutputOffset(name, signal);
      // All bytes have arrived, but the last response was lost.
      isComplete = offset === size && size > 0;
    }
    if (offset > size) throw new Error(`The head has more bytes of ${name} than the file.`);
    if (conflicts > MAX_CONFLICTS) throw new Error(`The head accepts no more bytes of ${name}.`);
  }
}
