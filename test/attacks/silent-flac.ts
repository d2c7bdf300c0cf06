/**
 * FLAC files of digital silence: hours in a few kilobytes, because a frame of equal samples takes 16 bytes whatever its
 * length.
 */

const RATE = 8_000;
const FRAME_SAMPLES = 65_535;

/** Returns a file of this duration. */
export function silentFlac(seconds: number): Uint8Array<ArrayBuffer> {
  const samples = seconds * RATE;
  const frames: Buffer[] = [Buffer.from("fLaC"), Buffer.from([0x80, 0, 0, 34]), streamInfo(samples)];
  for (let frame = 0, left = samples; left > 0; frame++) {
    const count = Math.min(left, FRAME_SAMPLES);
    frames.push(silentFrame(frame, count));
    left -= count;
  }
  return new Uint8Array(Buffer.concat(frames));
}

function streamInfo(samples: number): Buffer {
  const info = Buffer.alloc(34);
  info.writeUInt16BE(FRAME_SAMPLES, 0);
  info.writeUInt16BE(FRAME_SAMPLES, 2);
  // Rate, one channel, 16 bits, samples.
  info.writeBigUInt64BE((BigInt(RATE) << 44n) | (15n << 36n) | BigInt(samples), 10);
  return info;
}

/** Fixed block size, size in 16 bits, rate and depth of the stream, mono; one constant subframe of 0. */
function silentFrame(number: number, samples: number): Buffer {
  const header = Buffer.from([0xff, 0xf8, 0x70, 0x08, ...utf8(number), (samples - 1) >> 8, (samples - 1) & 255]);
  const frame = Buffer.concat([header, Buffer.from([crc(header, 8, 0x07)]), Buffer.from([0, 0, 0])]);
  const check = crc(frame, 16, 0x8005);
  return Buffer.concat([frame, Buffer.from([check >> 8, check & 255])]);
}

const utf8 = (number: number): Buffer => Buffer.from(String.fromCodePoint(number));

function crc(bytes: Uint8Array, bits: number, polynomial: number): number {
  let value = 0;
  for (const byte of bytes) {
    value ^= byte << (bits - 8);
    for (let n = 0; n < 8; n++) value = value & (1 << (bits - 1)) ? (value << 1) ^ polynomial : value << 1;
  }
  return value & (2 ** bits - 1);
}
