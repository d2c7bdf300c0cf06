/**
 * Two channels that say the same: encoded as one, and written as two. A pair of channels in AAC may be told as their mean and their
 * difference; with a difference of nothing, a packet of one channel becomes a packet of two that decodes to the same in both. Pure.
 */

/** Samples whose likeness is judged together: about 20 ms. */
const BLOCK_SAMPLES = 1_024;
/** The mean power of half the difference below which two channels are alike whatever they say: -84 dB of full scale. */
const SILENT_POWER = 10 ** -8.4;
/** As long as it is at the most -55 dB of full scale, and 30 dB below what both say: nobody hears it beside that. */
const INAUDIBLE_POWER = 10 ** -5.5;
const INAUDIBLE_SHARE = 10 ** -3;
/**
 * Where the channels are else the same to the last bit, they were one before a lossy encoder had them, and what differs for a moment is its
 * doing: up to 12 dB below what both say, in an eighth of the blocks.
 */
const IDENTICAL_SHARE = 10 ** -10;
const TRANSIENT_POWER = 10 ** -3;
const TRANSIENT_SHARE = 10 ** -1.2;

/** The mean of two interleaved channels, of a second or less; null when they differ audibly somewhere. */
export function findDualMonoMean(stereo: Float32Array): Float32Array<ArrayBuffer> | null {
  const count = stereo.length >> 1;
  const mean = new Float32Array(count);
  let [same, heard, moments] = [0, 0, 0];
  for (let start = 0; start < count; start += BLOCK_SAMPLES) {
    const end = Math.min(count, start + BLOCK_SAMPLES);
    let common = 0;
    let difference = 0;
    for (let n = start, at = 2 * start; n < end; n++, at += 2) {
      const left = stereo[at]!;
      const half = (left + stereo[at + 1]!) * 0.5;
      const other = left - half;
      mean[n] = half;
      common += half * half;
      difference += other * other;
    }
    const size = end - start;
    if (common > SILENT_POWER * size) heard++;
    if (
      difference <= SILENT_POWER * size ||
      (difference <= INAUDIBLE_POWER * size && difference <= INAUDIBLE_SHARE * common)
    ) {
      if (common > SILENT_POWER * size && difference <= IDENTICAL_SHARE * common) same++;
    } else if (difference <= TRANSIENT_POWER * size && difference <= TRANSIENT_SHARE * common) moments++;
    else return null;
  }
  const isOne = moments === 0 || (8 * moments * BLOCK_SAMPLES <= count && 2 * same >= heard);
  return isOne ? mean : null;
}

/** Two interleaved channels that say what one says. */
export function duplicateChannel(mean: Float32Array): Float32Array<ArrayBuffer> {
  const stereo = new Float32Array(2 * mean.length);
  for (let n = 0; n < mean.length; n++) stereo[2 * n] = stereo[2 * n + 1] = mean[n]!;
  return stereo;
}

/** The AudioSpecificConfig (of two bytes) of two channels from that of one. */
export const toStereoConfig = (config: Uint8Array): Uint8Array =>
  Uint8Array.from([config[0]!, (config[1]! & 0x87) | (2 << 3)]);

const ELEMENT_SCE = 0;
const ELEMENT_FIL = 6;
const EIGHT_SHORT_SEQUENCE = 2;

/**
 * A packet of two alike channels from a packet of one (AAC-LC: one single-channel element, perhaps after fill elements). Errors: a plain
 * `Error` when it is not that.
 */
export function toChannelPair(packet: Uint8Array): Uint8Array<ArrayBuffer> {
  const take = (at: number, count: number): number => {
    const byte = at >> 3;
    const bits = ((packet[byte] ?? 0) << 16) | ((packet[byte + 1] ?? 0) << 8) | (packet[byte + 2] ?? 0);
    return (bits >> (24 - (at & 7) - count)) & ((1 << count) - 1);
  };
  let at = 0;
  while (take(at, 3) === ELEMENT_FIL) {
    const count = take(at + 3, 4);
    at += count < 15 ? 7 + 8 * count : 15 + 8 * (14 + take(at + 7, 8));
  }
  if (take(at, 3) !== ELEMENT_SCE) throw new Error("not a packet of one channel");
  const gain = take(at + 7, 8);
  const isShort = take(at + 16, 2) === EIGHT_SHORT_SEQUENCE;
  const info = take(at + 15, isShort ? 15 : 11);
  const from = at + 15 + (isShort ? 15 : 11);
  const to = getEndBit(packet) - 2;
  if (to < from) throw new Error("a packet without its end");

  const out = new BitWriter(packet.length + 32);
  // A pair that shares its windows, and tells mean and difference in all of its bands.
  out.put(0b001_0000_1, 8);
  out.put(info, isShort ? 15 : 11);
  out.put(0b10, 2);
  out.put(gain, 8);
  let bit = from;
  for (; bit + 16 <= to; bit += 16) out.put(take(bit, 16), 16);
  out.put(take(bit, to - bit), to - bit);
  // The difference: no gain, no band that holds anything, no tools.
  out.put(0, 8);
  const bands = isShort ? (info >> 7) & 15 : (info >> 1) & 63;
  const groups = isShort ? 1 + countZeroBits(info & 127, 7) : 1;
  for (let group = 0; group < groups; group++) writeEmptySection(out, bands, isShort ? 3 : 5);
  out.put(0, 3);
  out.put(0b111, 3);
  return out.bytes();
}

/** Where the last set bit is: the end of the element that ends a packet. */
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

/** So many bands without anything, in lengths of so many bits. */
function writeEmptySection(out: BitWriter, bands: number, lengthBits: number): void {
  if (bands === 0) return;
  const most = (1 << lengthBits) - 1;
  out.put(0, 4);
  let left = bands;
  for (; left >= most; left -= most) out.put(most, lengthBits);
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

  /** At most 16 bits. */
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
