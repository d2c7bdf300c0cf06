/** Writes fragmented MP4 of one track (ISO 14496-12): an initialization segment, and one fragment. Pure. */
import type { VideoStream } from "../../domain/media";

export type FragmentTrack = {
  kind: "video" | "audio";
  timescale: number;
  /** The sample entry in the box `stsd`. */
  sampleEntry: Uint8Array;
  /** Clockwise, by the player. */
  rotation?: VideoStream["rotation"];
};

/** `data` contains the bytes or their location. `delay`: time between decoding and display, which may be negative. */
export type FragmentSample<Data> = { data: Data; duration: number; isKey: boolean; delay?: number };

type Part = Uint8Array | number[];

const u16 = (value: number): number[] => [(value >>> 8) & 0xff, value & 0xff];
const u32 = (value: number): number[] => [
  (value >>> 24) & 0xff,
  (value >>> 16) & 0xff,
  (value >>> 8) & 0xff,
  value & 0xff,
];
const u64 = (value: number): number[] => [...u32(Math.floor(value / 2 ** 32)), ...u32(value % 2 ** 32)];
const zeros = (count: number): number[] => new Array(count).fill(0);
const ascii = (text: string): number[] => [...text].map((character) => character.charCodeAt(0));

/** Returns a box with the parts as its body. */
export function box(type: string, ...parts: Part[]): Uint8Array<ArrayBuffer> {
  const size = 8 + parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(size);
  bytes.set([...u32(size), ...ascii(type)]);
  let at = 8;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

const fullBox = (type: string, version: number, flags: number, ...parts: Part[]): Uint8Array<ArrayBuffer> =>
  box(type, u32(version * 2 ** 24 + flags), ...parts);

const ONE = 0x10000;
const MINUS_ONE = 0xffff0000;
export const ROTATION_MATRICES: Record<VideoStream["rotation"], number[]> = {
  0: [ONE, 0, 0, 0, ONE, 0, 0, 0, 0x40000000],
  90: [0, ONE, 0, MINUS_ONE, 0, 0, 0, 0, 0x40000000],
  180: [MINUS_ONE, 0, 0, 0, MINUS_ONE, 0, 0, 0, 0x40000000],
  270: [0, MINUS_ONE, 0, ONE, 0, 0, 0, 0, 0x40000000],
};
const UNITY_MATRIX = ROTATION_MATRICES[0].flatMap(u32);
const UNDETERMINED_LANGUAGE = u16(0x55c4);
const TRACK_ID = 1;

/** Returns the boxes `ftyp` and `moov` of the track. */
export function writeInitSegment({
  kind,
  timescale,
  sampleEntry,
  rotation = 0,
}: FragmentTrack): Uint8Array<ArrayBuffer>[] {
  const isVideo = kind === "video";
  // The sizes in an `avc1` entry, as fixed-point numbers.
  const size = isVideo ? [...sampleEntry.subarray(32, 34), 0, 0, ...sampleEntry.subarray(34, 36), 0, 0] : zeros(8);
  const table = box(
    "stbl",
    fullBox("stsd", 0, 0, u32(1), sampleEntry),
    fullBox("stts", 0, 0, u32(0)),
    fullBox("stsc", 0, 0, u32(0)),
    fullBox("stsz", 0, 0, u32(0), u32(0)),
    fullBox("stco", 0, 0, u32(0)),
  );
  const media = box(
    "mdia",
    fullBox("mdhd", 0, 0, u32(0), u32(0), u32(timescale), u32(0), UNDETERMINED_LANGUAGE, u16(0)),
    fullBox("hdlr", 0, 0, u32(0), ascii(isVideo ? "vide" : "soun"), zeros(13)),
    box(
      "minf",
      isVideo ? fullBox("vmhd", 0, 1, zeros(8)) : fullBox("smhd", 0, 0, zeros(4)),
      box("dinf", fullBox("dref", 0, 0, u32(1), fullBox("url ", 0, 1))),
      table,
    ),
  );
  const header = fullBox(
    "tkhd",
    0,
    3,
    ...[u32(0), u32(0), u32(TRACK_ID), u32(0), u32(0), zeros(8), zeros(4), u16(isVideo ? 0 : 0x0100), u16(0)],
    ...[ROTATION_MATRICES[rotation].flatMap(u32), size],
  );
  const movie = fullBox(
    "mvhd",
    0,
    0,
    ...[u32(0), u32(0), u32(timescale), u32(0), u32(0x10000), u16(0x0100), zeros(10), UNITY_MATRIX, zeros(24)],
    u32(TRACK_ID + 1),
  );
  const defaults = fullBox("trex", 0, 0, u32(TRACK_ID), u32(1), u32(0), u32(0), u32(0));
  return [
    box("ftyp", ascii("iso5"), u32(512), ascii("iso5iso6mp41")),
    box("moov", movie, box("trak", header, media), box("mvex", defaults)),
  ];
}

const KEY_FLAGS = 0x0200_0000;
const DEPENDENT_FLAGS = 0x0101_0000;
const DEFAULT_BASE_IS_MOOF = 0x02_0000;
/** A data offset; duration, size and flags of each sample. */
const RUN_FLAGS = 0x000701;
/** The fields above, and a signed composition time offset, which needs version 1. */
const REORDERED_RUN_FLAGS = 0x000f01;

/** Returns a fragment's boxes and sample data. The first sample is decoded at `start`, in units of the timescale. */
export function writeFragment<Data extends { length: number }>(
  start: number,
  samples: readonly FragmentSample<Data>[],
): (Uint8Array | Data)[] {
  const isReordered = samples.some(({ delay = 0 }) => delay !== 0);
  const entryBytes = isReordered ? 16 : 12;
  const table = new DataView(new ArrayBuffer(entryBytes * samples.length));
  let bytes = 0;
  for (const [n, { data, duration, isKey, delay = 0 }] of samples.entries()) {
    const at = entryBytes * n;
    table.setUint32(at, duration);
    table.setUint32(at + 4, data.length);
    table.setUint32(at + 8, isKey ? KEY_FLAGS : DEPENDENT_FLAGS);
    if (isReordered) table.setInt32(at + 12, delay);
    bytes += data.length;
  }
  const [version, flags] = isReordered ? [1, REORDERED_RUN_FLAGS] : [0, RUN_FLAGS];
  const createMoof = (dataOffset: number) =>
    box(
      "moof",
      fullBox("mfhd", 0, 0, u32(1)),
      box(
        "traf",
        fullBox("tfhd", 0, DEFAULT_BASE_IS_MOOF, u32(TRACK_ID)),
        fullBox("tfdt", 1, 0, u64(start)),
        fullBox("trun", version, flags, u32(samples.length), u32(dataOffset), new Uint8Array(table.buffer)),
      ),
    );
  const header = new Uint8Array([...u32(8 + bytes), ...ascii("mdat")]);
  const moof = createMoof(createMoof(0).length + header.length);
  return [moof, header, ...samples.map(({ data }) => data)];
}
