/**
 * Reads the packets that decoding some frames needs. In H.264 with one reference per list, as fast presets write it,
 * the B-frames that are references are dropped up to these frames: half of the reference pictures.
 */
import type { EncodedPacket } from "mediabunny";
import { buildPacket, createEntryRewriter, isRandomAccessPoint, isReferencePicture } from "./bitstream";
import { getPacket, type PacketSource, parsePacket, readSourcePackets, SpliceError } from "./source";
import { iteratePackets } from "./video-track";

type NeededPacket = { index: number; frame: number; data: Uint8Array };

type GroupPacket = { index: number; frame: number; units: Uint8Array[]; packet: EncodedPacket };

/** Maximum size of a group that is kept in memory. In larger ones, no reference picture is dropped. */
const MAX_GROUP_BYTES = 32 * 1024 ** 2;

/** With fewer packets of other frames, reading their lists costs more than it saves. */
const MIN_OTHER_PACKETS = 16;

/**
 * Yields the packets of `[from, to)` that are needed to decode the frames that `isKept` accepts. `from` is a random
 * access point. Errors: those of `readSourcePackets`.
 */
export async function* readNeededPackets(
  source: PacketSource,
  { from, to }: { from: number; to: number },
  isKept: (frame: number) => boolean,
): AsyncGenerator<NeededPacket> {
  for (let at = from; at < to; ) {
    const others = source.order.frames.subarray(at, to).filter((frame) => !isKept(frame));
    const canDrop = source.bitstream.codec === "h264" && others.length >= MIN_OTHER_PACKETS;
    const group = canDrop ? await readGroup(source, at, to) : null;
    const needed = group === null ? null : selectNeeded(source, group, isKept);
    const end = group === null ? to : at + group.length;
    if (needed === null) yield* readSourcePackets(source, { from: at, to: end }, isKept);
    else yield* needed;
    at = end;
  }
}

/** Reads packets up to the next IDR picture or `to`; null if they are too large. */
async function readGroup(source: PacketSource, from: number, to: number): Promise<GroupPacket[] | null> {
  const group: GroupPacket[] = [];
  let bytes = 0;
  for await (const packet of iteratePackets(source.sink, { start: await getPacket(source, from) })) {
    const index = from + group.length;
    if (packet.timestamp !== source.timestamps[index])
      throw new SpliceError("Packets are not in the order of the table.");
    const units = parsePacket(packet, source);
    if (index > from && isRandomAccessPoint(source.bitstream, units)) break;
    bytes += packet.data.byteLength;
    if (bytes > MAX_GROUP_BYTES) return null;
    group.push({ index, frame: source.order.frames[index]!, units, packet });
    if (index + 1 >= to) break;
  }
  return group;
}

/** Returns the needed packets of a group, renumbered; null if no packet can be dropped. */
function selectNeeded(
  source: PacketSource,
  group: readonly GroupPacket[],
  isKept: (frame: number) => boolean,
): NeededPacket[] | null {
  const { bitstream, order } = source;
  const first = order.frames[group[0]!.index]!;
  const open = () => createEntryRewriter(bitstream, group[0]!.units);
  const reader = open();
  // Without CABAC, all bits of a slice would be moved. Such streams rarely have pictures to drop.
  if (reader === null || !reader.isCabac) return null;
  const isOpen = !isRandomAccessPoint(bitstream, group[0]!.units);
  const isCandidate = ({ frame, units }: GroupPacket) =>
    !(isOpen && frame < first) && (isKept(frame) || isReferencePicture(bitstream, units));
  const candidates = group.map(isCandidate);
  try {
    const slices = group.map(({ units }) => reader.parse(units));
    const references = slices.map((parsed, n) => {
      if (candidates[n]) return reader.listReferences(parsed);
      reader.drop(group[n]!.units, parsed);
      return [];
    });
    const needed = listNeeded(group, candidates, references, isKept);
    if (needed.size === candidates.filter(Boolean).length) return null;
    const writer = open()!;
    return group.flatMap(({ index, frame, units }, n) => {
      if (needed.has(n)) return [{ index, frame, data: buildPacket(writer.rewrite(units, slices[n])) }];
      writer.drop(units, slices[n]);
      return [];
    });
  } catch {
    // Slices with features that the rewriter does not support, and damaged ones.
    return null;
  }
}

/** Returns the positions of the kept pictures, and of those to which they refer. */
function listNeeded(
  group: readonly GroupPacket[],
  candidates: readonly boolean[],
  references: readonly (readonly number[])[],
  isKept: (frame: number) => boolean,
): Set<number> {
  const needed = new Set([0]);
  for (let n = group.length - 1; n >= 0; n--) {
    if (!candidates[n] || !(needed.has(n) || isKept(group[n]!.frame))) continue;
    needed.add(n);
    for (const position of references[n]!) needed.add(position);
  }
  return needed;
}
