/**
 * An append-only file of keyed records that stores the finished work of a long task for the run that resumes it. An
 * incomplete or damaged record ends the file. The file may be lost at any time, in which case the work is repeated.
 */
import { type FileHandle, open, readFile, rm } from "node:fs/promises";
import { writeAll } from "../lib/file-bytes";

export type RecordLog = {
  /** Returns a record of an earlier run and drops it from memory; null if there is none. */
  take(key: string): Uint8Array | null;
  /**
   * Appends a record, also while others are written. Never rejects: if the disk is full, the work continues, but it can
   * no longer be resumed.
   */
  put(key: string, value: Uint8Array): Promise<void>;
  takeJson<T>(key: string): T | null;
  putJson(key: string, value: unknown): Promise<void>;
  close(): Promise<void>;
};

export const NO_LOG: RecordLog = {
  take: () => null,
  put: async () => {},
  takeJson: () => null,
  putJson: async () => {},
  close: async () => {},
};

/** Length of the key, length of the compressed value, CRC-32 of both. */
const HEADER_BYTES = 12;
const IDENTITY_KEY = "identity";

/**
 * Opens the log at `path`. Discards the records if the log has another `identity`. `onPut` is called after each written
 * record. Returns `NO_LOG` if the file cannot be opened.
 */
export async function openRecordLog(path: string, identity: string, onPut: () => void = () => {}): Promise<RecordLog> {
  // A copy of the bytes, because `slice` of a Buffer would not copy, and records must be aligned.
  const bytes = new Uint8Array(await readFile(path).catch(() => new Uint8Array(0)));
  const { records, end } = parseRecords(bytes);
  const stored = records.get(IDENTITY_KEY);
  const isSame = stored !== undefined && decodeUtf8(decompress(stored)) === identity;
  if (!isSame) {
    records.clear();
    await rm(path, { force: true }).catch(() => {});
  }
  let file: FileHandle | null = await open(path, isSame ? "r+" : "w").catch(() => null);
  if (file === null) return NO_LOG;
  let at = isSame ? end : 0;
  const put = async (key: string, value: Uint8Array): Promise<void> => {
    const record = serializeRecord(key, value);
    const start = at;
    at += record.length;
    try {
      if (file === null) throw new Error("the log is closed");
      await writeAll(file, record, start);
      onPut();
    } catch {
      await file?.close().catch(() => {});
      file = null;
    }
  };
  const take = (key: string): Uint8Array | null => {
    const found = records.get(key);
    records.delete(key);
    return found === undefined ? null : decompress(found);
  };
  await file.truncate(at).catch(() => {});
  if (!isSame) await put(IDENTITY_KEY, new TextEncoder().encode(identity));
  records.delete(IDENTITY_KEY);
  return {
    take,
    put,
    takeJson: <T>(key: string): T | null => {
      const text = decodeUtf8(take(key));
      return text === null ? null : (JSON.parse(text) as T);
    },
    putJson: (key, value) => put(key, new TextEncoder().encode(JSON.stringify(value))),
    close: async () => {
      await file?.close().catch(() => {});
      file = null;
    },
  };
}

/** Decompresses into a copy, because the output of zstd need not be aligned. */
const decompress = (bytes: Uint8Array): Uint8Array => new Uint8Array(Bun.zstdDecompressSync(bytes));

const decodeUtf8 = (bytes: Uint8Array | null): string | null => (bytes ? new TextDecoder().decode(bytes) : null);

function serializeRecord(key: string, content: Uint8Array): Uint8Array {
  const name = new TextEncoder().encode(key);
  // Compressed, so that a day of silence does not take megabytes.
  const value = Bun.zstdCompressSync(content);
  const record = Bun.concatArrayBuffers([new Uint8Array(HEADER_BYTES), name, value], Number.POSITIVE_INFINITY, true);
  const view = new DataView(record.buffer);
  view.setUint32(0, name.length, true);
  view.setUint32(4, value.length, true);
  view.setUint32(8, Bun.hash.crc32(record.subarray(HEADER_BYTES)), true);
  return record;
}

function parseRecords(bytes: Uint8Array): { records: Map<string, Uint8Array>; end: number } {
  const records = new Map<string, Uint8Array>();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let end = 0;
  while (end + HEADER_BYTES <= bytes.length) {
    const [nameLength, valueLength] = [view.getUint32(end, true), view.getUint32(end + 4, true)];
    const body = end + HEADER_BYTES;
    const next = body + nameLength + valueLength;
    if (nameLength === 0 || next > bytes.length) break;
    if (Bun.hash.crc32(bytes.subarray(body, next)) !== view.getUint32(end + 8, true)) break;
    const key = new TextDecoder().decode(bytes.subarray(body, body + nameLength));
    records.set(key, bytes.slice(body + nameLength, next));
    end = next;
  }
  return { records, end };
}
