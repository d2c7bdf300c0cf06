/** A common interface to H.264 and HEVC bitstreams, with the properties that splicing needs. Pure. */
import * as h264 from "./h264";
import { createRecoveryRewriter, type RecoveryRewriter } from "./h264-recovery";
import * as hevc from "./hevc";

/** The parameter sets of a bitstream, tagged with its codec. */
export type Bitstream =
  | { codec: "h264"; parameterSets: h264.AvcConfig }
  | { codec: "hevc"; parameterSets: hevc.HevcConfig };

/** Codecs whose packets can be copied, by the start of the codec string. The parameter sets are in the sample entry. */
const SAMPLE_ENTRIES: Record<Bitstream["codec"], RegExp> = { h264: /^avc1/, hevc: /^(hvc1|hev1)/ };

export const isSpliceableCodec = (codec: string): codec is Bitstream["codec"] => codec in SAMPLE_ENTRIES;

/** Parses a decoder configuration. Errors: a plain `Error` when it is not one of this codec. */
export function parseBitstream(
  codec: Bitstream["codec"],
  config: { codec: string; description: Uint8Array },
): Bitstream {
  if (!SAMPLE_ENTRIES[codec].test(config.codec)) throw new Error("The parameter sets are in-band.");
  return codec === "h264"
    ? { codec, parameterSets: h264.parseAvcConfig(config.description) }
    : { codec, parameterSets: hevc.parseHevcConfig(config.description) };
}

/** Returns the decoder configuration for packets with NAL unit lengths of four bytes. */
export const buildDecoderDescription = (stream: Bitstream): Uint8Array =>
  stream.codec === "h264" ? h264.buildAvcConfig(stream.parameterSets) : hevc.buildHevcConfig(stream.parameterSets);

/** Returns whether a packet has parameter sets that are not in its configuration. */
export const changesParameterSets = ({ codec, parameterSets }: Bitstream, units: readonly Uint8Array[]): boolean =>
  codec === "h264" ? h264.changesParameterSets(units, parameterSets) : hevc.changesParameterSets(units, parameterSets);

/** Returns whether other pictures may refer to this one. */
export const isReferencePicture = ({ codec, parameterSets }: Bitstream, units: readonly Uint8Array[]): boolean =>
  units.some((nal) => (codec === "h264" ? h264.isReferenceNal(nal) : hevc.isReferenceNal(nal, parameterSets)));

/** Returns whether decoding can start at a picture if its leading pictures are skipped. */
export const isRandomAccessPoint = ({ codec }: Bitstream, units: readonly Uint8Array[]): boolean =>
  codec === "h264" ? units.some((nal) => h264.getNalType(nal) === h264.NAL_IDR) : hevc.isRandomAccessPoint(units);

/** Returns the rewriter for a stream that starts at an intra picture of H.264 that is not IDR; null if it cannot. */
export const createEntryRewriter = (
  { codec, parameterSets }: Bitstream,
  units: readonly Uint8Array[],
): RecoveryRewriter | null => (codec === "h264" ? createRecoveryRewriter(parameterSets, units) : null);

/** Returns a random access point that does not depend on earlier pictures. */
export const toSplicedRandomAccessPoint = (
  { codec }: Bitstream,
  units: readonly Uint8Array[],
): readonly Uint8Array[] => (codec === "h264" ? units : hevc.convertCraToBla(units));

/** Parses the NAL units of a packet. Errors: a plain `Error` when a length is 0 or extends beyond the packet. */
export function parseNalUnits(packet: Uint8Array, lengthSize: number): Uint8Array[] {
  const units: Uint8Array[] = [];
  for (let at = 0; at + lengthSize <= packet.length; ) {
    let length = 0;
    for (let n = 0; n < lengthSize; n++) length = length * 256 + packet[at + n]!;
    at += lengthSize;
    if (length === 0) throw new Error("A NAL unit is empty.");
    if (at + length > packet.length) throw new Error("A NAL unit extends beyond its packet.");
    units.push(packet.subarray(at, at + length));
    at += length;
  }
  return units;
}

/** Returns a packet of NAL units with lengths of four bytes. */
export function buildPacket(units: readonly Uint8Array[]): Uint8Array {
  const packet = new Uint8Array(units.reduce((sum, unit) => sum + 4 + unit.length, 0));
  const view = new DataView(packet.buffer);
  let at = 0;
  for (const unit of units) {
    view.setUint32(at, unit.length);
    packet.set(unit, at + 4);
    at += 4 + unit.length;
  }
  return packet;
}
