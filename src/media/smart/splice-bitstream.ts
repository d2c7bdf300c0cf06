/** Adapts encoded segments to the source's bitstream. Pure. */

import {
  type Bitstream,
  buildDecoderDescription,
  buildPacket,
  parseBitstream,
  parseNalUnits,
} from "../packets/bitstream";
import { mergeAvcConfigs } from "../packets/h264";
import { mergeHevcConfigs, renumberNalUnit, renumberParameterSets } from "../packets/hevc";
import type { SpliceCodec } from "./splice-arguments";

/**
 * Returns the source's decoder configuration with the parameter sets of the encoded segments added. Errors: a plain
 * `Error` if they are incompatible.
 */
export function mergeDescriptions(
  source: Bitstream,
  splice: SpliceCodec,
  encoded: { codec: string; description: Uint8Array } | null,
): Uint8Array {
  if (encoded === null) return buildDecoderDescription(source);
  const encoder = parseBitstream(source.codec, encoded);
  if (source.codec === "h264" && encoder.codec === "h264")
    return buildDecoderDescription({
      codec: "h264",
      parameterSets: mergeAvcConfigs(source.parameterSets, encoder.parameterSets),
    });
  if (source.codec === "hevc" && encoder.codec === "hevc" && splice.codec === "hevc") {
    const parameterSets = mergeHevcConfigs(
      source.parameterSets,
      renumberParameterSets(encoder.parameterSets, splice.ids),
    );
    return buildDecoderDescription({ codec: "hevc", parameterSets });
  }
  throw new Error("Encoded segments have another codec than the source.");
}

/**
 * Returns a packet of an encoded segment as it appears in the spliced stream. Errors: a plain `Error` if it is not in
 * the form that the encoder writes.
 */
export function toSplicedPacket(splice: SpliceCodec, packet: Uint8Array, lengthSize: number): Uint8Array {
  if (splice.codec === "h264" && lengthSize === 4) return packet;
  const units = parseNalUnits(packet, lengthSize);
  return buildPacket(splice.codec === "h264" ? units : units.map((unit) => renumberNalUnit(unit, splice.ids)));
}
