/** Parses ADTS, ffmpeg's framing of AAC: each packet follows a header with its length and the decoder configuration. */

const ADTS_HEADER_BYTES = 7;

/** Parses the packets of an ADTS stream. Errors: a plain `Error` when it is damaged or truncated. */
export function parseAdtsPackets(stream: Uint8Array): Uint8Array[] {
  const packets: Uint8Array[] = [];
  for (let at = 0; at < stream.length; ) {
    const [sync, flags] = [stream[at], stream[at + 1] ?? 0];
    const size = readFrameSize(stream, at);
    const header = ADTS_HEADER_BYTES + ((flags & 1) === 1 ? 0 : 2);
    if (sync !== 0xff || flags >> 4 !== 0xf || size <= header || at + size > stream.length)
      throw new Error("The ADTS stream is damaged.");
    packets.push(stream.subarray(at + header, at + size));
    at += size;
  }
  return packets;
}

/** Returns the AudioSpecificConfig (two bytes) from the first header of an ADTS stream. */
export function parseAdtsConfig(stream: Uint8Array): Uint8Array {
  const profile = (stream[2]! >> 6) + 1;
  const rate = (stream[2]! >> 2) & 15;
  const channels = ((stream[2]! & 1) << 2) | (stream[3]! >> 6);
  return Uint8Array.from([(profile << 3) | (rate >> 1), ((rate & 1) << 7) | (channels << 3)]);
}

/** Yields the packets of an ADTS stream as they arrive, with their configuration. Errors: as `parseAdtsPackets`. */
export async function* readAdts(
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ packets: Uint8Array[]; config: Uint8Array }> {
  let rest = new Uint8Array(0);
  for await (const bytes of input) {
    const joined = Bun.concatArrayBuffers([rest, bytes], Number.POSITIVE_INFINITY, true);
    const completeBytes = countWholeBytes(joined);
    rest = joined.slice(completeBytes);
    if (completeBytes > 0)
      yield { packets: parseAdtsPackets(joined.subarray(0, completeBytes)), config: parseAdtsConfig(joined) };
  }
  if (rest.length > 0) throw new Error("The ADTS stream is truncated.");
}

/** Returns the length of the complete packets at the start, in bytes. */
function countWholeBytes(stream: Uint8Array): number {
  let at = 0;
  while (at + ADTS_HEADER_BYTES <= stream.length) {
    const size = readFrameSize(stream, at);
    if (at + size > stream.length) break;
    at += Math.max(size, ADTS_HEADER_BYTES);
  }
  return Math.min(at, stream.length);
}

/** Returns the length of a packet with its header. */
const readFrameSize = (stream: Uint8Array, at: number): number =>
  ((stream[at + 3]! & 3) << 11) | (stream[at + 4]! << 3) | (stream[at + 5]! >> 5);
