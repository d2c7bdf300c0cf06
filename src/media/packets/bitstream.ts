/** What splicing must know of a source's bit stream, whichever codec it is of. Pure. */
import * as h264 from "./h264";
import * as hevc from "./hevc";

/** The parameter sets of a stream, with the rules of its codec. */
export type Bitstream =
  | { codec: "h264"; parameterSets: h264.AvcConfig }
  | { codec: "hevc"; parameterSets: hevc.HevcConfig };

/** The codecs whose packets can be copied, by the beginning of the name that a container gives them. */
const SAMPLE_ENTRIES: Record<Bitstream["codec"], RegExp> = { h264: /^avc1/, hevc: /^(hvc1|hev1)/ };

/** Whether packets of this codec can be told apart. */
export const isSpliceableCodec = (codec: string): codec is Bitstream["codec"] => codec in SAMPLE_ENTRIES;

/** Reads a decoder's configuration. Errors: a plain `Error` when it is none of this codec. */
export function parseBitstream(
  codec: Bitstream["codec"],
  config: { codec: string; description: Uint8Array },
): Bitstream {
  if (!SAMPLE_ENTRIES[codec].test(config.codec)) throw new Error("the parameter sets are elsewhere");
  return codec === "h264"
    ? { codec, parameterSets: h264.parseAvcConfig(config.description) }
    : { codec, parameterSets: hevc.parseHevcConfig(config.description) };
}

/** The decoder's configuration, for packets with NAL lengths of four bytes. */
export const buildDecoderDescription = (stream: Bitstream): Uint8Array =>
  stream.codec === "h264" ? h264.buildAvcConfig(stream.parameterSets) : hevc.buildHevcConfig(stream.parameterSets);

/** Whether a packet carries other parameter sets than its configuration. */
export const changesParameterSets = (
  { codec, parameterSets: sets }: Bitstream,
  units: readonly Uint8Array[],
): boolean => (codec === "h264" ? h264.changesParameterSets(units, sets) : hevc.changesParameterSets(units, sets));

/** Whether any picture may need this one. */
export const isReferencePicture = ({ codec, parameterSets: sets }: Bitstream, units: readonly Uint8Array[]): boolean =>
  units.some((nal) => (codec === "h264" ? h264.isReferenceNal(nal) : hevc.isReferenceNal(nal, sets)));

/** Whether decoding can begin at a picture, without those that follow it but are shown before it. */
export const isRandomAccessPoint = ({ codec }: Bitstream, units: readonly Uint8Array[]): boolean =>
  codec === "h264" ? units.some((nal) => h264.getNalType(nal) === h264.NAL_IDR) : hevc.isRandomAccessPoint(units);

/** A picture at which decoding begins, made independent of whatever has been decoded before. */
export const toSplicedRandomAccessPoint = (
  { codec }: Bitstream,
  units: readonly Uint8Array[],
): readonly Uint8Array[] => (codec === "h264" ? units : hevc.convertCraToBla(units));

/** The NAL units of a packet. Errors: a plain `Error` when a length is 0 or reaches beyond the packet. */
export function parseNalUnits(packet: Uint8Array, lengthSize: number): Uint8Array[] {
  const units: Uint8Array[] = [];
  for (let at = 0; at + lengthSize <= packet.length; ) {
    let length = 0;
    for (let n = 0; n < lengthSize; n++) length = length * 256 + packet[at + n]!;
    at += lengthSize;
    if (length === 0) throw new Error("a NAL unit is empty");
    if (at + length > packet.length) throw new Error("a NAL unit reaches beyond its packet");
    units.push(packet.subarray(at, at + length));
    at += length;
  }
  return units;
}

/** A packet of NAL units, with lengths of four bytes. */
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
