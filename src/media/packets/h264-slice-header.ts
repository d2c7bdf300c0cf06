/**
 * Parses slice headers of progressive H.264 (ITU-T H.264, 7.3.2.2 and 7.3.3), with the positions of the fields that a
 * splice changes. Pure.
 */
import { type BitReader, createBitReader, removeEmulationPrevention } from "./bits";
import { getNalType, isReferenceNal, NAL_IDR } from "./h264";
import type { SequenceFacts } from "./h264-pictures";

/** The properties of a picture parameter set that slice headers depend on. */
export type PictureFacts = {
  isCabac: boolean;
  hasBottomOrder: boolean;
  /** Default number of references in both lists. */
  references: [number, number];
  hasWeightedPrediction: boolean;
  hasExplicitBiprediction: boolean;
  hasDeblockingControl: boolean;
};

/** Parses a picture parameter set. Returns its ID and facts; null for slice groups and redundant pictures. */
export function parsePictureFacts(pps: Uint8Array): { id: number; facts: PictureFacts } | null {
  const reader = createBitReader(removeEmulationPrevention(pps), 8);
  const id = reader.ue();
  reader.ue();
  const isCabac = reader.flag();
  const hasBottomOrder = reader.flag();
  if (reader.ue() !== 0) return null;
  const references: [number, number] = [reader.ue() + 1, reader.ue() + 1];
  const hasWeightedPrediction = reader.flag();
  const hasExplicitBiprediction = reader.u(2) === 1;
  for (let n = 0; n < 3; n++) reader.ue();
  const hasDeblockingControl = reader.flag();
  reader.flag();
  if (reader.flag()) return null;
  return {
    id,
    facts: {
      isCabac,
      hasBottomOrder,
      references,
      hasWeightedPrediction,
      hasExplicitBiprediction,
      hasDeblockingControl,
    },
  };
}

export type SliceKind = "P" | "B" | "I";

/**
 * A command that moves a picture in a list: `modification_of_pic_nums_idc` 0 or 1, and the difference of picture
 * numbers.
 */
export type ListCommand = { idc: number; difference: number };

/** A slice header. Places are bits of the slice without emulation prevention. */
export type SliceHeader = {
  nal: Uint8Array;
  /** The start of the slice without emulation prevention. */
  bytes: Uint8Array;
  kind: SliceKind;
  isReference: boolean;
  frameNumber: number;
  /** `pic_order_cnt_lsb`; null when pictures are shown in decode order. */
  order: number | null;
  isCabac: boolean;
  /** Number of references in each list. */
  references: [number, number];
  /** The commands of each list; null without any. */
  commands: [ListCommand[] | null, ListCommand[] | null];
  /**
   * Differences of the picture numbers that it removes from the references; null when the oldest one is removed if
   * there are too many.
   */
  removals: number[] | null;
  at: {
    frameNumber: number;
    afterFrameNumber: number;
    afterOrder: number;
    /** Start and end of the commands of both lists. */
    commands: number;
    afterCommands: number;
    /** `dec_ref_pic_marking` of a reference picture. */
    marking: number;
    afterMarking: number;
    end: number;
  };
};

const SLICE_KINDS: readonly (SliceKind | null)[] = ["P", "B", "I", null, null];
const MAX_REFERENCES = 32;
/** The header is at the beginning of a slice, which is long. */
const MAX_HEADER_BYTES = 1_024;

/**
 * Parses a slice that is not part of an IDR picture. Errors: a plain `Error` for features that splices do not support.
 */
export function parseSliceHeader(
  nal: Uint8Array,
  sequence: SequenceFacts,
  parameterSets: ReadonlyMap<number, PictureFacts>,
): SliceHeader {
  if (getNalType(nal) === NAL_IDR || sequence.hasFieldsOnly || sequence.hasSeparatePlanes)
    throw new Error("Not a slice of a progressive parameterSet.");
  const bytes = removeEmulationPrevention(nal.subarray(0, MAX_HEADER_BYTES));
  const reader = createBitReader(bytes, 8);
  reader.ue();
  const kind = SLICE_KINDS[reader.ue() % 5] ?? null;
  const parameterSet = parameterSets.get(reader.ue());
  if (kind === null || parameterSet === undefined) throw new Error("A slice has an unsupported type.");
  const frameNumberAt = reader.at();
  const frameNumber = reader.u(sequence.frameNumberBits);
  const afterFrameNumber = reader.at();
  const order = sequence.orderBits === null ? null : reader.u(sequence.orderBits);
  const afterOrder = reader.at();
  if (order !== null && parameterSet.hasBottomOrder && reader.ue() !== 0)
    throw new Error("Fields have their own order.");
  if (kind === "B") reader.flag();
  const references: [number, number] = [...parameterSet.references];
  if (kind !== "I" && reader.flag()) {
    references[0] = reader.ue() + 1;
    if (kind === "B") references[1] = reader.ue() + 1;
  }
  if (kind !== "B") references[1] = 0;
  if (kind === "I") references[0] = 0;
  if (references.some((count) => count > MAX_REFERENCES)) throw new Error("A slice has too many references.");
  const commandsAt = reader.at();
  const commands: SliceHeader["commands"] = [
    kind === "I" ? null : readCommands(reader),
    kind === "B" ? readCommands(reader) : null,
  ];
  const afterCommands = reader.at();
  const isWeighted =
    (kind === "P" && parameterSet.hasWeightedPrediction) || (kind === "B" && parameterSet.hasExplicitBiprediction);
  if (isWeighted) skipWeights(reader, references);
  const marking = reader.at();
  const isReference = isReferenceNal(nal);
  const removals = isReference ? readRemovals(reader) : null;
  const afterMarking = reader.at();
  if (parameterSet.isCabac && kind !== "I") reader.ue();
  reader.ue();
  if (parameterSet.hasDeblockingControl && reader.ue() !== 1) for (let n = 0; n < 2; n++) reader.ue();
  if (reader.at() > bytes.length * 8) throw new Error("A slice is truncated.");
  const at = {
    frameNumber: frameNumberAt,
    afterFrameNumber,
    afterOrder,
    commands: commandsAt,
    afterCommands,
    marking,
    afterMarking,
    end: reader.at(),
  };
  return {
    nal,
    bytes,
    kind,
    isReference,
    frameNumber,
    order,
    isCabac: parameterSet.isCabac,
    references,
    commands,
    removals,
    at,
  };
}

const END_OF_COMMANDS = 3;

function readCommands(reader: BitReader): ListCommand[] | null {
  if (!reader.flag()) return null;
  const commands: ListCommand[] = [];
  for (let idc = reader.ue(); idc !== END_OF_COMMANDS; idc = reader.ue()) {
    if (idc > 1 || commands.length >= MAX_REFERENCES) throw new Error("A slice has long-term references.");
    commands.push({ idc, difference: reader.ue() + 1 });
  }
  return commands;
}

const REMOVE_SHORT_TERM = 1;

function readRemovals(reader: BitReader): number[] | null {
  if (!reader.flag()) return null;
  const removals: number[] = [];
  for (let operation = reader.ue(); operation !== 0; operation = reader.ue()) {
    if (operation !== REMOVE_SHORT_TERM || removals.length >= MAX_REFERENCES)
      throw new Error("A picture has long-term references.");
    removals.push(reader.ue() + 1);
  }
  return removals;
}

/** Skips a table of weights, for 4:2:0. */
function skipWeights(reader: BitReader, references: readonly [number, number]): void {
  reader.ue();
  reader.ue();
  for (const count of references)
    for (let n = 0; n < count; n++) {
      if (reader.flag()) for (let k = 0; k < 2; k++) reader.ue();
      if (reader.flag()) for (let k = 0; k < 4; k++) reader.ue();
    }
}
