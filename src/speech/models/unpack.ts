/**
 * Unpacks the files of a model from an archive or a folder into a flat folder. Paths in the archive are never followed:
 * a file is stored under the last part of its name, links are skipped, and data beyond the limits is an error.
 */
import { copyFile, lstat, mkdir, open, readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { AppError } from "../../domain/errors";
import { createStorageFullError, isStorageFull } from "../../domain/storage-full";
import { writeAll } from "../../lib/file-bytes";
import { decompressBzip2, readTar, type TarEntry, type TarSink } from "./archives";
import { isFileName, MANIFEST_NAME } from "./manifest";

export type UnpackOptions = {
  signal?: AbortSignal | undefined;
  onProgress?: (share: number) => void;
  /** Maximum total size of the files. Default: 16 GiB. */
  maxBytes?: number;
};

/** `ambiguous` lists names that the source has more than once. Only the first of these files was unpacked. */
export type UnpackResult = { ambiguous: Set<string> };

const MAX_MODEL_BYTES = 16 * 1024 ** 3;
const MAX_MODEL_FILES = 64;
const MAX_TEXT_FILE_BYTES = 64 * 1024 ** 2;
const READ_CHUNK_BYTES = 1 << 20;

/**
 * Unpacks `path` (.tar, .tar.gz, .tar.bz2, or a folder) into `folder`, which is created. Throws `AppError`
 * `validation_error` (not an archive, damaged or too large), `not_found`, `storage_full`, and the signal's reason.
 */
export async function unpackModel(path: string, folder: string, options: UnpackOptions = {}): Promise<UnpackResult> {
  const found = await stat(path).catch(() => null);
  if (!found) throw new AppError("not_found", `${path} does not exist.`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await using target = createUnpackTarget(folder, options.maxBytes ?? MAX_MODEL_BYTES);
  try {
    if (found.isDirectory()) await copyFolder(path, target, options.signal);
    else await readTar(readArchive(path, found.size, options), target.openSink);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof AppError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (isStorageFull(error)) throw createStorageFullError(error);
    if (code === "EACCES") throw new AppError("validation_error", `No permission to read ${path}.`, { cause: error });
    throw new AppError("validation_error", `Cannot unpack ${path}: ${message}.`, { cause: error });
  }
  return { ambiguous: target.ambiguous };
}

/** Returns whether a file may belong to a model, unlike sample recordings and scripts. */
const isWanted = (name: string): boolean =>
  name === MANIFEST_NAME || (isFileName(name) && /\.(onnx|ort|txt|json|data|weights)$/.test(name));

function createUnpackTarget(folder: string, maxBytes: number) {
  const seen = new Set<string>();
  const ambiguous = new Set<string>();
  let total = 0;
  let handle: Awaited<ReturnType<typeof open>> | null = null;
  const close = async () => {
    await handle?.close();
    handle = null;
  };
  /** Returns the target path for a file; null if it is not needed. Throws if the limits are exceeded. */
  const reserve = (name: string, sizeBytes: number): string | null => {
    if (!isWanted(name)) return null;
    if (seen.has(name)) {
      ambiguous.add(name);
      return null;
    }
    seen.add(name);
    total += sizeBytes;
    const isSmall = /\.(txt|json)$/.test(name);
    if (seen.size > MAX_MODEL_FILES || total > maxBytes || (isSmall && sizeBytes > MAX_TEXT_FILE_BYTES)) {
      throw new AppError("validation_error", `The files up to ${name} exceed the maximum size of a model.`);
    }
    return join(folder, name);
  };
  const openSink = async (entry: TarEntry): Promise<TarSink | null> => {
    await close();
    const path = entry.kind === "file" ? reserve(basename(entry.path), entry.sizeBytes) : null;
    if (path === null) return null;
    const file = await open(path, "wx", 0o600);
    handle = file;
    return (bytes) => writeAll(file, bytes, null);
  };
  return { openSink, reserve, ambiguous, [Symbol.asyncDispose]: close };
}

async function copyFolder(path: string, target: ReturnType<typeof createUnpackTarget>, signal?: AbortSignal) {
  for (const name of (await readdir(path)).sort()) {
    signal?.throwIfAborted();
    const found = await lstat(join(path, name));
    const destination = found.isFile() ? target.reserve(name, found.size) : null;
    if (destination !== null) await copyFile(join(path, name), destination);
  }
}

/** Yields the bytes of the tar archive in a file. The compression is detected from the first bytes. */
async function* readArchive(path: string, sizeBytes: number, options: UnpackOptions): AsyncGenerator<Uint8Array> {
  let read = 0;
  const onRead = (bytes: number) => {
    options.signal?.throwIfAborted();
    read += bytes;
    options.onProgress?.(Math.min(1, read / sizeBytes));
  };
  const head = await Bun.file(path).slice(0, 3).bytes();
  const isBzip2 = new TextDecoder().decode(head) === "BZh";
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  const packed = readChunks(path, onRead);
  const unpacked = isBzip2 ? decompressBzip2(packed) : isGzip ? decompressGzip(packed) : packed;
  // Skipped entries count too, because they may be endless.
  let left = 2 * (options.maxBytes ?? MAX_MODEL_BYTES);
  for await (const chunk of unpacked) {
    left -= chunk.length;
    if (left < 0) throw new AppError("validation_error", `${path} exceeds the maximum size of a model.`);
    yield chunk;
  }
}

async function* readChunks(path: string, onRead: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  await using file = await open(path, "r");
  for (;;) {
    const { buffer, bytesRead } = await file.read(new Uint8Array(READ_CHUNK_BYTES));
    if (bytesRead === 0) return;
    onRead(bytesRead);
    yield buffer.subarray(0, bytesRead);
  }
}

async function* decompressGzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const packed = Readable.from(chunks);
  const stream = packed.pipe(createGunzip());
  // `pipe` does not forward errors.
  packed.on("error", (error) => stream.destroy(error));
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
  } finally {
    packed.destroy();
    stream.destroy();
  }
}
