/** What parent and child say to each other over pipes: frames of a length, a kind and a payload. */
import type { AlignmentRequest, ForcedAlignment, Transcript } from "../domain/speech";
import type { Span } from "../domain/time";

/** Asks for the language that is heard. */
export const DETECT_LANGUAGE = "auto";

/**
 * Parent to child. Times and spans are ticks; `language` null leaves the transcript out, `HEARD_LANGUAGE` lets a model tell it.
 * `modelsDir` holds the added models. `progressPath` is where a `listen` that is ended early is resumed from.
 */
export type SpeechCommand =
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
export type SpeechTask = Extract<SpeechCommand, { path: string }>;

/** Child to parent. A `listened` is preceded by the energy contour of the same id, which travels as it is. */
export type SpeechEvent =
  | { answer: "progress"; id: number; share: number }
  | { answer: "paused"; id: number }
  | { answer: "saved"; id: number }
  | { answer: "listened"; id: number; duration: number; speech: Span[]; transcript: Transcript | null }
  | { answer: "forced"; id: number; forced: ForcedAlignment[] }
  | { answer: "failed"; id: number; message: string };

/** A frame as it arrives. */
export type IpcFrame =
  | { kind: "message"; message: SpeechCommand | SpeechEvent }
  | { kind: "energy"; id: number; energy: Float32Array };

const HEADER_BYTES = 5;
const MESSAGE_KIND = 1;
const ENERGY_KIND = 2;
/** The contour of a day of sound is 69 MB. */
const MAX_FRAME_BYTES = 512 * 1024 * 1024;

/** A message as a frame. Numbers that JSON does not know (an impossible text's -Infinity) become the lowest it does. */
export function encodeMessage(message: SpeechCommand | SpeechEvent): Uint8Array {
  const finite = (_key: string, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? -Number.MAX_VALUE : value;
  return encodeFrame(MESSAGE_KIND, new TextEncoder().encode(JSON.stringify(message, finite)));
}

/** An energy contour as a frame. */
export function encodeEnergy(id: number, energy: Float32Array): Uint8Array {
  const payload = new Uint8Array(4 + energy.byteLength);
  new DataView(payload.buffer).setUint32(0, id, true);
  payload.set(new Uint8Array(energy.buffer, energy.byteOffset, energy.byteLength), 4);
  return encodeFrame(ENERGY_KIND, payload);
}

function encodeFrame(kind: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + payload.length);
  new DataView(bytes.buffer).setUint32(0, payload.length, true);
  bytes[4] = kind;
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

/** The frames of a stream, however it is chunked. Throws on what is no frame; a frame cut off at the end is left out. */
export async function* readIpcFrames(stream: ReadableStream<Uint8Array>): AsyncGenerator<IpcFrame> {
  let chunks: Uint8Array[] = [];
  let held = 0;
  let needed = HEADER_BYTES;
  for await (const chunk of stream) {
    chunks.push(chunk);
    held += chunk.length;
    if (held < needed) continue;
    let bytes = chunks.length === 1 ? chunks[0]! : new Uint8Array(Buffer.concat(chunks));
    for (;;) {
      needed = bytes.length < HEADER_BYTES ? HEADER_BYTES : HEADER_BYTES + getPayloadBytes(bytes);
      if (bytes.length < needed) break;
      yield parseFrame(bytes[4]!, bytes.subarray(HEADER_BYTES, needed));
      bytes = bytes.subarray(needed);
    }
    chunks = [bytes];
    held = bytes.length;
  }
}

function getPayloadBytes(bytes: Uint8Array): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (length > MAX_FRAME_BYTES) throw new Error("the stream holds something else than frames");
  return length;
}

function parseFrame(kind: number, payload: Uint8Array): IpcFrame {
  if (kind === MESSAGE_KIND) return { kind: "message", message: JSON.parse(new TextDecoder().decode(payload)) };
  if (kind !== ENERGY_KIND || payload.length < 4 || payload.length % 4 !== 0)
    throw new Error("the stream holds something else than frames");
  const id = new DataView(payload.buffer, payload.byteOffset).getUint32(0, true);
  return { kind: "energy", id, energy: new Float32Array(new Uint8Array(payload.subarray(4)).buffer) };
}
