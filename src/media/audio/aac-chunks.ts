/**
 * Division of AAC into chunks that are encoded separately and joined packet by packet. A decoder overlap-adds each
 * packet with the one before it, so a join is exact where both encoders chose the same window sequence and shape: the
 * two packets then fit together as if one encoder had written them. Pure.
 */

/** Samples of a packet. The first packet is priming: its samples precede the start. */
export const PACKET_SAMPLES = 1_024;

/** Packets on each side of a chunk border among which a join is searched. */
const OVERLAP_PACKETS = 12;
/** Packets before those in which the rate control of the later encoder settles: nearly a second. */
const SETTLING_PACKETS = 40;
/** Last packets of an encoder, which the end of its input affects. */
const END_PACKETS = 5;

/** Packets `[from, to)` of the track, encoded from samples `[first, last)`. */
export type AacChunk = { from: number; to: number; first: number; last: number };

/** Divides audio into chunks of at most `packets` packets. */
export function divideIntoAacChunks(samples: number, packets: number): AacChunk[] {
  const packetCount = Math.ceil(samples / PACKET_SAMPLES) + 1;
  const count = Math.max(1, Math.ceil(packetCount / packets));
  return Array.from({ length: count }, (_, n) => {
    const from = Math.max(
      0,
      Math.round((packetCount * n) / count) - (n === 0 ? 0 : OVERLAP_PACKETS + SETTLING_PACKETS),
    );
    const to = Math.min(
      packetCount,
      Math.round((packetCount * (n + 1)) / count) + (n === count - 1 ? 0 : OVERLAP_PACKETS),
    );
    return { from, to, first: from * PACKET_SAMPLES, last: Math.min(samples, (to - 1) * PACKET_SAMPLES) };
  });
}

/** The window of a packet (`window_sequence` and `window_shape` of ISO 14496-3). */
type AacWindow = { isLong: boolean; shape: number };

const ELEMENT_SCE = 0;
const ELEMENT_CPE = 1;

/** Returns the window of a mono or stereo packet; null if the packet does not start with it. */
export function findAacWindow(packet: Uint8Array): AacWindow | null {
  const bits = (packet[0]! << 16) | (packet[1]! << 8) | packet[2]!;
  const readBits = (from: number, count: number) => (bits >> (24 - from - count)) & ((1 << count) - 1);
  const element = readBits(0, 3);
  // A channel pair has its window here only when both channels share it (`common_window`).
  const at = element === ELEMENT_SCE ? 15 : element === ELEMENT_CPE && readBits(7, 1) === 1 ? 8 : null;
  return at === null ? null : { isLong: readBits(at + 1, 2) === 0, shape: readBits(at + 3, 1) };
}

/**
 * Returns the first packet (of the track) to take from the later of two neighboring chunks, as near as possible to the
 * middle of their overlap; null if their windows agree nowhere.
 */
export function findJoinPacket(
  earlier: { chunk: Pick<AacChunk, "from" | "to">; packets: readonly Uint8Array[] },
  later: { chunk: Pick<AacChunk, "from" | "to">; packets: readonly Uint8Array[] },
): number | null {
  const from = later.chunk.from + SETTLING_PACKETS + END_PACKETS;
  const to = earlier.chunk.to - END_PACKETS;
  const middle = (from + to) >> 1;
  const hasSameWindow = (n: number): boolean => {
    const [one, other] = [earlier.packets[n - earlier.chunk.from], later.packets[n - later.chunk.from]];
    if (one === undefined || other === undefined) return false;
    const [a, b] = [findAacWindow(one), findAacWindow(other)];
    return a !== null && b !== null && a.isLong && b.isLong && a.shape === b.shape;
  };
  for (let distance = 0; distance <= to - from; distance++)
    for (const n of [middle + distance, middle - distance])
      if (n > from && n < to && hasSameWindow(n - 1) && hasSameWindow(n)) return n;
  return null;
}
