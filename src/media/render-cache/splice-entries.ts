/**
 * Encoded splices as entries of the cache: the packets of one segment, and the parameter sets of its encoder. Pure but
 * for `createSpliceKey`.
 */
import type { SpliceSegment } from "../../domain/smart-plan";
import { createFileKey } from "../../lib/hash";
import type { SourceVersion } from "../source-version";

/** A packet as it appears in the spliced stream. `rank` is its place in the display order of its segment. */
export type SplicePacket = { data: Uint8Array; type: "key" | "delta"; rank: number };

/** `description`: the decoder configuration of the encoder. */
export type EncodedSplice = { description: Uint8Array; packets: SplicePacket[] };

/** Everything that the packets of a segment depend on, besides the segments that the same process encodes. */
type SpliceInputs = { source: SourceVersion; ffmpeg: string; splice: object; command: readonly string[] };

/** Returns the key of a segment. `command`: the arguments that encode it alone. */
export const createSpliceKey = (segment: SpliceSegment, inputs: SpliceInputs): string =>
  createFileKey(["splice", segment.from, segment.to, inputs]);

const HEADER_BYTES = 8;
const PACKET_HEADER_BYTES = 8;
const KEY_FLAG = 0x8000_0000;

/** Writes the sizes, then the packets in decode order. */
export function formatSplice({ description, packets }: EncodedSplice): Uint8Array {
  const headers = HEADER_BYTES + description.length + packets.length * PACKET_HEADER_BYTES;
  const bytes = new Uint8Array(headers + packets.reduce((sum, { data }) => sum + data.length, 0));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, description.length);
  view.setUint32(4, packets.length);
  bytes.set(description, HEADER_BYTES);
  let header = HEADER_BYTES + description.length;
  let at = headers;
  for (const { data, type, rank } of packets) {
    view.setUint32(header, data.length);
    view.setUint32(header + 4, type === "key" ? (rank | KEY_FLAG) >>> 0 : rank);
    header += PACKET_HEADER_BYTES;
    bytes.set(data, at);
    at += data.length;
  }
  return bytes;
}

/**
 * Parses an entry for a segment of `frameCount` frames. Returns null unless it has each of them once and starts with a
 * key packet.
 */
export function parseSplice(bytes: Uint8Array, frameCount: number): EncodedSplice | null {
  if (bytes.length < HEADER_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const descriptionBytes = view.getUint32(0);
  if (view.getUint32(4) !== frameCount) return null;
  let header = HEADER_BYTES + descriptionBytes;
  let at = header + frameCount * PACKET_HEADER_BYTES;
  if (at > bytes.length) return null;
  const description = bytes.subarray(HEADER_BYTES, header);
  const ranks = new Set<number>();
  const packets: SplicePacket[] = [];
  for (let n = 0; n < frameCount; n++) {
    const length = view.getUint32(header);
    const flags = view.getUint32(header + 4);
    const rank = flags & ~KEY_FLAG;
    header += PACKET_HEADER_BYTES;
    if (length === 0 || at + length > bytes.length || rank >= frameCount) return null;
    ranks.add(rank);
    packets.push({ data: bytes.subarray(at, at + length), type: flags >= KEY_FLAG ? "key" : "delta", rank });
    at += length;
  }
  return at === bytes.length && ranks.size === frameCount && packets[0]?.type === "key"
    ? { description, packets }
    : null;
}
