/** The messages between the server and the speech process: frames of a length, a kind and a payload, over pipes. */
import type {
  AlignmentRequest,
  ForcedAlignment,
  Recognition,
  RecognitionRequest,
  SpeechAnalysis,
  Word,
} from "../domain/speech";
import { splitFrames } from "../lib/ipc-framing";

/** Used in place of a language code when a model detects the language. */
export const DETECT_LANGUAGE = "auto";

/**
 * Messages from the server to the speech process. Times and spans are in ticks. `language` null omits the transcript,
 * `DETECT_LANGUAGE` detects the language; to recognize windows, null selects the built-in recognizer. `modelsDir` is
 * the folder of installed models. `progressPath` is the file from which an interrupted analysis resumes.
 */
export type SpeechCommand =
  | (RecordingCommand<"analyze"> & ModelChoices & { progressPath: string | null })
  | (RecordingCommand<"align"> & { requests: AlignmentRequest[] })
  | (RecordingCommand<"recognize"> & ModelChoices & { requests: RecognitionRequest[] })
  | { command: "pause" | "resume" | "cancel"; id: number }
  | { command: "load" };
type RecordingCommand<Name extends string> = { command: Name; id: number; path: string };
type ModelChoices = { language: string | null; modelsDir: string | null };

/** A command that starts work on a recording, as opposed to one that controls such work. */
export type SpeechTask = Extract<SpeechCommand, { path: string }>;

type AnalyzedEvent = { event: "analyzed"; id: number } & Omit<SpeechAnalysis, "energy">;

/**
 * Messages from the speech process to the server. `analyzed` is preceded by an energy frame with the same ID. `saved`
 * reports that progress was written to `progressPath`. `words` has the next words of the transcript, `from` their
 * index.
 */
export type SpeechEvent =
  | { event: "progress"; id: number; share: number }
  | { event: "paused"; id: number }
  | { event: "saved"; id: number }
  | { event: "words"; id: number; from: number; words: Word[] }
  | AnalyzedEvent
  | { event: "aligned"; id: number; alignments: ForcedAlignment[] }
  | { event: "recognized"; id: number; recognitions: Recognition[] }
  | { event: "failed"; id: number; message: string };

export type IpcFrame =
  | { kind: "message"; message: SpeechCommand | SpeechEvent }
  | { kind: "energy"; id: number; energy: Float32Array };

const HEADER_BYTES = 5;
const MESSAGE_KIND = 1;
const ENERGY_KIND = 2;
/** The contour of a day of audio has 69 MB. */
const MAX_PAYLOAD_BYTES = 512 * 1024 * 1024;

/** Encodes a message as a frame. Numbers that JSON cannot express (-Infinity) become the lowest number. */
export function encodeMessage(message: SpeechCommand | SpeechEvent): Uint8Array {
  const finite = (_key: string, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? -Number.MAX_VALUE : value;
  return encodeFrame(MESSAGE_KIND, new TextEncoder().encode(JSON.stringify(message, finite)));
}

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

/** Yields the frames of a stream. Throws on malformed frames, and ignores an incomplete frame at the end. */
export async function* readIpcFrames(stream: ReadableStream<Uint8Array>): AsyncGenerator<IpcFrame> {
  for await (const frame of splitFrames(stream, HEADER_BYTES, MAX_PAYLOAD_BYTES)) {
    yield parseFrame(frame[4]!, frame.subarray(HEADER_BYTES));
  }
}

function parseFrame(kind: number, payload: Uint8Array): IpcFrame {
  if (kind === MESSAGE_KIND) return { kind: "message", message: JSON.parse(new TextDecoder().decode(payload)) };
  if (kind !== ENERGY_KIND || payload.length < 4 || payload.length % 4 !== 0)
    throw new Error("malformed frame from or to the speech process");
  const id = new DataView(payload.buffer, payload.byteOffset).getUint32(0, true);
  return { kind: "energy", id, energy: new Float32Array(new Uint8Array(payload.subarray(4)).buffer) };
}
