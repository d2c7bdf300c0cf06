/** The pictures of an H.264 stream: size and display order (ITU-T H.264, 7.3.2.1, 7.3.3 and 8.2.1). Pure. */
import { createBitReader, removeEmulationPrevention } from "./bits";
import { getNalType, isReferenceNal, isSlice, NAL_IDR, NAL_SLICE } from "./h264";

/** The picture properties in a sequence parameter set. `orderBits` null: pictures are shown in decode order. */
export type SequenceFacts = {
  width: number;
  height: number;
  frameNumberBits: number;
  orderBits: number | null;
  /** `max_num_ref_frames`. */
  maxReferences: number;
  hasSeparatePlanes: boolean;
  hasFieldsOnly: boolean;
};

/** Profiles whose parameter sets have the chroma format and bit depths. */
const HIGH_PROFILES: readonly number[] = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];
const MACROBLOCK = 16;
/** The header is at the beginning of a slice. */
const MAX_HEADER_BYTES = 64;

/**
 * Parses a sequence parameter set. Returns null for scaling matrices, order by cycles and gray pictures, which chunks
 * never use, and for values that the standard does not allow.
 */
export function parseSequenceFacts(sps: Uint8Array): SequenceFacts | null {
  const bytes = removeEmulationPrevention(sps);
  const reader = createBitReader(bytes, 32);
  reader.ue();
  let chromaFormat = 1;
  let hasSeparatePlanes = false;
  if (HIGH_PROFILES.includes(bytes[1] ?? 0)) {
    chromaFormat = reader.ue();
    if (chromaFormat === 0) return null;
    if (chromaFormat === 3) hasSeparatePlanes = reader.flag();
    reader.ue();
    reader.ue();
    reader.flag();
    if (reader.flag()) return null;
  }
  const frameNumberBits = reader.ue() + 4;
  const orderType = reader.ue();
  if (orderType !== 0 && orderType !== 2) return null;
  const orderBits = orderType === 0 ? reader.ue() + 4 : null;
  const maxReferences = reader.ue();
  if (Math.max(frameNumberBits, orderBits ?? 0, maxReferences) > 16) return null;
  reader.flag();
  const columns = reader.ue() + 1;
  const rows = reader.ue() + 1;
  const hasFramesOnly = reader.flag();
  if (!hasFramesOnly) reader.flag();
  reader.flag();
  const crop = reader.flag() ? [0, 0, 0, 0].map(() => reader.ue()) : [0, 0, 0, 0];
  const [left, right, top, bottom] = crop as [number, number, number, number];
  const unitX = chromaFormat === 1 || chromaFormat === 2 ? 2 : 1;
  const unitY = (chromaFormat === 1 ? 2 : 1) * (hasFramesOnly ? 1 : 2);
  return {
    width: columns * MACROBLOCK - (left + right) * unitX,
    height: rows * MACROBLOCK * (hasFramesOnly ? 1 : 2) - (top + bottom) * unitY,
    frameNumberBits,
    orderBits,
    maxReferences,
    hasSeparatePlanes,
    hasFieldsOnly: !hasFramesOnly,
  };
}

/** A picture, described by its first slice. `order` counts from the last IDR picture. */
export type Picture = { isIdr: boolean; order: number };

/**
 * Returns a function that reads one packet after another, as NAL units in decode order. It throws a plain `Error` for a
 * packet that is not exactly one frame.
 */
export function createPictureReader(facts: SequenceFacts): (units: readonly Uint8Array[]) => Picture {
  let previous = { high: 0, low: 0 };
  let count = 0;

  function readOrder(first: Uint8Array, isIdr: boolean): number {
    if (isIdr) {
      previous = { high: 0, low: 0 };
      count = 0;
    }
    const reader = createBitReader(removeEmulationPrevention(first.subarray(0, MAX_HEADER_BYTES)), 8);
    for (let n = 0; n < 3; n++) reader.ue();
    if (facts.hasSeparatePlanes) reader.u(2);
    reader.u(facts.frameNumberBits);
    if (facts.hasFieldsOnly && reader.flag()) throw new Error("A packet is a field.");
    if (isIdr) reader.ue();
    if (facts.orderBits === null) return count++;
    const low = reader.u(facts.orderBits);
    const period = 2 ** facts.orderBits;
    let high = previous.high;
    if (low < previous.low && previous.low - low >= period / 2) high += period;
    else if (low > previous.low && low - previous.low > period / 2) high -= period;
    if (isReferenceNal(first)) previous = { high, low };
    return high + low;
  }

  return (units) => {
    const slices = units.filter(isSlice);
    const [first] = slices;
    if (first === undefined) throw new Error("A packet has no picture.");
    const type = getNalType(first);
    if ((type !== NAL_SLICE && type !== NAL_IDR) || slices.some((nal) => getNalType(nal) !== type))
      throw new Error("A packet mixes kinds of slices.");
    // Each picture has one slice that starts at its first macroblock.
    if (slices.filter(isFirstSlice).length !== 1 || !isFirstSlice(first))
      throw new Error("A packet is not one complete picture.");
    return { isIdr: type === NAL_IDR, order: readOrder(first, type === NAL_IDR) };
  };
}

/** `first_mb_in_slice` is 0, which is a single bit. */
const isFirstSlice = (nal: Uint8Array): boolean => ((nal[1] ?? 0) & 0x80) !== 0;
