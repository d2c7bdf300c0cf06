/** Creates the index file of a preview from its MP4 tables (ISO 14496-12). Runs in the child process of a job. */
import { open } from "node:fs/promises";
import { AppError } from "../../domain/errors";
import type { PreviewTrack } from "../../domain/preview";
import { AUDIO_ENTRY_BYTES, toView, VISUAL_ENTRY_BYTES } from "../packets/mp4-boxes";
import { checkMp4 } from "../packets/mp4-check";
import { findChildBox, parseChildBoxes, parseEditList, readMoov } from "../packets/mp4-structure";
import { RECORD_BYTES, writeRecord } from "./samples";

export type IndexedTracks = { video: PreviewTrack | null; audio: PreviewTrack | null };

const createDamagedError = (what: string) =>
  new AppError("processing_failed", "The preview could not be indexed.", { cause: new Error(what) });

/** Writes the index to `outputPath`. Errors: `AppError` `processing_failed`; those of `checkMp4` and of reading. */
export async function writePreviewIndex(preview: string, outputPath: string): Promise<IndexedTracks> {
  await checkMp4(preview);
  await using file = await open(preview, "r");
  const { moov } = await readMoov(file);
  if (moov === null) throw createDamagedError("no moov");
  const tracks: IndexedTracks = { video: null, audio: null };
  const parts: Uint8Array[] = [];
  let firstRecord = 0;
  const movieTimescale = readUint32(findChildBox(moov, "mvhd"), 12);
  for (const { type, body } of parseChildBoxes(moov)) {
    if (type !== "trak") continue;
    const { kind, records, ...track } = readTrack(body, movieTimescale);
    if (kind === null || tracks[kind] !== null) throw createDamagedError("unexpected track");
    tracks[kind] = { ...track, firstRecord, sampleCount: records.length / RECORD_BYTES };
    firstRecord += records.length / RECORD_BYTES;
    parts.push(records);
  }
  await Bun.write(outputPath, new Blob(parts as Uint8Array<ArrayBuffer>[]));
  return tracks;
}

function requireBox(body: Uint8Array | undefined, type: string): Uint8Array {
  const found = findChildBox(body, type);
  if (found === undefined) throw createDamagedError(`no ${type}`);
  return found;
}

const readUint32 = (body: Uint8Array | undefined, at: number): number => {
  if (body === undefined || body.length < at + 4) throw createDamagedError("a box is too short");
  return toView(body).getUint32(at);
};

function readTrack(trak: Uint8Array, movieTimescale: number) {
  const media = requireBox(trak, "mdia");
  const mdhd = requireBox(media, "mdhd");
  const timescale = readUint32(mdhd, mdhd[0] === 1 ? 20 : 12);
  const handler = String.fromCharCode(...requireBox(media, "hdlr").subarray(8, 12));
  const kind = handler === "vide" ? ("video" as const) : handler === "soun" ? ("audio" as const) : null;
  const tables = requireBox(requireBox(media, "minf"), "stbl");
  // B-frames would have composition offsets.
  if (findChildBox(tables, "ctts") !== undefined) throw createDamagedError("frames are reordered");
  const sampleEntry = requireBox(tables, "stsd").subarray(8);
  const shift = readStartShift(findChildBox(findChildBox(trak, "edts"), "elst"), timescale, movieTimescale);
  return {
    kind,
    timescale,
    mimeType: kind === "video" ? getVideoType(sampleEntry) : getAudioType(sampleEntry),
    sampleEntry: Buffer.from(sampleEntry).toString("base64"),
    records: readSamples(tables, shift, kind === "video"),
  };
}

/** Returns the offset to add to sample times: the delay of an empty edit, minus the media time at the start. */
function readStartShift(elst: Uint8Array | undefined, timescale: number, movieTimescale: number): number {
  let delay = 0;
  for (const { duration, mediaTime } of parseEditList(elst)) {
    if (mediaTime >= 0) return Math.round((delay * timescale) / movieTimescale) - mediaTime;
    delay += duration;
  }
  return 0;
}

/** Returns the records of all samples. `checkMp4` has checked the counts against the sizes of the boxes. */
function readSamples(tables: Uint8Array, shift: number, hasKeys: boolean): Uint8Array {
  const sizes = toView(requireBox(tables, "stsz"));
  const equalSize = sizes.getUint32(4);
  const count = sizes.getUint32(8);
  const records = new Uint8Array(count * RECORD_BYTES);
  const view = new DataView(records.buffer);
  const keys = readKeys(findChildBox(tables, "stss"));
  const times = iterateTimes(toView(requireBox(tables, "stts")));
  const starts = iterateChunks(tables);
  let left = 0;
  let offset = 0;
  for (let n = 0; n < count; n++) {
    if (left === 0) {
      const chunk = starts.next();
      if (chunk.done) throw createDamagedError("samples without a chunk");
      [offset, left] = [chunk.value.offset, chunk.value.samples];
    }
    const size = equalSize || sizes.getUint32(12 + 4 * n);
    const time = times.next();
    if (time.done) throw createDamagedError("samples without a time");
    const isKey = !hasKeys || keys === null || keys.has(n + 1);
    writeRecord(view, n * RECORD_BYTES, { offset, size, time: time.value + shift, isKey });
    offset += size;
    left--;
  }
  return records;
}

function readKeys(stss: Uint8Array | undefined): Set<number> | null {
  if (stss === undefined) return null;
  const view = toView(stss);
  return new Set(Array.from({ length: view.getUint32(4) }, (_, n) => view.getUint32(8 + 4 * n)));
}

function* iterateTimes(stts: DataView): Generator<number, undefined> {
  let time = 0;
  for (let entry = 0; entry < stts.getUint32(4); entry++) {
    const duration = stts.getUint32(12 + 8 * entry);
    for (let n = stts.getUint32(8 + 8 * entry); n > 0; n--) {
      yield time;
      time += duration;
    }
  }
  return undefined;
}

/** Iterates over the chunks with their offsets and numbers of samples. */
function* iterateChunks(tables: Uint8Array): Generator<{ offset: number; samples: number }, undefined> {
  const map = toView(requireBox(tables, "stsc"));
  const short = findChildBox(tables, "stco");
  const offsets = toView(short ?? requireBox(tables, "co64"));
  const runs = map.getUint32(4);
  let run = 0;
  for (let n = 0; n < offsets.getUint32(4); n++) {
    while (run + 1 < runs && map.getUint32(8 + 12 * (run + 1)) <= n + 1) run++;
    const samples = map.getUint32(8 + 12 * run + 4);
    if (samples === 0) throw createDamagedError("a chunk without samples");
    yield { offset: short ? offsets.getUint32(8 + 4 * n) : Number(offsets.getBigUint64(8 + 8 * n)), samples };
  }
  return undefined;
}

/** Returns the MIME type of an `avc1` entry, with the profile, constraints and level of its parameter sets. */
function getVideoType(entry: Uint8Array): string {
  const avcC = requireBox(entry.subarray(VISUAL_ENTRY_BYTES), "avcC");
  const codec = [...avcC.subarray(1, 4)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `video/mp4; codecs="avc1.${codec}"`;
}

const DECODER_SPECIFIC_TAG = 0x05;

/** Returns the MIME type of an `mp4a` entry with its audio object type (ISO 14496-3). */
function getAudioType(entry: Uint8Array): string {
  const esds = requireBox(entry.subarray(AUDIO_ENTRY_BYTES), "esds");
  // Version and flags, then nested descriptors: ES (3 bytes), decoder configuration (13 bytes), specific information.
  let at = 4;
  for (const bytes of [3, 13]) at = skipDescriptorHeader(esds, at) + bytes;
  if (esds[at] !== DECODER_SPECIFIC_TAG) throw createDamagedError("no audio configuration");
  const objectType = esds[skipDescriptorHeader(esds, at)]! >> 3;
  return `audio/mp4; codecs="mp4a.40.${objectType}"`;
}

/** Skips a tag and a length of up to four bytes. */
function skipDescriptorHeader(bytes: Uint8Array, at: number): number {
  let next = at + 1;
  while (next < at + 4 && (bytes[next] ?? 0) & 0x80) next++;
  return next + 1;
}
