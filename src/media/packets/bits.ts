/** Bit-level access to NAL units: emulation prevention, fixed-length and Exp-Golomb numbers. Pure. */

/** Returns a NAL unit without its emulation prevention bytes. */
export function removeEmulationPrevention(nal: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(nal.length);
  let length = 0;
  let zeros = 0;
  for (const byte of nal) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0;
      continue;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
    bytes[length++] = byte;
  }
  return bytes.slice(0, length);
}

/** Returns a NAL unit with emulation prevention bytes: the reverse of `removeEmulationPrevention`. */
export function addEmulationPrevention(bytes: Uint8Array): Uint8Array {
  const nal = new Uint8Array(Math.ceil(bytes.length * 1.5) + 2);
  let length = 0;
  let zeros = 0;
  for (const byte of bytes) {
    if (zeros >= 2 && byte <= 3) {
      nal[length++] = 3;
      zeros = 0;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
    nal[length++] = byte;
  }
  // A slice may be followed by words of zeros (`cabac_zero_word`), always two bytes each.
  if (zeros >= 2) nal[length++] = 3;
  return nal.slice(0, length);
}

export const isSameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, n) => byte === b[n]);

const readBit = (bytes: Uint8Array, at: number): number => ((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1;

/** Reads `count` bits starting at bit `at` as a number. Bits beyond the end are 0. */
export function readBits(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let n = 0; n < count; n++) value = value * 2 + readBit(bytes, at + n);
  return value;
}

/** Reads the ue(v) number at bit `at`. `end` is the bit after it. */
export function readExpGolomb(bytes: Uint8Array, at: number): { value: number; end: number } {
  let zeros = 0;
  while (zeros < 32 && readBit(bytes, at + zeros) === 0) zeros++;
  const end = at + 2 * zeros + 1;
  return { value: readBits(bytes, at + zeros, zeros + 1) - 1, end };
}

export type BitReader = ReturnType<typeof createBitReader>;

/** Returns a reader of the syntax elements from bit `start` on, named as in the standard. */
export function createBitReader(bytes: Uint8Array, start: number) {
  let at = start;
  return {
    at: () => at,
    u: (count: number): number => {
      at += count;
      return readBits(bytes, at - count, count);
    },
    flag: (): boolean => readBit(bytes, at++) === 1,
    /** Reads ue(v), or skips se(v), which is as long. */
    ue: (): number => {
      const { value, end } = readExpGolomb(bytes, at);
      at = end;
      return value;
    },
  };
}

/** Formats a number as the bits of ue(v). */
export function formatExpGolomb(value: number): string {
  const digits = (value + 1).toString(2);
  return "0".repeat(digits.length - 1) + digits;
}

/** Replaces the bits `[from, to)`. The last byte is padded with zeros. */
export function replaceBits(bytes: Uint8Array, from: number, to: number, bits: string): Uint8Array {
  const moved = from + bits.length - to;
  const result = new Uint8Array(Math.ceil((bytes.length * 8 + moved) / 8));
  result.set(bytes.subarray(0, from >> 3));
  const set = (at: number, bit: number) => {
    result[at >> 3]! |= bit << (7 - (at & 7));
  };
  for (let at = from & ~7; at < from; at++) set(at, readBit(bytes, at));
  for (let n = 0; n < bits.length; n++) set(from + n, bits.charCodeAt(n) & 1);
  // Aligned bytes are copied as such: slices are long.
  let at = to;
  for (; at < bytes.length * 8 && (moved % 8 !== 0 || (at & 7) !== 0); at++) set(at + moved, readBit(bytes, at));
  if (at < bytes.length * 8) result.set(bytes.subarray(at >> 3), (at + moved) >> 3);
  return result;
}
