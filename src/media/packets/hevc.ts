/** The parts of HEVC bitstreams that splicing needs: NAL units, parameter sets, ids (ITU-T H.265, 7.3). Pure. */
import {
  addEmulationPrevention,
  formatExpGolomb,
  isSameBytes,
  readBits,
  readExpGolomb,
  removeEmulationPrevention,
  replaceBits,
} from "./bits";

/** The `hvcC` record: a decoder's parameter sets in MP4 (ISO 14496-15). */
export type HevcConfig = {
  /** The bytes before the sets: profile, tier, level, chroma format and bit depth. */
  header: Uint8Array;
  /** Length of the NAL unit length fields, in bytes. */
  lengthSize: number;
  vps: Uint8Array[];
  sps: Uint8Array[];
  pps: Uint8Array[];
};

/** The ids of a VPS, an SPS and a PPS that refer to each other. */
export type HevcParameterSetIds = { vps: number; sps: number; pps: number };

const HEADER_BYTES = 22;
const NAL_VPS = 32;
const NAL_SPS = 33;
const NAL_PPS = 34;
const NAL_BLA_N_LP = 18;
const NAL_IDR = [19, 20];
const NAL_CRA = 21;
/** Slices of IRAP and other pictures have types up to this one. */
const MAX_SLICE_NAL_TYPE = 21;
const IRAP_NAL_TYPES = { first: 16, last: 23 };
const NAL_HEADER_BITS = 16;
const MAX_PARAMETER_SET_ID = 15;
/** Ids with a ue(v) of nine bits. Id 0 has one bit, so a slice with one of these ids is exactly a byte longer. */
const NINE_BIT_IDS = { first: 15, last: 30 };

export const getNalType = (nal: Uint8Array): number => ((nal[0] ?? 0) >> 1) & 63;

const isSlice = (nal: Uint8Array): boolean => getNalType(nal) <= MAX_SLICE_NAL_TYPE;

/** Returns whether decoding can start at a picture (IDR or CRA). */
export const isRandomAccessPoint = (units: readonly Uint8Array[]): boolean =>
  units.some((nal) => NAL_IDR.includes(getNalType(nal)) || getNalType(nal) === NAL_CRA);

/** Returns whether a NAL unit may belong to a reference picture. With temporal sublayers, every slice may. */
export function isReferenceNal(nal: Uint8Array, config: HevcConfig): boolean {
  if (!isSlice(nal)) return false;
  const sublayers = config.sps.some((sps) => readBits(sps, NAL_HEADER_BITS + 4, 3) > 0);
  return sublayers || getNalType(nal) > 15 || getNalType(nal) % 2 === 1;
}

/**
 * Makes a random access point independent of earlier pictures, if its leading pictures are dropped: a CRA picture
 * becomes BLA_N_LP, as the standard intends for splices.
 */
export function convertCraToBla(units: readonly Uint8Array[]): Uint8Array[] {
  return units.map((nal) => {
    if (getNalType(nal) !== NAL_CRA) return nal;
    const changed = nal.slice();
    changed[0] = (nal[0]! & 0x81) | (NAL_BLA_N_LP << 1);
    return changed;
  });
}

/** Parses `hvcC`. Errors: a plain `Error` when it is truncated or has another version. */
export function parseHevcConfig(bytes: Uint8Array): HevcConfig {
  if (bytes.length < HEADER_BYTES + 1 || bytes[0] !== 1) throw new Error("Not an hvcC record.");
  const header = bytes.slice(0, HEADER_BYTES);
  const sets: Record<number, Uint8Array[]> = { [NAL_VPS]: [], [NAL_SPS]: [], [NAL_PPS]: [] };
  let at = HEADER_BYTES + 1;
  const readWord = () => {
    at += 2;
    return (bytes[at - 2] ?? 0) * 256 + (bytes[at - 1] ?? 0);
  };
  for (let arrays = bytes[HEADER_BYTES]!; arrays > 0; arrays--) {
    const type = (bytes[at++] ?? 0) & 63;
    for (let count = readWord(); count > 0; count--) {
      const length = readWord();
      const nal = bytes.slice(at, at + length);
      if (nal.length !== length || length < 3) throw new Error("The hvcC record is truncated.");
      at += length;
      sets[type]?.push(nal);
    }
  }
  const [vps, sps, pps] = [sets[NAL_VPS]!, sets[NAL_SPS]!, sets[NAL_PPS]!];
  if (sps.length === 0 || pps.length === 0) throw new Error("The hvcC record has no parameter sets.");
  return { header, lengthSize: (header[21]! & 3) + 1, vps, sps, pps };
}

/** Builds `hvcC` for NAL unit lengths of four bytes, without in-band parameter sets. */
export function buildHevcConfig({ header, vps, sps, pps }: HevcConfig): Uint8Array {
  const toWord = (value: number) => [value >> 8, value & 255];
  const types = [NAL_VPS, NAL_SPS, NAL_PPS];
  const arrays = [vps, sps, pps]
    .map((nals, n) => ({ type: types[n]!, nals }))
    .filter(({ nals }) => nals.length > 0)
    .map(({ type, nals }) => [
      0x80 | type,
      ...toWord(nals.length),
      ...nals.flatMap((n) => [...toWord(n.length), ...n]),
    ]);
  return Uint8Array.from([...header.slice(0, 21), header[21]! | 3, arrays.length, ...arrays.flat()]);
}

/** Returns whether a packet has a parameter set that is not in `hvcC`: the stream's parameters change. */
export function changesParameterSets(units: readonly Uint8Array[], config: HevcConfig): boolean {
  const known: Record<number, Uint8Array[]> = { [NAL_VPS]: config.vps, [NAL_SPS]: config.sps, [NAL_PPS]: config.pps };
  return units.some((nal) => known[getNalType(nal)]?.some((set) => isSameBytes(set, nal)) === false);
}

/** Returns the position of an SPS's id, in bits. It follows the profile and level of each sublayer. */
function getSpsIdOffset(bytes: Uint8Array): number {
  const sublayers = readBits(bytes, NAL_HEADER_BITS + 4, 3);
  const flags = NAL_HEADER_BITS + 8 + 96;
  if (sublayers === 0) return flags;
  let at = flags + 16;
  for (let n = 0; n < sublayers; n++)
    at += 88 * readBits(bytes, flags + 2 * n, 1) + 8 * readBits(bytes, flags + 2 * n + 1, 1);
  return at;
}

const parseSpsId = (sps: Uint8Array): number => {
  const bytes = removeEmulationPrevention(sps);
  return readExpGolomb(bytes, getSpsIdOffset(bytes)).value;
};

/** Returns ids that the source does not use; null if all are taken. */
export function findFreeParameterSetIds(config: HevcConfig): HevcParameterSetIds | null {
  const free = (used: readonly number[], first: number, last: number): number | null => {
    for (let id = first; id <= last; id++) if (!used.includes(id)) return id;
    return null;
  };
  const vpsIds = config.vps.map((set) => readBits(set, NAL_HEADER_BITS, 4));
  const ppsIds = config.pps.map((set) => readExpGolomb(set, NAL_HEADER_BITS).value);
  const vps = free(vpsIds, 1, MAX_PARAMETER_SET_ID);
  const sps = free(config.sps.map(parseSpsId), 1, MAX_PARAMETER_SET_ID);
  const pps = free(ppsIds, NINE_BIT_IDS.first, NINE_BIT_IDS.last);
  return vps === null || sps === null || pps === null ? null : { vps, sps, pps };
}

/** Changes the ids of an encoder's parameter sets. Errors: a plain `Error` unless it wrote one of each kind, id 0. */
export function renumberParameterSets(config: HevcConfig, ids: HevcParameterSetIds): HevcConfig {
  const { vps, sps, pps } = config;
  if (vps.length !== 1 || sps.length !== 1 || pps.length !== 1)
    throw new Error("The encoder wrote several parameter sets of one kind.");
  const toFourBits = (value: number) => value.toString(2).padStart(4, "0");
  const spsBytes = removeEmulationPrevention(sps[0]!);
  const ppsBytes = removeEmulationPrevention(pps[0]!);
  const spsAt = getSpsIdOffset(spsBytes);
  const [spsId, ppsId] = [readExpGolomb(spsBytes, spsAt), readExpGolomb(ppsBytes, NAL_HEADER_BITS)];
  const ppsSpsId = readExpGolomb(ppsBytes, ppsId.end);
  if (spsId.value !== 0 || ppsId.value !== 0 || ppsSpsId.value !== 0)
    throw new Error("The encoder's parameter sets do not have id 0.");
  const setVpsId = (bytes: Uint8Array) =>
    addEmulationPrevention(replaceBits(bytes, NAL_HEADER_BITS, NAL_HEADER_BITS + 4, toFourBits(ids.vps)));
  const newSps = replaceBitsInParameterSet(spsBytes, spsAt, spsId.end, formatExpGolomb(ids.sps));
  const newIds = formatExpGolomb(ids.pps) + formatExpGolomb(ids.sps);
  const newPps = replaceBitsInParameterSet(ppsBytes, NAL_HEADER_BITS, ppsSpsId.end, newIds);
  return {
    ...config,
    vps: [setVpsId(removeEmulationPrevention(vps[0]!))],
    sps: [setVpsId(newSps)],
    pps: [addEmulationPrevention(newPps)],
  };
}

/** Like `replaceBits`, but for an RBSP with trailing bits: a 1 and zeros up to a whole byte. */
function replaceBitsInParameterSet(bytes: Uint8Array, from: number, to: number, bits: string): Uint8Array {
  const changed = replaceBits(bytes, from, to, bits);
  let length = changed.length;
  while (length > 0 && changed[length - 1] === 0) length--;
  return changed.slice(0, length);
}

/** Returns a NAL unit with the renumbered PPS id. Errors: a plain `Error` if it refers to another id than 0. */
export function renumberNalUnit(nal: Uint8Array, ids: HevcParameterSetIds): Uint8Array {
  if (!isSlice(nal)) return nal;
  const bytes = removeEmulationPrevention(nal);
  const isIrap = getNalType(nal) >= IRAP_NAL_TYPES.first && getNalType(nal) <= IRAP_NAL_TYPES.last;
  const at = NAL_HEADER_BITS + (isIrap ? 2 : 1);
  const { value, end } = readExpGolomb(bytes, at);
  if (value !== 0) throw new Error("A slice refers to a PPS id other than 0.");
  return addEmulationPrevention(replaceBits(bytes, at, end, formatExpGolomb(ids.pps)));
}

/**
 * Merges the parameter sets of the source and the encoder. Errors: a plain `Error` when the profile, chroma format or
 * bit depth differ, or two sets have the same id.
 */
export function mergeHevcConfigs(source: HevcConfig, encoder: HevcConfig): HevcConfig {
  const kind = ({ header }: HevcConfig) => [header[1]! & 31, header[16]! & 3, header[17]! & 7, header[18]! & 7].join();
  if (kind(source) !== kind(encoder)) throw new Error("The encoder's profile or format differs from the source's.");
  if (encoder.sps.some((sps) => source.sps.map(parseSpsId).includes(parseSpsId(sps))))
    throw new Error("The encoder used a parameter set id of the source.");
  const header = source.header.slice();
  const isHigher = encoder.header[12]! > header[12]!;
  if (isHigher) header[12] = encoder.header[12]!;
  // The record describes all sets: it uses the higher tier, and unspecified values for segmentation and parallelism.
  header[1] = header[1]! | (encoder.header[1]! & 0x20);
  header[13] = 0xf0;
  header[14] = 0;
  header[15] = 0xfc;
  return {
    ...source,
    header,
    vps: [...source.vps, ...encoder.vps],
    sps: [...source.sps, ...encoder.sps],
    pps: [...source.pps, ...encoder.pps],
  };
}
