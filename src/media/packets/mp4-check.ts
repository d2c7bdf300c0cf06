/** Checks an MP4 or QuickTime file before it is parsed; see `mp4-tables.ts`. Reads headers and tables only. */
import { type FileHandle, open } from "node:fs/promises";
import { AppError } from "../../domain/errors";
import { yieldToEventLoop } from "../parallel";
import { checkTables, type TableTotals } from "./mp4-tables";

/** The `moov` box for a day of video takes about 200 MB. */
export const MAX_MOOV_BYTES = 256 * 1024 ** 2;
/** How far the last box may extend beyond the end of the file: some writers count a few bytes too many. */
export const MAX_MISSING_BYTES = 4_096;
/** Limit for boxes that a file has many of. */
const MAX_FRAGMENT_BYTES = 32 * 1024 ** 2;
const MAX_BYTES: Record<string, number> = {
  moov: MAX_MOOV_BYTES,
  moof: MAX_FRAGMENT_BYTES,
  sidx: MAX_FRAGMENT_BYTES,
  mfra: MAX_FRAGMENT_BYTES,
};
/** A day in fragments of a fifth of a second, two boxes each. */
const MAX_BOXES = 1_000_000;
const BOXES_PER_YIELD = 1_000;

/** Checks a file. Errors: `AppError` `corrupt_media`, `media_limits_exceeded`; those of reading the file; the signal's reason. */
export async function checkMp4(path: string, signal?: AbortSignal): Promise<void> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const totals: TableTotals = { entries: 0, samples: 0, fragmentSamples: 0 };
    let at = 0;
    for (let boxes = 0; at + 8 <= size; boxes++) {
      if (boxes >= MAX_BOXES) throw new AppError("media_limits_exceeded", "The file has too many boxes.");
      if (boxes % BOXES_PER_YIELD === 0) await yieldToEventLoop();
      signal?.throwIfAborted();
      const box = await readBoxHeader(file, at, size);
      if (box === null) return;
      const maxBytes = MAX_BYTES[box.type];
      if (maxBytes !== undefined) {
        // A recorder that was switched off leaves its last fragment incomplete.
        if (at + box.bytes > size && box.type !== "moov") return;
        if (at + box.bytes > size + MAX_MISSING_BYTES) throw new AppError("corrupt_media", "The file is incomplete.");
        const length = Math.min(box.bytes, size - at) - box.headerBytes;
        if (length > maxBytes)
          throw new AppError("corrupt_media", `The file is damaged: box ${box.type} is too large.`);
        checkTables({ type: box.type, body: await readBytes(file, at + box.headerBytes, length) }, totals, size);
      }
      at += box.bytes;
    }
  } finally {
    await file.close();
  }
}

type BoxHeader = { type: string; bytes: number; headerBytes: number };

/** Reads the header of a top-level box. Returns null when its size is invalid. */
async function readBoxHeader(file: FileHandle, at: number, fileBytes: number): Promise<BoxHeader | null> {
  const head = await readBytes(file, at, Math.min(16, fileBytes - at));
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (head.length < 8) return null;
  const type = String.fromCharCode(...head.subarray(4, 8));
  const size32 = view.getUint32(0);
  if (size32 === 0) return { type, bytes: fileBytes - at, headerBytes: 8 };
  if (size32 !== 1) return size32 < 8 ? null : { type, bytes: size32, headerBytes: 8 };
  if (head.length < 16) return null;
  const size64 = Number(view.getBigUint64(8));
  return size64 < 16 ? null : { type, bytes: size64, headerBytes: 16 };
}

async function readBytes(file: FileHandle, at: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  const { bytesRead } = await file.read(bytes, 0, length, at);
  return bytes.subarray(0, bytesRead);
}
