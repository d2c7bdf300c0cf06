/**
 * Dual mono: stereo with identical channels, encoded as mono and written as stereo. AAC can code a channel pair as mid
 * and side (M/S stereo). With an empty side channel, a mono packet becomes a stereo packet that decodes to the same
 * samples in both channels. Pure.
 */

/** Samples that are compared together: about 20 ms. */
const BLOCK_SAMPLES = 1_024;
/** Mean side power below which the channels count as identical, regardless of their content: -84 dBFS. */
const SILENT_POWER = 10 ** -8.4;
/** Inaudible next to the content: at most -55 dBFS, and 30 dB below the mid channel. */
const INAUDIBLE_POWER = 10 ** -5.5;
const INAUDIBLE_SHARE = 10 ** -3;
/**
 * If most blocks are identical to the last bit, the source was mono before a lossy encoder, and brief differences are
 * its artifacts: up to 12 dB below the mid channel, in an eighth of the blocks.
 */
const IDENTICAL_SHARE = 10 ** -10;
const TRANSIENT_POWER = 10 ** -3;
const TRANSIENT_SHARE = 10 ** -1.2;

/** Returns the mean of two interleaved channels (at most a second); null if they differ audibly. */
export function findDualMonoMean(stereo: Float32Array): Float32Array<ArrayBuffer> | null {
  const count = stereo.length >> 1;
  const mean = new Float32Array(count);
  let [identical, audible, transients] = [0, 0, 0];
  for (let start = 0; start < count; start += BLOCK_SAMPLES) {
    const end = Math.min(count, start + BLOCK_SAMPLES);
    let mid = 0;
    let side = 0;
    for (let n = start, at = 2 * start; n < end; n++, at += 2) {
      const left = stereo[at]!;
      const half = (left + stereo[at + 1]!) * 0.5;
      const halfDifference = left - half;
      mean[n] = half;
      mid += half * half;
      side += halfDifference * halfDifference;
    }
    const size = end - start;
    if (mid > SILENT_POWER * size) audible++;
    if (side <= SILENT_POWER * size || (side <= INAUDIBLE_POWER * size && side <= INAUDIBLE_SHARE * mid)) {
      if (mid > SILENT_POWER * size && side <= IDENTICAL_SHARE * mid) identical++;
    } else if (side <= TRANSIENT_POWER * size && side <= TRANSIENT_SHARE * mid) transients++;
    else return null;
  }
  const isDualMono = transients === 0 || (8 * transients * BLOCK_SAMPLES <= count && 2 * identical >= audible);
  return isDualMono ? mean : null;
}

/** Returns interleaved stereo with the same samples in both channels. */
export function duplicateChannel(mean: Float32Array): Float32Array<ArrayBuffer> {
  const stereo = new Float32Array(2 * mean.length);
  for (let n = 0; n < mean.length; n++) stereo[2 * n] = stereo[2 * n + 1] = mean[n]!;
  return stereo;
}

/** Returns the stereo variant of a mono AudioSpecificConfig (two bytes). */
export const toStereoConfig = (config: Uint8Array): Uint8Array =>
  Uint8Array.from([config[0]!, (config[1]! & 0x87) | (2 << 3)]);

const ELEMENT_SCE = 0;
const ELEMENT_FIL = 6;
const EIGHT_SHORT_SEQUENCE = 2;

/**
 * Returns a stereo packet with identical channels from a mono packet (AAC-LC: one single_channel_element, possibly
 * after fill elements). Errors: a plain `Error` for any other packet.
 */
export function toChannelPair(packet: Uint8Array): Uint8Array<ArrayBuffer> {
  const readBits = (at: number, count: number): number => {
    const byte = at >> 3;
    const bits = ((packet[byte] ?? 0) << 16) | ((packet[byte + 1] ?? 0) << 8) | (packet[byte + 2] ?? 0);
    return (bits >> (24 - (at & 7) - count)) & ((1 << count) - 1);
  };
  let at = 0;
  while (readBits(at, 3) === ELEMENT_FIL) {
    const count = readBits(at + 3, 4);
    at += count < 15 ? 7 + 8 * count : 15 + 8 * (14 + readBits(at + 7, 8));
  }
  if (readBits(at, 3) !== ELEMENT_SCE) throw new Error("Not a mono packet.");
  const gain = readBits(at + 7, 8);
  const isShort = readBits(at + 16, 2) === EIGHT_SHORT_SEQUENCE;
  const info = readBits(at + 15, isShort ? 15 : 11);
  const from = at + 15 + (isShort ? 15 : 11);
  const to = getEndBit(packet) - 2;
  if (to < from) throw new Error("The packet has no end element.");

  const out = new BitWriter(packet.length + 32);
  // A channel pair with `common_window`, and M/S stereo in all bands.
  out.put(0b001_0000_1, 8);
  out.put(info, isShort ? 15 : 11);
  out.put(0b10, 2);
  out.put(gain, 8);
  let bit = from;
  for (; bit + 16 <= to; bit += 16) out.put(readBits(bit, 16), 16);
  out.put(readBits(bit, to - bit), to - bit);
  // The side channel: no gain, only empty bands, no tools.
  out.put(0, 8);
  const bands = isShort ? (info >> 7) & 15 : (info >> 1) & 63;
  const groups = isShort ? 1 + countZeroBits(info & 127, 7) : 1;
  for (let group = 0; group < groups; group++) writeEmptySection(out, bands, isShort ? 3 : 5);
  out.put(0, 3);
  out.put(0b111, 3);
  return out.bytes();
}

/** Returns the position of the last set bit: the end of the ID_END element that ends a packet. */
function getEndBit(packet: Uint8Array): number {
  let last = packet.length - 1;
  while (last >= 0 && packet[last] === 0) last--;
  if (last < 0) return -1;
  return 8 * last + 7 - Math.log2(packet[last]! & -packet[last]!);
}

function countZeroBits(value: number, count: number): number {
  let zeros = 0;
  for (let bit = 0; bit < count; bit++) if (((value >> bit) & 1) === 0) zeros++;
  return zeros;
}

/** Writes a section of empty bands, with section lengths of `lengthBits` bits. */
function writeEmptySection(out: BitWriter, bands: number, lengthBits: number): void {
  if (bands === 0) return;
  const maxLength = (1 << lengthBits) - 1;
  out.put(0, 4);
  let left = bands;
  for (; left >= maxLength; left -= maxLength) out.put(maxLength, lengthBits);
  out.put(left, lengthBits);
}

class BitWriter {
  private readonly buffer: Uint8Array<ArrayBuffer>;
  private size = 0;
  private pending = 0;
  private pendingBits = 0;

  constructor(capacity: number) {
    this.buffer = new Uint8Array(capacity);
  }

  /** Writes at most 16 bits. */
  put(value: number, bits: number): void {
    this.pending = (this.pending << bits) | value;
    this.pendingBits += bits;
    while (this.pendingBits >= 8) {
      this.pendingBits -= 8;
      this.buffer[this.size++] = this.pending >> this.pendingBits;
    }
    this.pending &= (1 << this.pendingBits) - 1;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    if (this.pendingBits > 0) this.put(0, 8 - this.pendingBits);
    return this.buffer.subarray(0, this.size);
  }
}
