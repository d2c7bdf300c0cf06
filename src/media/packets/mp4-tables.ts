/**
 * Checks the tables of MP4 and QuickTime boxes (ISO 14496-12) before memory is allocated for them: counts against the
 * size of the box, sums over tables, totals over tracks. Pure.
 */
import { AppError } from "../../domain/errors";
import { iterateBoxes, toView } from "./mp4-boxes";

/** Samples of all tracks: two tracks of a day at 120 samples per second. */
export const MAX_SAMPLES = 2 * 24 * 3600 * 120;
/** Entries of all tables of a file. */
export const MAX_TABLE_ENTRIES = 2 * MAX_SAMPLES;
export const MAX_FRAGMENT_SAMPLES = 2_000_000;
/** Edits of a track: ffmpeg searches all of them for every sample. */
export const MAX_EDITS = 20_000;
const MAX_DEPTH = 16;
/** Some writers count a few more samples in one table than in another. */
const SAMPLE_COUNT_TOLERANCE = 1_000;

/** Running totals over all `moov` and `moof` boxes of a file. */
export type TableTotals = { entries: number; samples: number; fragmentSamples: number };

const CONTAINERS = new Set(["moov", "trak", "mdia", "minf", "stbl", "edts", "mvex", "moof", "traf", "mfra", "udta"]);

/** Position of a table's entry count, and length of its entries, after version and flags. */
const TABLES: Record<string, (body: DataView) => { count: number; entryBytes: number; from: number }> = {
  stts: (body) => readSimpleTable(body, 8),
  ctts: (body) => readSimpleTable(body, 8),
  stsc: (body) => readSimpleTable(body, 12),
  stco: (body) => readSimpleTable(body, 4),
  co64: (body) => readSimpleTable(body, 8),
  stss: (body) => readSimpleTable(body, 4),
  stps: (body) => readSimpleTable(body, 4),
  stsh: (body) => readSimpleTable(body, 8),
  elst: (body) => readSimpleTable(body, body.getUint8(0) === 1 ? 20 : 12),
  // Tables whose entries are boxes.
  stsd: (body) => readSimpleTable(body, 8),
  dref: (body) => readSimpleTable(body, 8),
  stsz: (body) => ({ count: body.getUint32(8), entryBytes: body.getUint32(4) === 0 ? 4 : 0, from: 12 }),
  stz2: (body) => ({ count: body.getUint32(8), entryBytes: body.getUint8(7) / 8, from: 12 }),
  trun: (body) => readTrunTable(body),
  sidx: (body) => {
    const from = body.getUint8(0) === 0 ? 24 : 32;
    return { count: body.getUint16(from - 2), entryBytes: 12, from };
  },
  tfra: (body) => {
    const sizes = body.getUint32(8);
    const numbers = ((sizes >> 4) & 3) + ((sizes >> 2) & 3) + (sizes & 3) + 3;
    return { count: body.getUint32(12), entryBytes: (body.getUint8(0) === 1 ? 16 : 8) + numbers, from: 16 };
  },
};

const readSimpleTable = (body: DataView, entryBytes: number) => ({ count: body.getUint32(4), entryBytes, from: 8 });

const TRUN_SAMPLE_FLAGS = [0x100, 0x200, 0x400, 0x800];

function readTrunTable(body: DataView) {
  const flags = body.getUint32(0);
  const from = 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0);
  return { count: body.getUint32(4), entryBytes: 4 * TRUN_SAMPLE_FLAGS.filter((field) => flags & field).length, from };
}

/** Sample counts according to the tables of one track. */
type TrackCounts = { times: number; offsets: number; maxPerChunk: number; sizes: number; isConstantSize: boolean };

const createDamagedError = (what: string) => new AppError("corrupt_media", `The file is damaged: ${what}.`);

/**
 * Checks a box and all boxes inside it. `box` is a `moov`, `moof`, `mfra` or `sidx`; `totals` accumulate over the boxes
 * of a file of `fileBytes`. Errors: `AppError` `corrupt_media` for a count that exceeds the box,
 * `media_limits_exceeded` for too many samples.
 */
export function checkTables(box: { type: string; body: Uint8Array }, totals: TableTotals, fileBytes: number): void {
  if (box.type === "moof") totals.fragmentSamples = 0;
  checkBox(box.type, box.body, 0, { totals, fileBytes, track: null });
}

type TableContext = { totals: TableTotals; fileBytes: number; track: TrackCounts | null };

function checkBox(type: string, body: Uint8Array, depth: number, context: TableContext): void {
  const readTable = TABLES[type];
  if (readTable !== undefined) checkTable(type, body, readTable, context);
  if (!CONTAINERS.has(type)) return;
  if (depth > MAX_DEPTH) throw createDamagedError("boxes are nested too deeply");
  const inner = type === "trak" ? { ...context, track: createTrackCounts() } : context;
  for (const child of iterateBoxes(body)) {
    if (!child.isComplete && (TABLES[child.type] !== undefined || CONTAINERS.has(child.type)))
      throw createDamagedError(`box ${child.type} is larger than its parent box`);
    checkBox(child.type, child.body, depth + 1, inner);
  }
  if (type === "trak") checkTrack(inner.track as TrackCounts, context);
}

const createTrackCounts = (): TrackCounts => ({
  times: 0,
  offsets: 0,
  maxPerChunk: 0,
  sizes: 0,
  isConstantSize: false,
});

function checkTable(
  type: string,
  body: Uint8Array,
  readTable: (typeof TABLES)[string],
  { totals, fileBytes, track }: TableContext,
): void {
  const view = toView(body);
  let table: ReturnType<typeof readTable>;
  try {
    table = readTable(view);
  } catch {
    throw createDamagedError(`box ${type} is too short`);
  }
  const { count, entryBytes, from } = table;
  if (count * entryBytes > Math.max(0, body.length - from))
    throw createDamagedError(`box ${type} declares ${count} entries in ${body.length} bytes`);
  if (type === "elst" && count > MAX_EDITS) throw createDamagedError(`a track has ${count} edits`);
  if (entryBytes > 0) totals.entries += count;
  if (totals.entries > MAX_TABLE_ENTRIES) throw createTooManyFramesError();
  if (type === "trun") {
    totals.samples += count;
    totals.fragmentSamples += count;
    if (totals.samples > fileBytes + SAMPLE_COUNT_TOLERANCE)
      throw createDamagedError("fragments declare more samples than the file has bytes");
    if (totals.fragmentSamples > MAX_FRAGMENT_SAMPLES) throw createDamagedError("a fragment declares too many samples");
  }
  if (track === null) return;
  if (type === "stts") track.times += sumSampleCounts(view, count);
  if (type === "ctts") track.offsets += sumSampleCounts(view, count);
  if (type === "stsc") track.maxPerChunk = Math.max(track.maxPerChunk, getMaxSamplesPerChunk(view, count));
  if (type === "stsz" || type === "stz2") {
    track.sizes += count;
    track.isConstantSize ||= entryBytes === 0;
  }
}

function sumSampleCounts(view: DataView, count: number): number {
  let sum = 0;
  for (let n = 0; n < count; n++) sum += view.getUint32(8 + 8 * n);
  return sum;
}

/** Returns the largest `samples_per_chunk`. */
function getMaxSamplesPerChunk(view: DataView, count: number): number {
  let max = 0;
  for (let n = 0; n < count; n++) max = Math.max(max, view.getUint32(8 + 12 * n + 4));
  return max;
}

/**
 * Throws `AppError` if the sample tables of a track are inconsistent or have too many samples. Uncompressed audio is
 * not checked unless it is reordered: it has many samples of one constant size, which readers handle in whole chunks.
 */
function checkTrack(
  { times, offsets, maxPerChunk, sizes, isConstantSize }: TrackCounts,
  { totals }: TableContext,
): void {
  if (isConstantSize && offsets === 0) return;
  const max = 2 * sizes + SAMPLE_COUNT_TOLERANCE;
  if (maxPerChunk > max)
    throw createDamagedError(`a chunk declares ${maxPerChunk} samples, but the track has ${sizes} sample sizes`);
  if (times > max) throw createDamagedError(`the track has times for ${times} samples, but ${sizes} sample sizes`);
  if (offsets > max)
    throw createDamagedError(`the track has composition offsets for ${offsets} samples, but ${sizes} sample sizes`);
  totals.samples += Math.max(times, offsets, sizes);
  if (totals.samples > MAX_SAMPLES) throw createTooManyFramesError();
}

const createTooManyFramesError = () => new AppError("media_limits_exceeded", "The file has too many frames.");
