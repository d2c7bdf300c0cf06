/** Recordings with known words for the speech benchmarks. */
import { join } from "node:path";
import { openVoice } from "../../fixtures/flite";

/** A recording: 16 kHz mono samples and the spoken text. */
export type Clip = { name: string; samples: Float32Array; text: string };

export const VOICES = ["slt", "rms", "awb", "kal16"] as const;

/** Sentences for synthetic speech. */
export const SENTENCES = [
  "Curtains and carpets absorb the echo, so the voice sounds close and warm.",
  "Do not point the camera at a bright window, because your face will turn dark.",
  "Use two lamps, one on each side, and keep them higher than your eyes.",
  "Before you press record, read the whole script aloud at least once.",
  "Check the captions carefully, because names are often spelled wrong.",
  "If you make a mistake, stop, breathe, and start the sentence again.",
  "The river was high after a week of rain, and the old bridge was closed to traffic.",
  "She packed a small bag, left a note on the table, and walked to the station.",
];

/** Opens a flite voice. The fixtures use three voices, the benchmarks a fourth one too. */
export const openBenchVoice = (name: (typeof VOICES)[number]) => openVoice(name as Parameters<typeof openVoice>[0]);

/** Loads the recordings of a folder with `references.json`: `[{ file, text }]`. */
export async function loadRecordings(folder: string): Promise<Clip[]> {
  const references: { file: string; text: string }[] = await Bun.file(join(folder, "references.json")).json();
  return references.map(({ file, text }) => ({ name: file, text, samples: decodeAudio(join(folder, file)) }));
}

/** Synthesizes recordings, for machines without real ones. */
export const createSyntheticClips = (): Clip[] =>
  VOICES.flatMap((voice) => {
    const speak = openBenchVoice(voice);
    return SENTENCES.map((text, i) => ({
      name: `${voice}-${i}`,
      text,
      samples: speak(text, { stretch: 1, pitch: 1 }).samples,
    }));
  });

/** Returns the real recordings of `folder` or of `media/speech` in `OFFCUT_SHARED`, otherwise synthetic ones. */
export async function loadClips(folder?: string): Promise<Clip[]> {
  const shared = process.env.OFFCUT_SHARED;
  const from = folder ?? (shared ? join(shared, "media/speech") : null);
  return from === null ? createSyntheticClips() : loadRecordings(from);
}

/** Decodes an audio file to 16 kHz mono samples with the system ffmpeg. */
export function decodeAudio(path: string): Float32Array {
  const { stdout, exitCode, stderr } = Bun.spawnSync(
    ["ffmpeg", "-v", "error", "-i", path, "-ac", "1", "-ar", "16000", "-f", "s16le", "-"],
    { stdout: "pipe", stderr: "pipe" },
  );
  if (exitCode !== 0) throw new Error(stderr.toString());
  return Float32Array.from(new Int16Array(new Uint8Array(stdout).buffer), (value) => value / 32_768);
}

/** Converts samples to the format of the PCM file that the engine reads. */
export const toPcmBytes = (samples: Float32Array): Uint8Array =>
  new Uint8Array(Int16Array.from(samples, (x) => Math.max(-32_768, Math.min(32_767, Math.round(x * 32_768)))).buffer);

/** Concatenates samples; a number is that many seconds of silence. */
export function concatenate(...parts: (Float32Array | number)[]): Float32Array {
  const length = (part: Float32Array | number) => (typeof part === "number" ? Math.round(part * 16_000) : part.length);
  const out = new Float32Array(parts.reduce((sum: number, part) => sum + length(part), 0));
  let at = 0;
  for (const part of parts) {
    if (typeof part !== "number") out.set(part, at);
    at += length(part);
  }
  return out;
}
