/** The little of H.264's bit stream that splicing needs: NAL units, parameter sets and their numbers. Pure. */
import { isSameBytes, readExpGolomb } from "./bits";

/** The `avcC` record: a decoder's parameter sets as MP4 keeps them. `rest` is what follows them. */
export type AvcConfig = {
  profile: number;
  compatibility: number;
  level: number;
  /** Bytes before each NAL unit that give its length. */
  lengthSize: number;
  sps: Uint8Array[];
  pps: Uint8Array[];
  extensions: Uint8Array;
};

export const NAL_IDR = 5;
const NAL_SPS = 7;
const NAL_PPS = 8;
const MAX_PARAMETER_SET_ID = 31;

export const getNalType = (nal: Uint8Array): number => (nal[0] ?? 0) & 31;

/** Whether a NAL unit is part of a picture that others may refer to. */
export const isReferenceNal = (nal: Uint8Array): boolean => {
  const type = getNalType(nal);
  return type >= 1 && type <= NAL_IDR && ((nal[0]! >> 5) & 3) !== 0;
};

/** Parses `avcC`. Errors: a plain `Error` when it is cut short or of another version. */
export function parseAvcConfig(bytes: Uint8Array): AvcConfig {
  if (bytes.length < 7 || bytes[0] !== 1) throw new Error("no avcC record");
  let at = 5;
  const sets = (count: number): Uint8Array[] =>
    Array.from({ length: count }, () => {
      const length = (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0);
      const set = bytes.slice(at + 2, at + 2 + length);
      if (set.length !== length || length === 0) throw new Error("the avcC record is cut short");
      at += 2 + length;
      return set;
    });
  const sps = sets(bytes[at++]! & 31);
  const pps = sets(bytes[at++] ?? 0);
  const [profile, compatibility, level] = [bytes[1]!, bytes[2]!, bytes[3]!];
  return { profile, compatibility, level, lengthSize: (bytes[4]! & 3) + 1, sps, pps, extensions: bytes.slice(at) };
}

/** Writes `avcC`, with NAL lengths of four bytes. */
export function buildAvcConfig(config: AvcConfig): Uint8Array {
  const sized = (set: Uint8Array) => [set.length >> 8, set.length & 255, ...set];
  return Uint8Array.from([
    ...[1, config.profile, config.compatibility, config.level, 0xff],
    ...[0xe0 | config.sps.length, ...config.sps.flatMap(sized)],
    ...[config.pps.length, ...config.pps.flatMap(sized), ...config.extensions],
  ]);
}

/** Whether a packet carries a parameter set that `avcC` does not have: the stream changes on the way. */
export function changesParameterSets(units: readonly Uint8Array[], config: AvcConfig): boolean {
  const known = (nal: Uint8Array, sets: readonly Uint8Array[]) => sets.some((set) => isSameBytes(set, nal));
  return units.some(
    (nal) =>
      (getNalType(nal) === NAL_SPS && !known(nal, config.sps)) ||
      (getNalType(nal) === NAL_PPS && !known(nal, config.pps)),
  );
}

/** The id that a sequence parameter set gives itself: before any byte against start codes can be. */
export const parseSpsId = (sps: Uint8Array): number => readExpGolomb(sps, 32).value;

/** A number that neither a sequence nor a picture parameter set of the source uses; null when all are taken. */
export function findFreeParameterSetId(config: AvcConfig): number | null {
  const used = new Set([...config.sps.map(parseSpsId), ...config.pps.map((pps) => readExpGolomb(pps, 8).value)]);
  for (let id = 1; id <= MAX_PARAMETER_SET_ID; id++) if (!used.has(id)) return id;
  return null;
}

/**
 * The source's sets and the encoder's in one record. Errors: a plain `Error` when two sets have one id, or the encoder's picture needs a
 * higher profile than the record tells of.
 */
export function mergeAvcConfigs(source: AvcConfig, encoder: AvcConfig): AvcConfig {
  if (encoder.profile > source.profile) throw new Error("the encoder went beyond the source's profile");
  const taken = source.sps.map(parseSpsId);
  if (encoder.sps.some((sps) => taken.includes(parseSpsId(sps))))
    throw new Error("the encoder took an id of the source");
  return {
    ...source,
    level: Math.max(source.level, encoder.level),
    sps: [...source.sps, ...encoder.sps],
    pps: [...source.pps, ...encoder.pps],
  };
}
