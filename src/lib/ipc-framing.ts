/** Frames on a pipe: the length of the payload as 32-bit little endian, then the payload as JSON. */

const HEADER_BYTES = 4;
/** Larger than any message of this program. */
const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;

/** Encodes a message as a frame. JSON has no infinite numbers, so they become the largest finite ones. */
export function encodeFrame(message: unknown): Uint8Array {
  const payload = new TextEncoder().encode(JSON.stringify(message, toFinite));
  const bytes = new Uint8Array(HEADER_BYTES + payload.length);
  new DataView(bytes.buffer).setUint32(0, payload.length, true);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

function toFinite(_key: string, value: unknown): unknown {
  if (value === Number.POSITIVE_INFINITY) return Number.MAX_VALUE;
  if (value === Number.NEGATIVE_INFINITY) return -Number.MAX_VALUE;
  return value;
}

/** Yields the messages of a stream. Errors: those of `splitFrames`; a `SyntaxError` when a payload is not JSON. */
export async function* decodeFrames(
  stream: ReadableStream<Uint8Array>,
  maxPayloadBytes = MAX_PAYLOAD_BYTES,
): AsyncGenerator<unknown> {
  for await (const frame of splitFrames(stream, HEADER_BYTES, maxPayloadBytes)) {
    yield JSON.parse(new TextDecoder().decode(frame.subarray(HEADER_BYTES)));
  }
}

/**
 * Yields the frames of a stream, regardless of how it is chunked, each with its header of `headerBytes`, which starts
 * with the length of the payload as 32-bit little endian. Throws on a payload of more than `maxPayloadBytes`, and
 * ignores an incomplete frame at the end.
 */
export async function* splitFrames(
  stream: ReadableStream<Uint8Array>,
  headerBytes: number,
  maxPayloadBytes: number,
): AsyncGenerator<Uint8Array> {
  let chunks: Uint8Array[] = [];
  let held = 0;
  let needed = headerBytes;
  for await (const chunk of stream) {
    chunks.push(chunk);
    held += chunk.length;
    if (held < needed) continue;
    let bytes = chunks.length === 1 ? chunks[0]! : new Uint8Array(Buffer.concat(chunks));
    for (;;) {
      needed = headerBytes;
      if (bytes.length < needed) break;
      const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
      if (length > maxPayloadBytes) throw new Error(`a frame of ${length} bytes exceeds ${maxPayloadBytes}`);
      needed += length;
      if (bytes.length < needed) break;
      yield bytes.subarray(0, needed);
      bytes = bytes.subarray(needed);
    }
    chunks = bytes.length === 0 ? [] : [bytes];
    held = bytes.length;
  }
}
