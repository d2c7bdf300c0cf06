/** Decides which packets of a source to copy into a cut, and which frames to encode. Pure. */
import { findFirst } from "./time";

/** Packets in decode order. */
export type PacketOrder = {
  /** The frame that each packet shows, in display order; negative for packets that are not displayed. */
  frames: Int32Array;
  /** Packets at which decoding can start, ascending. No frame shown after one of them needs an earlier packet. */
  randomAccessPoints: Int32Array;
};

/**
 * Frames `[from, to)`, either encoded, or copied from packets `[firstPacket, endPacket)` without those of their leading
 * pictures, which precede the first frame in display order.
 */
export type SpliceSegment =
  | { kind: "copy"; from: number; to: number; firstPacket: number; endPacket: number }
  | { kind: "encode"; from: number; to: number };

/** Shorter copies are not worth a splice. */
export const MIN_COPY_FRAMES = 8;

/**
 * Divides a kept range of frames into segments: frames before the first random access point are encoded, packets from
 * there on are copied as long as they show exactly the following frames, and the remaining frames are encoded.
 */
export function planSpliceSegments(range: { from: number; to: number }, order: PacketOrder): SpliceSegment[] {
  const { from, to } = range;
  const firstPacket = findFirstRandomAccessPoint(from, to, order);
  if (firstPacket === null) return [{ kind: "encode", from, to }];
  const first = order.frames[firstPacket]!;
  const { end, copied } = findCopyEnd(firstPacket, to, order);
  if (copied < MIN_COPY_FRAMES) return [{ kind: "encode", from, to }];
  const segments: SpliceSegment[] = [];
  if (first > from) segments.push({ kind: "encode", from, to: first });
  segments.push({ kind: "copy", from: first, to: first + copied, firstPacket, endPacket: end });
  if (first + copied < to) segments.push({ kind: "encode", from: first + copied, to });
  return segments;
}

/** Returns the first random access point that shows a frame of the range; null if there is none. */
function findFirstRandomAccessPoint(from: number, to: number, order: PacketOrder): number | null {
  const firstPacket = order.randomAccessPoints[findRandomAccessIndex(from, order)];
  return firstPacket !== undefined && order.frames[firstPacket]! < to ? firstPacket : null;
}

/**
 * Returns the packet after a copy and the number of copied frames. The copy extends in decode order up to frame `to`,
 * excluding packets whose frames are not yet contiguous in display order.
 */
function findCopyEnd(firstPacket: number, to: number, { frames }: PacketOrder): { end: number; copied: number } {
  const first = frames[firstPacket]!;
  let complete = { end: firstPacket, copied: 0 };
  let highest = first - 1;
  let copied = 0;
  for (let n = firstPacket; n < frames.length && frames[n]! < to; n++) {
    if (frames[n]! < first) continue;
    copied++;
    highest = Math.max(highest, frames[n]!);
    if (highest - first + 1 === copied) complete = { end: n + 1, copied };
  }
  return complete;
}

/** Returns the index of the first random access point that shows `frame` or a later one, or their number. */
const findRandomAccessIndex = (frame: number, { frames, randomAccessPoints }: PacketOrder): number =>
  findFirst(randomAccessPoints.length, (n) => frames[randomAccessPoints[n]!]! >= frame);

/** Returns the index of the last random access point that shows a frame at or before `frame`; -1 if there is none. */
const getLastRandomAccessIndex = (frame: number, order: PacketOrder): number =>
  findRandomAccessIndex(frame + 1, order) - 1;

/** Returns the last frame at or before `frame` at which decoding can start; 0 if there is none. */
export const getRandomAccessFrame = (frame: number, order: PacketOrder): number =>
  Math.max(0, order.frames[order.randomAccessPoints[getLastRandomAccessIndex(frame, order)] ?? -1] ?? 0);

/**
 * Returns the packets `[from, to)` needed to decode frames `[from, to)`: from the last random access point at or before
 * the first frame to the packet that is decoded last.
 */
export function planDecodeRange(range: { from: number; to: number }, order: PacketOrder) {
  const { frames, randomAccessPoints } = order;
  const from = randomAccessPoints[getLastRandomAccessIndex(range.from, order)] ?? 0;
  let to = from + 1;
  let left = range.to - range.from;
  for (let n = from; n < frames.length && left > 0; n++) {
    if (frames[n]! < range.from || frames[n]! >= range.to) continue;
    to = n + 1;
    left--;
  }
  return { from, to };
}

/** The limit of H.264 and HEVC. */
const MAX_REORDER_FRAMES = 16;

/** Returns the maximum number of frames that precede a frame in decode but not in display order: 0 without B-frames. */
export function measureReorderDepth(frames: Int32Array): number {
  let depth = 0;
  for (let n = 0; n < frames.length; n++) {
    let later = 0;
    for (let before = Math.max(0, n - MAX_REORDER_FRAMES); before < n; before++)
      if (frames[before]! > frames[n]!) later++;
    depth = Math.max(depth, later);
  }
  return depth;
}
