/** Checks an MP4 or QuickTime file before it is parsed; see `mp4-tables.ts`. Reads headers and tables only. */
import { type FileHandle, open } from "node:fs/promises";
import { AppError } from "../../domain/errors";
import { yieldToEventLoop } from "../parallel";
import { requireBytes } from "./incomplete-files";
import { type Mp4BoxHeader, parseBoxHeader } from "./mp4-boxes";
import { checkTables, type TableTotals } from "./mp4-tables";

/** The `moov` box for a day of video takes about 200 MB. */
export const MAX_MOOV_BYTES = 256 * 1024 ** 2;
/** Number of bytes by which the last box may exceed the file: some writers count a few bytes too many. */
export const MAX_MISSING_BYTES = 4_096;
/** Limit for boxes that occur many times in a file. */
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

/** Checks a file. Errors: `AppError` `corrupt_media`, `media_limits_exceeded`; read errors; the signal's reason. */
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
      await requireBytes(path, at, at + 16);
      const box = await readBoxHeader(file, at, size);
      if (box === null) return;
      const maxBytes = MAX_BYTES[box.type];
      if (maxBytes !== undefined) {
        // A recorder that was switched off leaves its last fragment incomplete.
        if (at + box.size > size && box.type !== "moov") return;
        if (at + box.size > size + MAX_MISSING_BYTES) throw new AppError("corrupt_media", "The file is incomplete.");
        const length = Math.min(box.size, size - at) - box.headerSize;
        if (length > maxBytes)
          throw new AppError("corrupt_media", `The file is damaged: box ${box.type} is too large.`);
        await requireBytes(path, at, at + box.headerSize + length);
        checkTables({ type: box.type, body: await readBytes(file, at + box.headerSize, length) }, totals, size);
      }
      at += box.size;
    }
  } finally {
    await file.close();
  }
}

/** Reads the header of a top-level box. Returns null when it is invalid. */
async function readBoxHeader(file: FileHandle, at: number, fileBytes: number): Promise<Mp4BoxHeader | null> {
  const head = await readBytes(file, at, Math.min(16, fileBytes - at));
  return parseBoxHeader(new DataView(head.buffer, head.byteOffset, head.byteLength), 0, fileBytes - at);
}

async function readBytes(file: FileHandle, at: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  const { bytesRead } = await file.read(bytes, 0, length, at);
  return bytes.subarray(0, bytesRead);
}
