/** The parts of H.264 bitstreams that splicing needs: NAL units, parameter sets, ids (ITU-T H.264, 7.3). Pure. */
import { isSameBytes, readExpGolomb } from "./bits";

/** The `avcC` record: a decoder's parameter sets in MP4 (ISO 14496-15). `extensions`: the bytes after them. */
export type AvcConfig = {
  profile: number;
  compatibility: number;
  level: number;
  /** Length of the NAL unit length fields, in bytes. */
  lengthSize: number;
  sps: Uint8Array[];
  pps: Uint8Array[];
  extensions: Uint8Array;
};

export const NAL_SLICE = 1;
export const NAL_IDR = 5;
export const NAL_SPS = 7;
export const NAL_PPS = 8;
const MAX_PARAMETER_SET_ID = 31;

export const getNalType = (nal: Uint8Array): number => (nal[0] ?? 0) & 31;

export const isSlice = (nal: Uint8Array): boolean => getNalType(nal) >= NAL_SLICE && getNalType(nal) <= NAL_IDR;

/** Returns whether a NAL unit belongs to a reference picture (`nal_ref_idc` is not 0). */
export const isReferenceNal = (nal: Uint8Array): boolean => isSlice(nal) && ((nal[0]! >> 5) & 3) !== 0;

/** Parses `avcC`. Errors: a plain `Error` when it is truncated or has another version. */
export function parseAvcConfig(bytes: Uint8Array): AvcConfig {
  if (bytes.length < 7 || bytes[0] !== 1) throw new Error("Not an avcC record.");
  let at = 5;
  const sets = (count: number): Uint8Array[] =>
    Array.from({ length: count }, () => {
      const length = (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0);
      const set = bytes.slice(at + 2, at + 2 + length);
      if (set.length !== length || length === 0) throw new Error("The avcC record is truncated.");
      at += 2 + length;
      return set;
    });
  const sps = sets(bytes[at++]! & 31);
  const pps = sets(bytes[at++] ?? 0);
  const [profile, compatibility, level] = [bytes[1]!, bytes[2]!, bytes[3]!];
  return { profile, compatibility, level, lengthSize: (bytes[4]! & 3) + 1, sps, pps, extensions: bytes.slice(at) };
}

/** Builds `avcC` for NAL unit lengths of four bytes. */
export function buildAvcConfig(config: AvcConfig): Uint8Array {
  const sized = (set: Uint8Array) => [set.length >> 8, set.length & 255, ...set];
  return Uint8Array.from([
    ...[1, config.profile, config.compatibility, config.level, 0xff],
    ...[0xe0 | config.sps.length, ...config.sps.flatMap(sized)],
    ...[config.pps.length, ...config.pps.flatMap(sized), ...config.extensions],
  ]);
}

/** Returns whether a packet has a parameter set that is not in `avcC`: the stream's parameters change. */
export function changesParameterSets(units: readonly Uint8Array[], config: AvcConfig): boolean {
  const known = (nal: Uint8Array, sets: readonly Uint8Array[]) => sets.some((set) => isSameBytes(set, nal));
  return units.some(
    (nal) =>
      (getNalType(nal) === NAL_SPS && !known(nal, config.sps)) ||
      (getNalType(nal) === NAL_PPS && !known(nal, config.pps)),
  );
}

/** Returns a sequence parameter set's id. It precedes any possible emulation prevention byte. */
export const parseSpsId = (sps: Uint8Array): number => readExpGolomb(sps, 32).value;

/** Returns an id that no sequence or picture parameter set of the source uses; null if all are taken. */
export function findFreeParameterSetId(config: AvcConfig): number | null {
  const used = new Set([...config.sps.map(parseSpsId), ...config.pps.map((pps) => readExpGolomb(pps, 8).value)]);
  for (let id = 1; id <= MAX_PARAMETER_SET_ID; id++) if (!used.has(id)) return id;
  return null;
}

/**
 * Merges the parameter sets of the source and the encoder. Errors: a plain `Error` when two sets have the same id, or
 * the encoder's profile exceeds the source's.
 */
export function mergeAvcConfigs(source: AvcConfig, encoder: AvcConfig): AvcConfig {
  if (encoder.profile > source.profile) throw new Error("The encoder's profile exceeds the source's.");
  const taken = source.sps.map(parseSpsId);
  if (encoder.sps.some((sps) => taken.includes(parseSpsId(sps))))
    throw new Error("The encoder used a parameter set id of the source.");
  return {
    ...source,
    level: Math.max(source.level, encoder.level),
    sps: [...source.sps, ...encoder.sps],
    pps: [...source.pps, ...encoder.pps],
  };
}
