/** Reads the boxes of MP4 and QuickTime files (ISO 14496-12). */
import type { FileHandle } from "node:fs/promises";
import { readInto } from "../../lib/file-bytes";
import { requireBytes } from "./incomplete-files";

/** `size` is that of the whole box, which may extend beyond the available bytes. */
export type Mp4BoxHeader = { type: string; size: number; headerSize: number };

/** Parses a box header. `bytesLeft` is the size of a box that extends to the end. Returns null if it is invalid. */
export function parseBoxHeader(bytes: DataView, at: number, bytesLeft: number): Mp4BoxHeader | null {
  if (at + 8 > bytes.byteLength) return null;
  const type = String.fromCharCode(...[4, 5, 6, 7].map((n) => bytes.getUint8(at + n)));
  const size32 = bytes.getUint32(at);
  if (size32 === 0) return { type, size: bytesLeft, headerSize: 8 };
  if (size32 !== 1) return size32 < 8 ? null : { type, size: size32, headerSize: 8 };
  if (at + 16 > bytes.byteLength) return null;
  const size64 = Number(bytes.getBigUint64(at + 8));
  return size64 < 16 ? null : { type, size: size64, headerSize: 16 };
}

/**
 * Iterates over the boxes at the top of a file of `size` bytes, until one is invalid. Missing bytes of `path` are
 * fetched.
 */
export async function* readBoxHeaders(
  file: FileHandle,
  path: string,
  size: number,
): AsyncGenerator<Mp4BoxHeader & { at: number }> {
  for (let at = 0; at + 8 <= size; ) {
    await requireBytes(path, at, at + 16);
    const head = await readInto(file, new Uint8Array(Math.min(16, size - at)), at);
    const header = parseBoxHeader(toView(head), 0, size - at);
    if (header === null) return;
    yield { ...header, at };
    at += header.size;
  }
}

/** Reads `length` bytes of the body of a box; fewer at the end of the file. */
export async function readBoxBody(
  file: FileHandle,
  path: string,
  { at, headerSize }: Mp4BoxHeader & { at: number },
  length: number,
): Promise<Uint8Array> {
  await requireBytes(path, at, at + headerSize + length);
  return readInto(file, new Uint8Array(length), at + headerSize);
}

/** Sizes of sample entries before their boxes: `avc1` and the like, and `mp4a` and the like. */
export const VISUAL_ENTRY_BYTES = 8 + 78;
export const AUDIO_ENTRY_BYTES = 8 + 28;

export const toView = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Returns the bytes of a decoder configuration. */
export const toBytes = (source: AllowSharedBufferSource): Uint8Array =>
  ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);

/** Iterates over the boxes in a body, until one is invalid. A body may end before its box does. */
export function* iterateBoxes(body: Uint8Array): Generator<{ type: string; body: Uint8Array; isComplete: boolean }> {
  const view = toView(body);
  for (let at = 0; at + 8 <= body.length; ) {
    const header = parseBoxHeader(view, at, body.length - at);
    if (header === null) return;
    const { type, size, headerSize } = header;
    yield { type, body: body.subarray(at + headerSize, at + size), isComplete: size <= body.length - at };
    at += size;
  }
}
