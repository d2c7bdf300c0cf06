/**
 * Writes ZIP archives (PKWARE APPNOTE 6.3.10) of any size. Entries are streamed; only their names and sizes are kept
 * until the central directory is written. Sizes and checksums are patched into the entries' headers, so that sequential
 * readers can also read the archive; an output that cannot be patched, such as a response, has them after each entry.
 */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { crc32, createDeflateRaw } from "node:zlib";

/**
 * The destination: `write` appends, `patch` overwrites earlier bytes; null if that is not possible. Neither function
 * keeps `bytes` after it has resolved.
 */
export type ZipOutput = {
  write(bytes: Uint8Array): Promise<void>;
  patch: ((bytes: Uint8Array, position: number) => Promise<void>) | null;
};

/** `name` is the path in the archive, with `/`. `modifiedAt` is in milliseconds since 1970. */
export type ZipEntry = { name: string; modifiedAt: number; isCompressed: boolean };

export type ZipContent = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The data of an entry's headers. `offset` is the position of its local header. */
type WrittenEntry = {
  name: Buffer;
  method: number;
  flags: number;
  modified: number;
  crc: number;
  size: number;
  packedSize: number;
  offset: number;
};

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const ZIP64_END = 0x06064b50;
const ZIP64_LOCATOR = 0x07064b50;
const END = 0x06054b50;

/** Version 4.5 introduced ZIP64. The upper byte of `made by` marks the attributes as those of Unix. */
const VERSION_NEEDED = 45;
const MADE_BY_UNIX = (3 << 8) | VERSION_NEEDED;
const REGULAR_FILE_0644 = 0o100644 * 0x10000;
const UTF8_FLAG = 1 << 11;
/** Checksum and sizes follow the content. */
const DESCRIPTOR_FLAG = 1 << 3;
const DESCRIPTOR = 0x08074b50;
const STORED = 0;
const DEFLATED = 8;
const ZIP64_EXTRA = 0x0001;
/** A field with this value has its actual value in the ZIP64 record. */
const IN_ZIP64_32 = 0xffff_ffff;
const IN_ZIP64_16 = 0xffff;
const MAX_NAME_BYTES = 0xffff;
const DEFLATE_CHUNK_BYTES = 64 * 1024;
/** The patched parts of the local header: the checksum and both 32-bit sizes, and the ZIP64 sizes after the name. */
const CRC_POSITION = 14;
const LOCAL_HEADER_BYTES = 30;
const LOCAL_EXTRA_BYTES = 20;

/** Creates a writer for an archive that starts at position 0 of `output`. */
export function createZipWriter(output: ZipOutput) {
  const directory: Buffer[] = [];
  let position = 0;

  async function append(bytes: Uint8Array): Promise<void> {
    await output.write(bytes);
    position += bytes.byteLength;
  }

  async function writeContent(entry: ZipEntry, chunks: ZipContent) {
    let crc = 0;
    let size = 0;
    async function* counted() {
      for await (const chunk of chunks) {
        crc = crc32(chunk, crc);
        size += chunk.byteLength;
        yield chunk;
      }
    }
    const start = position;
    if (entry.isCompressed) {
      await pipeline(
        Readable.from(counted()),
        createDeflateRaw({ chunkSize: DEFLATE_CHUNK_BYTES }),
        async (deflated) => {
          for await (const chunk of deflated as AsyncIterable<Uint8Array>) await append(chunk);
        },
      );
    } else {
      for await (const chunk of counted()) await append(chunk);
    }
    return { crc, size, packedSize: position - start };
  }

  return {
    /**
     * Writes an entry and returns its uncompressed size in bytes. Each chunk is consumed before the next one is read,
     * so `chunks` may reuse a buffer. Rejects with errors of `chunks` and of the output, after which the archive is
     * unusable.
     */
    add: async (entry: ZipEntry, chunks: ZipContent): Promise<number> => {
      const name = Buffer.from(entry.name);
      if (name.length === 0 || name.length > MAX_NAME_BYTES) throw new Error(`ZIP entry name of ${name.length} bytes`);
      const offset = position;
      const method = entry.isCompressed ? DEFLATED : STORED;
      const flags = output.patch === null ? UTF8_FLAG | DESCRIPTOR_FLAG : UTF8_FLAG;
      const modified = toDosTime(entry.modifiedAt);
      const begun = { name, method, flags, modified, offset, crc: 0, size: 0, packedSize: 0 };
      await append(formatLocalHeader(begun));
      const written: WrittenEntry = { ...begun, ...(await writeContent(entry, chunks)) };
      if (output.patch === null) await append(formatDescriptor(written));
      else {
        const header = formatLocalHeader(written);
        await output.patch(header.subarray(CRC_POSITION, CRC_POSITION + 4), offset + CRC_POSITION);
        await output.patch(header.subarray(-LOCAL_EXTRA_BYTES), offset + LOCAL_HEADER_BYTES + name.length);
      }
      directory.push(formatCentralHeader(written));
      return written.size;
    },
    /** Writes the central directory and returns the size of the archive in bytes. */
    finish: async (): Promise<number> => {
      const start = position;
      for (const header of directory) await append(header);
      await append(formatEnd(directory.length, start, position - start));
      return position;
    },
  };
}

export type ZipWriter = ReturnType<typeof createZipWriter>;

/** A number in a header, little-endian. */
type HeaderField = { bytes: 2 | 4 | 8; value: number };

const u16 = (value: number): HeaderField => ({ bytes: 2, value });
const u32 = (value: number): HeaderField => ({ bytes: 4, value });
const u64 = (value: number): HeaderField => ({ bytes: 8, value });

function pack(...fields: HeaderField[]): Buffer {
  const header = Buffer.alloc(fields.reduce((sum, { bytes }) => sum + bytes, 0));
  let at = 0;
  for (const { bytes, value } of fields) {
    if (bytes === 8) header.writeBigUInt64LE(BigInt(value), at);
    else header.writeUIntLE(value, at, bytes);
    at += bytes;
  }
  return header;
}

/** Formats a local header. Sizes are always in the ZIP64 field, because they are not known yet when it is written. */
const formatLocalHeader = ({ name, method, flags, modified, crc, size, packedSize }: WrittenEntry): Buffer =>
  Buffer.concat([
    pack(u32(LOCAL_HEADER), u16(VERSION_NEEDED), u16(flags), u16(method), u32(modified), u32(crc)),
    pack(u32(IN_ZIP64_32), u32(IN_ZIP64_32), u16(name.length), u16(LOCAL_EXTRA_BYTES)),
    name,
    formatZip64([size, packedSize]),
  ]);

/**
 * Formats the data descriptor that follows an entry with this flag. Its sizes have 64 bits, because the local header
 * has a ZIP64 field.
 */
const formatDescriptor = ({ crc, size, packedSize }: WrittenEntry): Buffer =>
  pack(u32(DESCRIPTOR), u32(crc), u64(packedSize), u64(size));

/** Formats an entry's header in the central directory. Values above 32 bits go into its ZIP64 field. */
function formatCentralHeader({ name, method, flags, modified, crc, size, packedSize, offset }: WrittenEntry): Buffer {
  const large = [size, packedSize, offset].filter((value) => value >= IN_ZIP64_32);
  const extra = large.length === 0 ? Buffer.alloc(0) : formatZip64(large);
  const small = (value: number) => u32(Math.min(value, IN_ZIP64_32));
  return Buffer.concat([
    pack(u32(CENTRAL_HEADER), u16(MADE_BY_UNIX), u16(VERSION_NEEDED), u16(flags), u16(method), u32(modified)),
    pack(u32(crc), small(packedSize), small(size), u16(name.length), u16(extra.length)),
    // No comment, the first disk, no internal attributes.
    pack(u16(0), u16(0), u16(0), u32(REGULAR_FILE_0644), small(offset)),
    name,
    extra,
  ]);
}

const formatZip64 = (values: number[]): Buffer =>
  pack(u16(ZIP64_EXTRA), u16(values.length * 8), ...values.map((value) => u64(value)));

/** Formats the end records. ZIP64 records are written only if needed: some readers reject them in small archives. */
function formatEnd(entries: number, start: number, size: number): Buffer {
  const count = u16(Math.min(entries, IN_ZIP64_16));
  const [size32, start32] = [size, start].map((value) => u32(Math.min(value, IN_ZIP64_32)));
  const end = pack(u32(END), u16(0), u16(0), count, count, size32!, start32!, u16(0));
  if (entries < IN_ZIP64_16 && start < IN_ZIP64_32 && size < IN_ZIP64_32) return end;
  return Buffer.concat([
    pack(u32(ZIP64_END), u64(44), u16(MADE_BY_UNIX), u16(VERSION_NEEDED), u32(0), u32(0)),
    pack(u64(entries), u64(entries), u64(size), u64(start)),
    pack(u32(ZIP64_LOCATOR), u32(0), u64(start + size), u32(1)),
    end,
  ]);
}

const FIRST_DOS_YEAR = 1980;
const LAST_DOS_YEAR = 2107;

/** Returns the date and time in MS-DOS format, in UTC with a resolution of two seconds. */
function toDosTime(milliseconds: number): number {
  const time = new Date(milliseconds);
  const year = time.getUTCFullYear();
  if (!(year >= FIRST_DOS_YEAR && year <= LAST_DOS_YEAR)) return (1 << 21) | (1 << 16);
  const date = ((year - FIRST_DOS_YEAR) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1);
  return ((date << 16) | clock) >>> 0;
}
