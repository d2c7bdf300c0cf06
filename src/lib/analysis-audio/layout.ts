/**
 * The file format of analysis audio: a header of 16 bytes, consecutive blocks, a compressed index, a footer of 32
 * bytes. Numbers are little-endian. The index has 8 bytes per block: its size (0: digital silence) and the CRC-32 of
 * its bytes.
 */
import { zstdDecompressSync } from "node:zlib";
import { BLOCK_SAMPLES, MAX_BLOCK_BYTES } from "./block";

const MAGIC = Buffer.from("\x89OFCAUD\n", "latin1");
const VERSION = 1;
export const HEADER_BYTES = 16;
export const FOOTER_BYTES = 32;
const INDEX_ENTRY_BYTES = 8;
/** 74 hours. The limit exists because a few bytes can claim any length, and readers allocate in proportion to it. */
const MAX_SAMPLES = 2 ** 32;

/** The footer: the number of samples, and the size and CRC-32 of the compressed index that precedes it. */
export type Footer = { samples: number; indexBytes: number; indexCrc: number };

/** The file was truncated or changed after it was written. The asset must be uploaded again. */
export class DamagedAudioError extends Error {
  constructor(what: string) {
    super(`Analysis audio is damaged: ${what}.`);
    this.name = "DamagedAudio";
  }
}

export function formatHeader(): Uint8Array {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32LE(VERSION, 8);
  header.writeUInt32LE(BLOCK_SAMPLES, 12);
  return header;
}

/** Returns whether a file has this format's header; if not, it is raw samples. Throws `DamagedAudioError`. */
export function hasHeader(bytes: Uint8Array): boolean {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!header.subarray(0, MAGIC.length).equals(MAGIC)) return false;
  if (header.length < HEADER_BYTES) throw new DamagedAudioError("the header is incomplete");
  if (header.readUInt32LE(8) !== VERSION || header.readUInt32LE(12) !== BLOCK_SAMPLES) {
    throw new DamagedAudioError(`version ${header.readUInt32LE(8)} is unknown`);
  }
  return true;
}

export function formatFooter({ samples, indexBytes, indexCrc }: Footer): Uint8Array {
  const footer = Buffer.alloc(FOOTER_BYTES);
  footer.writeBigUInt64LE(BigInt(samples), 0);
  footer.writeUInt32LE(indexBytes, 8);
  footer.writeUInt32LE(indexCrc, 12);
  footer.writeUInt32LE(Bun.hash.crc32(footer.subarray(0, 16)), 16);
  MAGIC.copy(footer, FOOTER_BYTES - MAGIC.length);
  return footer;
}

const countBlocks = (samples: number): number => Math.ceil(samples / BLOCK_SAMPLES);

/** Returns an upper bound for the size of the compressed index, even if it is incompressible. */
const computeMaxIndexBytes = (samples: number): number => 1_024 + 2 * INDEX_ENTRY_BYTES * countBlocks(samples);

/** Parses the last bytes of a file of `fileBytes`. Throws `DamagedAudioError`. */
export function parseFooter(bytes: Uint8Array, fileBytes: number): Footer {
  const footer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (footer.length < FOOTER_BYTES || !footer.subarray(FOOTER_BYTES - MAGIC.length).equals(MAGIC)) {
    throw new DamagedAudioError("the end of the file is missing");
  }
  if (Bun.hash.crc32(footer.subarray(0, 16)) !== footer.readUInt32LE(16))
    throw new DamagedAudioError("wrong checksum of the footer");
  const samples = Number(footer.readBigUInt64LE(0));
  const indexBytes = footer.readUInt32LE(8);
  if (
    samples > MAX_SAMPLES ||
    HEADER_BYTES + indexBytes + FOOTER_BYTES > fileBytes ||
    indexBytes > computeMaxIndexBytes(samples)
  ) {
    throw new DamagedAudioError("the footer does not match the file");
  }
  return { samples, indexBytes, indexCrc: footer.readUInt32LE(12) };
}

/** The location of a block: `size` bytes starting at `offset`. Size 0 is silence. */
export type BlockPlace = { offset: number; size: number; crc: number };
export type BlockIndex = { count: number; locate(block: number): BlockPlace };

export function createIndexBuilder() {
  let entries = new Uint32Array(1_024);
  let used = 0;
  return {
    add(size: number, crc: number): void {
      if (used === entries.length) {
        const larger = new Uint32Array(entries.length * 2);
        larger.set(entries);
        entries = larger;
      }
      entries[used++] = size;
      entries[used++] = crc;
    },
    compress: (): Uint8Array => Bun.zstdCompressSync(new Uint8Array(entries.buffer, 0, used * 4)),
  };
}

/**
 * Parses the index of `samples` samples whose blocks end at `end`. Throws `DamagedAudioError` if it does not describe
 * exactly the bytes between the header and itself.
 */
export function parseIndex(compressed: Uint8Array, { samples, indexCrc }: Footer, end: number): BlockIndex {
  const count = countBlocks(samples);
  if (Bun.hash.crc32(compressed) !== indexCrc) throw new DamagedAudioError("wrong checksum of the index");
  const bytes = decompress(compressed, count * INDEX_ENTRY_BYTES);
  if (bytes.length !== count * INDEX_ENTRY_BYTES) throw new DamagedAudioError("the index does not match the file");
  const entries = new Uint32Array(Uint8Array.from(bytes).buffer);
  const offsets = new Float64Array(count + 1);
  offsets[0] = HEADER_BYTES;
  for (let n = 0; n < count; n++) {
    const size = entries[2 * n]!;
    if (size > MAX_BLOCK_BYTES) throw new DamagedAudioError(`block ${n} is too large`);
    offsets[n + 1] = offsets[n]! + size;
  }
  if (offsets[count] !== end) throw new DamagedAudioError("the blocks do not match the file");
  return {
    count,
    locate: (block) => ({ offset: offsets[block]!, size: entries[2 * block]!, crc: entries[2 * block + 1]! }),
  };
}

/** Never allocates more than `maxBytes`, regardless of the decompressed size. Throws `DamagedAudioError`. */
function decompress(compressed: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return zstdDecompressSync(compressed, { maxOutputLength: Math.max(1, maxBytes) });
  } catch {
    throw new DamagedAudioError("the index cannot be decompressed");
  }
}
