/** What parent and child say to each other over pipes: frames of a length, a kind and a payload. */
import type { AlignmentRequest, ForcedAlignment, Transcript } from "../domain/speech";
import type { Span } from "../domain/time";

/** Asks for the language that is heard. */
export const HEARD_LANGUAGE = "auto";

/**
 * Parent to child. Times and spans are ticks; `language` null leaves the transcript out, `HEARD_LANGUAGE` lets a model tell it.
 * `modelsDir` holds the added models. `progressPath` is where a `listen` that is ended early is resumed from.
 */
export type Order =
  | {
      order: "listen";
      id: number;
      path: string;
      language: string | null;
      modelsDir: string | null;
      progressPath: string | null;
    }
  | { order: "force"; id: number; path: string; requests: AlignmentRequest[] }
  | { order: "pause" | "resume" | "cancel"; id: number };

/** An order that is work. */
export type WorkOrder = Extract<Order, { path: string }>;

/** Child to parent. A `listened` is preceded by the energy contour of the same id, which travels as it is. */
export type Answer =
  | { answer: "progress"; id: number; share: number }
  | { answer: "paused"; id: number }
  | { answer: "saved"; id: number }
  | { answer: "listened"; id: number; duration: number; speech: Span[]; transcript: Transcript | null }
  | { answer: "forced"; id: number; forced: ForcedAlignment[] }
  | { answer: "failed"; id: number; message: string };

/** A frame as it arrives. */
export type Frame = { kind: "message"; message: Order | Answer } | { kind: "energy"; id: number; energy: Float32Array };

const HEADER_BYTES = 5;
const MESSAGE = 1;
const ENERGY = 2;
/** The contour of a day of sound is 69 MB. */
const MAX_FRAME_BYTES = 512 * 1024 * 1024;

/** A message as a frame. Numbers that JSON does not know (an impossible text's -Infinity) become the lowest it does. */
export function messageFrame(message: Order | Answer): Uint8Array {
  const finite = (_key: string, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? -Number.MAX_VALUE : value;
  return frame(MESSAGE, new TextEncoder().encode(JSON.stringify(message, finite)));
}

/** An energy contour as a frame. */
export function energyFrame(id: number, energy: Float32Array): Uint8Array {
  const payload = new Uint8Array(4 + energy.byteLength);
  new DataView(payload.buffer).setUint32(0, id, true);
  payload.set(new Uint8Array(energy.buffer, energy.byteOffset, energy.byteLength), 4);
  return frame(ENERGY, payload);
}

function frame(kind: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + payload.length);
  new DataView(bytes.buffer).setUint32(0, payload.length, true);
  bytes[4] = kind;
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

/** The frames of a stream, however it is chunked. Throws on what is no frame; a frame cut off at the end is left out. */
export async function* readFrames(stream: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  let chunks: Uint8Array[] = [];
  let held = 0;
  let needed = HEADER_BYTES;
  for await (const chunk of stream) {
    chunks.push(chunk);
    held += chunk.length;
    if (held < needed) continue;
    let bytes = chunks.length === 1 ? chunks[0]! : new Uint8Array(Buffer.concat(chunks));
    for (;;) {
      needed = bytes.length < HEADER_BYTES ? HEADER_BYTES : HEADER_BYTES + lengthOf(bytes);
      if (bytes.length < needed) break;
      yield parse(bytes[4]!, bytes.subarray(HEADER_BYTES, needed));
      bytes = bytes.subarray(needed);
    }
    chunks = [bytes];
    held = bytes.length;
  }
}

function lengthOf(bytes: Uint8Array): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (length > MAX_FRAME_BYTES) throw new Error("the stream holds something else than frames");
  return length;
}

function parse(kind: number, payload: Uint8Array): Frame {
  if (kind === MESSAGE) return { kind: "message", message: JSON.parse(new TextDecoder().decode(payload)) };
  if (kind !== ENERGY || payload.length < 4 || payload.length % 4 !== 0)
    throw new Error("the stream holds something else than frames");
  const id = new DataView(payload.buffer, payload.byteOffset).getUint32(0, true);
  return { kind: "energy", id, energy: new Float32Array(new Uint8Array(payload.subarray(4)).buffer) };
}
