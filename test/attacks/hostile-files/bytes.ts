/** Building blocks of binary formats. Pure: nothing changes its arguments. */

export type Bytes = Uint8Array;

export const concat = (...parts: readonly Bytes[]): Bytes => {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};

/** `count` parts one after the other: more than an argument list can hold. */
export const repeat = (count: number, part: (n: number) => Bytes): Bytes =>
  new Uint8Array(Buffer.concat(Array.from({ length: count }, (_, n) => part(n))));

export const text = (value: string): Bytes => new TextEncoder().encode(value);
export const latin = (value: string): Bytes => Uint8Array.from(value, (letter) => letter.charCodeAt(0) & 255);
export const zeros = (length: number): Bytes => new Uint8Array(length);
export const byte = (...values: readonly number[]): Bytes => Uint8Array.from(values, (value) => value & 255);

/** An unsigned number of `size` bytes (up to 8), big-endian. Negative ones wrap around. */
export function uintBE(value: number | bigint, size: number): Bytes {
  const bytes = new Uint8Array(size);
  let rest = typeof value === "number" && value >= 0 ? value : BigInt.asUintN(size * 8, BigInt(value));
  for (let n = size - 1; n >= 0; n--) {
    if (typeof rest === "number") {
      bytes[n] = rest % 256;
      rest = Math.floor(rest / 256);
    } else {
      bytes[n] = Number(rest & 255n);
      rest >>= 8n;
    }
  }
  return bytes;
}

/** As `uintBE`, little-endian. */
export const uintLE = (value: number | bigint, size: number): Bytes => uintBE(value, size).reverse();

export const readBE = (bytes: Bytes, at: number, size: number): number =>
  Array.from({ length: size }, (_, n) => bytes[at + n] ?? 0).reduce((value, next) => value * 256 + next, 0);

export const readLE = (bytes: Bytes, at: number, size: number): number =>
  Array.from({ length: size }, (_, n) => bytes[at + size - 1 - n] ?? 0).reduce((value, next) => value * 256 + next, 0);

/** The bytes, with zeros behind them until they are as many as `length`. */
export const padTo = (bytes: Bytes, length: number): Bytes =>
  bytes.length < length ? concat(bytes, zeros(length - bytes.length)) : bytes;

/** Returns the bytes with `patch` written over them from `at` on, cut off at the end. */
export function overwrite(bytes: Bytes, at: number, patch: Bytes): Bytes {
  const changed = bytes.slice();
  if (at >= 0 && at < changed.length) changed.set(patch.subarray(0, changed.length - at), at);
  return changed;
}

/** The bytes with `[from, to)` replaced by others. */
export const splice = (bytes: Bytes, from: number, to: number, ...parts: readonly Bytes[]): Bytes =>
  concat(bytes.subarray(0, from), ...parts, bytes.subarray(to));

/** The bytes with one bit inverted. */
export const flipBit = (bytes: Bytes, bit: number): Bytes =>
  overwrite(bytes, bit >> 3, byte((bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))));

/** Returns the position of the first occurrence of a text at or after `from`. Throws without one. */
export function find(bytes: Bytes, needle: string | Bytes, from = 0): number {
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(
    typeof needle === "string" ? Buffer.from(needle, "latin1") : Buffer.from(needle),
    from,
  );
  if (at < 0) throw new Error(`The base file has no ${typeof needle === "string" ? needle : needle.join(" ")}.`);
  return at;
}
