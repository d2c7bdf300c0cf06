/** Checks an MP4 or QuickTime file before it is parsed; see `mp4-tables.ts`. Reads headers and tables only. */
import { open } from "node:fs/promises";
import { AppError } from "../../domain/errors";
import { yieldToEventLoop } from "../../lib/event-loop";
import { readBoxBody, readBoxHeaders } from "./mp4-boxes";
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
  await using file = await open(path, "r");
  const { size } = await file.stat();
  const totals: TableTotals = { entries: 0, samples: 0, fragmentSamples: 0 };
  let boxes = 0;
  for await (const box of readBoxHeaders(file, path, size)) {
    if (boxes >= MAX_BOXES) throw new AppError("media_limits_exceeded", "The file has too many boxes.");
    if (boxes++ % BOXES_PER_YIELD === 0) await yieldToEventLoop();
    signal?.throwIfAborted();
    const maxBytes = MAX_BYTES[box.type];
    if (maxBytes === undefined) continue;
    // A recorder that was switched off leaves its last fragment incomplete.
    if (box.at + box.size > size && box.type !== "moov") return;
    if (box.at + box.size > size + MAX_MISSING_BYTES) throw new AppError("corrupt_media", "The file is incomplete.");
    const length = Math.min(box.size, size - box.at) - box.headerSize;
    if (length > maxBytes) throw new AppError("corrupt_media", `The file is damaged: box ${box.type} is too large.`);
    checkTables({ type: box.type, body: await readBoxBody(file, path, box, length) }, totals, size);
  }
}
