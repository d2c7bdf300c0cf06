/**
 * Compresses and unpacks files with Zstandard, as streams. Each file is one frame that contains its size and a checksum
 * (RFC 8878).
 */
import { createReadStream, createWriteStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { Transform, type TransformCallback, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import { type AppError, conflict } from "../../domain/errors";
import { flushFile, SECRET_FILE_MODE } from "../../lib/atomic-file";

const READ_BYTES = 256 * 1024;
const LEVEL = 3;

/**
 * Compresses a file to a new path, flushes it and returns its size. Errors: those of the file system; the signal's
 * reason.
 */
export async function compressFile(from: string, to: string, signal: AbortSignal): Promise<number> {
  const { size } = await stat(from);
  const { ZSTD_c_compressionLevel: level, ZSTD_c_checksumFlag: checksum } = constants;
  await pipeline(
    createReadStream(from, { highWaterMark: READ_BYTES }),
    createZstdCompress({ params: { [level]: LEVEL, [checksum]: 1 }, pledgedSrcSize: size }),
    createWriteStream(to, { flags: "wx", mode: SECRET_FILE_MODE }),
    { signal },
  ).catch((error) => rethrow(error, signal));
  await flushFile(to);
  return (await stat(to)).size;
}

/**
 * Unpacks a file to a new path and flushes it. Writes at most the size that the frame states. Errors: `AppError`
 * `conflict` for a damaged file; those of the file system; the signal's reason.
 */
export async function unpackFile(from: string, to: string, signal: AbortSignal): Promise<void> {
  const bytes = await readUnpackedSize(from);
  const target = createWriteStream(to, { flags: "wx", mode: SECRET_FILE_MODE });
  await unpack(from, bytes, target, signal);
  await flushFile(to);
}

/** Unpacks a file without writing anything. Throws `AppError` `conflict` when it is damaged or not of `bytes` bytes. */
export async function verifyCompressed(path: string, bytes: number, signal: AbortSignal): Promise<void> {
  if ((await readUnpackedSize(path)) !== bytes) throw damaged(path);
  await unpack(path, bytes, new Writable({ write: (_chunk, _encoding, done) => done() }), signal);
}

async function unpack(from: string, bytes: number, target: Writable, signal: AbortSignal): Promise<void> {
  let unpacked = 0;
  // A truncated frame ends without an error, and a malicious one exceeds the size that it states.
  const limit = new Transform({
    transform: (chunk: Uint8Array, _encoding, done: TransformCallback) => {
      unpacked += chunk.byteLength;
      done(unpacked > bytes ? damaged(from) : null, chunk);
    },
  });
  await pipeline(createReadStream(from, { highWaterMark: READ_BYTES }), createZstdDecompress(), limit, target, {
    signal,
  }).catch((error) => {
    const { code = "" } = error as { code?: string };
    throw code.startsWith("ZSTD_") ? damaged(from) : rethrow(error, signal);
  });
  if (unpacked !== bytes) throw damaged(from);
}

const damaged = (path: string): AppError => conflict(`${path} is damaged.`);

function rethrow(error: unknown, signal: AbortSignal): never {
  signal.throwIfAborted();
  throw error;
}

const MAGIC = 0xfd2fb528;
const MAX_HEADER_BYTES = 18;

/** Returns the size that the header of the frame states. Throws `AppError` `conflict` when it states none. */
export async function readUnpackedSize(path: string): Promise<number> {
  const header = Buffer.alloc(MAX_HEADER_BYTES);
  const file = await open(path, "r");
  await file.read(header, 0, MAX_HEADER_BYTES, 0).finally(() => file.close());
  const descriptor = header[4]!;
  const isSingleSegment = (descriptor & 0b10_0000) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 0b11]!;
  const at = 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes;
  const sizes = [
    () => (isSingleSegment ? header[at]! : null),
    () => header.readUInt16LE(at) + 256,
    () => header.readUInt32LE(at),
    () => Number(header.readBigUInt64LE(at)),
  ];
  const size = header.readUInt32LE(0) === MAGIC ? sizes[descriptor >> 6]!() : null;
  if (size === null || !Number.isSafeInteger(size)) throw damaged(path);
  return size;
}
