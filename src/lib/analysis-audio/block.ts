/**
 * Lossless coding of one block of 16-bit samples, as FLAC does it: fixed linear prediction and Rice codes. A block is a
 * sequence of partitions of 256 samples; each starts with 2 bits of prediction order (3: every residual is 0 at order
 * 1) and 4 bits of Rice parameter.
 */

/** Samples per block, about 2 s at 16 kHz. The last block of a recording may have fewer. */
export const BLOCK_SAMPLES = 32_768;
const PARTITION_SAMPLES = 256;
const MAX_ORDER = 2;
const REPEATED_SAMPLE = 3;
const ORDER_BITS = 2;
const RICE_BITS = 4;
const MAX_RICE_PARAMETER = 2 ** RICE_BITS - 1;
/** Maximum number of bits per call of `put`: with up to 7 pending bits, they fit into 32. */
const MAX_PUT_BITS = 24;
/** Size of the largest partition: with the largest Rice parameter, a residual of 18 bits has 8 bits in unary. */
const MAX_PARTITION_BYTES = 1 + (PARTITION_SAMPLES * (MAX_RICE_PARAMETER + 8 + 1)) / 8;
export const MAX_BLOCK_BYTES = (BLOCK_SAMPLES / PARTITION_SAMPLES) * MAX_PARTITION_BYTES + 8;

/** Creates an encoder for blocks of at most `BLOCK_SAMPLES`. */
export function createBlockEncoder() {
  const out = new Uint8Array(MAX_BLOCK_BYTES);
  const residuals = new Int32Array(PARTITION_SAMPLES);
  let length = 0;
  let pending = 0;
  let pendingBits = 0;

  function put(value: number, bits: number): void {
    pending = (pending << bits) | value;
    pendingBits += bits;
    while (pendingBits >= 8) {
      pendingBits -= 8;
      out[length++] = pending >>> pendingBits;
    }
  }

  function putRice(value: number, rice: number): void {
    let zeros = value >>> rice;
    for (; zeros + 1 + rice > MAX_PUT_BITS; zeros -= Math.min(zeros, MAX_PUT_BITS)) {
      put(0, Math.min(zeros, MAX_PUT_BITS));
    }
    put((1 << rice) | (value & ((1 << rice) - 1)), zeros + 1 + rice);
  }

  function putPartition(samples: Int16Array, from: number, to: number): void {
    const order = findBestOrder(samples, from, to);
    const sum = writeResiduals(samples, from, to, order, residuals);
    if (sum === 0 && order === 1) {
      put(REPEATED_SAMPLE << RICE_BITS, ORDER_BITS + RICE_BITS);
      return;
    }
    const count = to - from;
    let rice = 0;
    while (rice < MAX_RICE_PARAMETER && count * 2 ** (rice + 1) <= sum) rice++;
    put((order << RICE_BITS) | rice, ORDER_BITS + RICE_BITS);
    for (let n = 0; n < count; n++) putRice(residuals[n]!, rice);
  }

  return {
    /** Encodes a block into a buffer: the result is valid until the next call. */
    encode(samples: Int16Array): Uint8Array {
      length = pending = pendingBits = 0;
      for (let from = 0; from < samples.length; from += PARTITION_SAMPLES) {
        putPartition(samples, from, Math.min(samples.length, from + PARTITION_SAMPLES));
      }
      if (pendingBits > 0) put(0, 8 - pendingBits);
      return out.subarray(0, length);
    },
  };
}

/** Returns the prediction order with the smallest residuals. */
function findBestOrder(samples: Int16Array, from: number, to: number): number {
  let [first, second] = [samples[from - 1] ?? 0, samples[from - 2] ?? 0];
  let [sum0, sum1, sum2] = [0, 0, 0];
  for (let n = from; n < to; n++) {
    const sample = samples[n]!;
    sum0 += Math.abs(sample);
    sum1 += Math.abs(sample - first);
    sum2 += Math.abs(sample - 2 * first + second);
    second = first;
    first = sample;
  }
  if (sum1 <= sum0 && sum1 <= sum2) return 1;
  return sum2 < sum0 ? 2 : 0;
}

/** Writes the residuals, zigzag-encoded as unsigned numbers, and returns their sum. */
function writeResiduals(samples: Int16Array, from: number, to: number, order: number, residuals: Int32Array): number {
  let [first, second] = [samples[from - 1] ?? 0, samples[from - 2] ?? 0];
  let sum = 0;
  for (let n = from; n < to; n++) {
    const sample = samples[n]!;
    const residual = order === 0 ? sample : order === 1 ? sample - first : sample - 2 * first + second;
    const folded = (residual << 1) ^ (residual >> 31);
    residuals[n - from] = folded;
    sum += folded;
    second = first;
    first = sample;
  }
  return sum;
}

/** Decodes a block of `count` samples. Throws a plain `Error` if the bytes are not a valid block. */
export function decodeBlock(bytes: Uint8Array, count: number): Int16Array {
  const samples = new Int16Array(count);
  let at = 0;
  /** The next bits, left-aligned. No other function uses these variables, because that would make them slow. */
  let window = 0;
  let bits = 0;
  let [first, second] = [0, 0];
  for (let from = 0; from < count; from += PARTITION_SAMPLES) {
    const to = Math.min(count, from + PARTITION_SAMPLES);
    for (; bits <= 24; bits += 8) window |= (bytes[at++] ?? 0) << (24 - bits);
    const order = window >>> (32 - ORDER_BITS);
    const rice = (window << ORDER_BITS) >>> (32 - RICE_BITS);
    window <<= ORDER_BITS + RICE_BITS;
    bits -= ORDER_BITS + RICE_BITS;
    for (let n = from; n < to; n++) {
      let sample = first;
      if (order <= MAX_ORDER) {
        let folded = 0;
        let zeros = Math.clz32(window);
        for (; zeros >= bits; zeros = Math.clz32(window)) {
          folded += bits;
          if (at > bytes.length) throw new Error("Audio block is damaged: it ends too early.");
          for (window = bits = 0; bits <= 24; bits += 8) window |= (bytes[at++] ?? 0) << (24 - bits);
        }
        window = (window << zeros) << 1;
        bits -= zeros + 1;
        folded = (folded + zeros) * 2 ** rice;
        if (bits < rice) for (; bits <= 24; bits += 8) window |= (bytes[at++] ?? 0) << (24 - bits);
        if (rice > 0) folded += window >>> (32 - rice);
        window <<= rice;
        bits -= rice;
        const residual = (folded >>> 1) ^ -(folded & 1);
        sample = order === 0 ? residual : order === 1 ? residual + first : residual + 2 * first - second;
      }
      samples[n] = sample;
      second = first;
      first = sample;
    }
    if (at > bytes.length + 8) throw new Error("Audio block is damaged: it ends too early.");
  }
  return samples;
}
