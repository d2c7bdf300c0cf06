/**
 * AAC that is encoded in parts and joined packet by packet. A decoder blends each packet with the one before it, so a join is exact where
 * both encoders have cut up the sound alike: then the two packets belong together as if one encoder had written them. Pure.
 */

/** Samples of a packet; the first packet only prepares the second: its own sound lies before the beginning. */
export const PACKET_SAMPLES = 1_024;

/** Packets on each side of the border of two parts among which a join is looked for. */
const OVERLAP_PACKETS = 12;
/** Packets before those in which the later encoder finds its rate: nearly a second. */
const SETTLING_PACKETS = 40;
/** Packets at the end in which an encoder sees that its input ends. */
const END_PACKETS = 5;

/** Packets `[from, to)` of the whole, encoded from samples `[first, last)`. */
export type AacChunk = { from: number; to: number; first: number; last: number };

/** Divides sound of so many samples into parts of at most so many packets. */
export function divideIntoAacChunks(samples: number, packets: number): AacChunk[] {
  const all = Math.ceil(samples / PACKET_SAMPLES) + 1;
  const count = Math.max(1, Math.ceil(all / packets));
  return Array.from({ length: count }, (_, n) => {
    const from = Math.max(0, Math.round((all * n) / count) - (n === 0 ? 0 : OVERLAP_PACKETS + SETTLING_PACKETS));
    const to = Math.min(all, Math.round((all * (n + 1)) / count) + (n === count - 1 ? 0 : OVERLAP_PACKETS));
    return { from, to, first: from * PACKET_SAMPLES, last: Math.min(samples, (to - 1) * PACKET_SAMPLES) };
  });
}

/** How a packet cuts up its sound. */
type AacWindow = { isLong: boolean; shape: number };

const ELEMENT_SCE = 0;
const ELEMENT_CPE = 1;

/** The windows of a packet of one or two channels; null when they are not told at its beginning. */
export function findAacWindow(packet: Uint8Array): AacWindow | null {
  const bits = (packet[0]! << 16) | (packet[1]! << 8) | packet[2]!;
  const take = (from: number, count: number) => (bits >> (24 - from - count)) & ((1 << count) - 1);
  const element = take(0, 3);
  // Of two channels only those that share their windows tell them here.
  const at = element === ELEMENT_SCE ? 15 : element === ELEMENT_CPE && take(7, 1) === 1 ? 8 : null;
  return at === null ? null : { isLong: take(at + 1, 2) === 0, shape: take(at + 3, 1) };
}

/**
 * The first packet (of the whole) to take from the later of two neighbouring parts, as near as possible to the middle of what both have;
 * null when they nowhere agree.
 */
export function findJoinPacket(
  before: { part: Pick<AacChunk, "from" | "to">; packets: readonly Uint8Array[] },
  after: { part: Pick<AacChunk, "from" | "to">; packets: readonly Uint8Array[] },
): number | null {
  const from = after.part.from + SETTLING_PACKETS + END_PACKETS;
  const to = before.part.to - END_PACKETS;
  const middle = (from + to) >> 1;
  const alike = (n: number): boolean => {
    const [one, other] = [before.packets[n - before.part.from], after.packets[n - after.part.from]];
    if (one === undefined || other === undefined) return false;
    const [a, b] = [findAacWindow(one), findAacWindow(other)];
    return a !== null && b !== null && a.isLong && b.isLong && a.shape === b.shape;
  };
  for (let distance = 0; distance <= to - from; distance++)
    for (const n of [middle + distance, middle - distance])
      if (n > from && n < to && alike(n - 1) && alike(n)) return n;
  return null;
}
