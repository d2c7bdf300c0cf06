/** Reads data that an MP4 or QuickTime file's packet table lacks: edit lists, and whether the file is complete. */
import { type FileHandle, open } from "node:fs/promises";
import { iterateBoxes, readBoxBody, readBoxHeaders, toView } from "./mp4-boxes";
import { MAX_MISSING_BYTES, MAX_MOOV_BYTES } from "./mp4-check";

export type Mp4Track = {
  kind: "video" | "audio" | "other";
  /** Start and end of the presented media on the track's timeline, in seconds. `end` is infinite without a limit. */
  start: number;
  end: number;
  /** Whether there is more than one edit, or an edit with a rate other than 1. */
  hasComplexEdits: boolean;
  /** More than one if the codec parameters change within the file. */
  sampleDescriptionCount: number;
  /** Number of samples in the track's table, without those of fragments. */
  sampleCount: number;
};

/** `missingBytes`: bytes by which boxes exceed the file. `complete` is false if that is more than a miscount. */
export type Mp4Structure = { tracks: Mp4Track[]; complete: boolean; missingBytes: number };

/**
 * Reads the tracks with their edit lists, in file order. Returns null without a readable `moov`. Errors: of reading.
 */
export async function readMp4Structure(path: string): Promise<Mp4Structure | null> {
  await using file = await open(path, "r");
  const { moov, missingBytes } = await readMoov(file, path);
  if (moov === null) return null;
  const boxes = parseChildBoxes(moov);
  const movieTimescale = findTimescale(boxes.find((box) => box.type === "mvhd")?.body) ?? 1000;
  const tracks = boxes.filter((box) => box.type === "trak").map((trak) => parseTrack(trak.body, movieTimescale));
  // A recorder that was switched off leaves its last fragment incomplete. The media before it is complete.
  const fragmented = boxes.some((box) => box.type === "mvex");
  return { tracks, complete: fragmented || missingBytes <= MAX_MISSING_BYTES, missingBytes };
}

const MAX_BOXES = 100_000;

/** `path` is set if the file may be incomplete. */
export async function readMoov(
  file: FileHandle,
  path = "",
): Promise<{ moov: Uint8Array | null; missingBytes: number }> {
  const { size } = await file.stat();
  let moov: Uint8Array | null = null;
  let end = 0;
  let boxes = 0;
  for await (const box of readBoxHeaders(file, path, size)) {
    if (boxes++ >= MAX_BOXES) break;
    if (box.type === "moov" && moov === null) {
      const length = Math.min(box.size, size - box.at) - box.headerSize;
      if (length > MAX_MOOV_BYTES) break;
      moov = await readBoxBody(file, path, box, length);
    }
    end = box.at + box.size;
  }
  return { moov, missingBytes: Math.max(0, end - size) };
}

export const parseChildBoxes = (body: Uint8Array) => [...iterateBoxes(body)];

export const findChildBox = (body: Uint8Array | undefined, type: string): Uint8Array | undefined =>
  body === undefined ? undefined : parseChildBoxes(body).find((box) => box.type === type)?.body;

/** Reads the timescale of `mvhd` or `mdhd`: both have the same layout up to it. */
function findTimescale(body: Uint8Array | undefined): number | null {
  if (body === undefined || body.length < 24) return null;
  const scale = toView(body).getUint32(body[0] === 1 ? 20 : 12);
  return scale > 0 ? scale : null;
}

function parseTrack(trak: Uint8Array, movieTimescale: number): Mp4Track {
  const handler = findChildBox(findChildBox(trak, "mdia"), "hdlr");
  const name = handler === undefined ? "" : String.fromCharCode(...handler.subarray(8, 12));
  const kind = name === "vide" ? "video" : name === "soun" ? "audio" : "other";
  const entries = parseEditList(findChildBox(findChildBox(trak, "edts"), "elst"));
  let delay = 0;
  let firstEdit: { duration: number } | null = null;
  let hasComplexEdits = false;
  for (const entry of entries) {
    if (entry.mediaTime < 0) {
      if (firstEdit === null) delay += entry.duration;
      else hasComplexEdits = true;
    } else if (firstEdit === null) {
      firstEdit = entry;
      hasComplexEdits ||= entry.rate !== 1;
    } else hasComplexEdits = true;
  }
  const start = delay / movieTimescale;
  const end =
    firstEdit === null || firstEdit.duration === 0
      ? Number.POSITIVE_INFINITY
      : start + firstEdit.duration / movieTimescale;
  const tables = findChildBox(findChildBox(findChildBox(trak, "mdia"), "minf"), "stbl");
  const sampleDescriptionCount = findUint32(findChildBox(tables, "stsd"), 4) ?? 1;
  const sampleCount = findUint32(findChildBox(tables, "stsz"), 8) ?? findUint32(findChildBox(tables, "stz2"), 8) ?? 0;
  return { kind, start, end, hasComplexEdits, sampleDescriptionCount, sampleCount };
}

function findUint32(body: Uint8Array | undefined, at: number): number | null {
  if (body === undefined || body.length < at + 4) return null;
  return toView(body).getUint32(at);
}

/** Parses the entries of an edit list. Durations have the timescale of the movie, media times that of the track. */
export function parseEditList(elst: Uint8Array | undefined): { duration: number; mediaTime: number; rate: number }[] {
  if (elst === undefined || elst.length < 8) return [];
  const view = toView(elst);
  const size64 = elst[0] === 1;
  const size = size64 ? 20 : 12;
  const entries = [];
  for (let n = 0, at = 8; n < view.getUint32(4) && at + size <= elst.length; n++, at += size)
    entries.push({
      duration: size64 ? Number(view.getBigUint64(at)) : view.getUint32(at),
      mediaTime: size64 ? Number(view.getBigInt64(at + 8)) : view.getInt32(at + 4),
      rate: view.getInt16(at + size - 4),
    });
  return entries;
}
