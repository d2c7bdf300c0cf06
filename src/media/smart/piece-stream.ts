/** How encoded pieces become part of the stream that they stand in. Pure. */
import { mergeAvcConfigs } from "../packets/h264";
import { mergeHevcConfigs, renumberConfig, renumberUnit } from "../packets/hevc";
import { describeStream, nalUnits, packetOf, parseStream, type Stream } from "../packets/stream";
import type { SpliceCodec } from "./splice-arguments";

/** The source's configuration with the pieces' parameter sets beside its own. Errors: a plain `Error` when they do not go together. */
export function joinedDescription(
  source: Stream,
  splice: SpliceCodec,
  pieces: { codec: string; description: Uint8Array } | null,
): Uint8Array {
  if (pieces === null) return describeStream(source);
  const encoder = parseStream(source.codec, pieces);
  if (source.codec === "h264" && encoder.codec === "h264")
    return describeStream({ codec: "h264", sets: mergeAvcConfigs(source.sets, encoder.sets) });
  if (source.codec === "hevc" && encoder.codec === "hevc" && splice.codec === "hevc") {
    const sets = mergeHevcConfigs(source.sets, renumberConfig(encoder.sets, splice.ids));
    return describeStream({ codec: "hevc", sets });
  }
  throw new Error("the pieces are of another codec");
}

/** A packet of a piece as it stands in the stream. Errors: a plain `Error` when it is not as the encoder is known to write them. */
export function joinedPacket(splice: SpliceCodec, packet: Uint8Array, lengthSize: number): Uint8Array {
  if (splice.codec === "h264" && lengthSize === 4) return packet;
  const units = nalUnits(packet, lengthSize);
  return packetOf(splice.codec === "h264" ? units : units.map((unit) => renumberUnit(unit, splice.ids)));
}
