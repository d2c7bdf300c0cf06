/** Recordings with known words for the speech benches. */
import { join } from "node:path";
import { openVoice } from "../../fixtures/flite";

/** A recording: 16 kHz mono samples, and what is said in it. */
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

/** A flite voice. The fixtures name three of flite's voices; the benches use a fourth one, too. */
export const voiceOf = (name: (typeof VOICES)[number]) => openVoice(name as Parameters<typeof openVoice>[0]);

/** The recordings of a folder with `references.json`: `[{ file, text }]`. */
export async function recordingsOf(folder: string): Promise<Clip[]> {
  const references: { file: string; text: string }[] = await Bun.file(join(folder, "references.json")).json();
  return references.map(({ file, text }) => ({ name: file, text, samples: decodeAudio(join(folder, file)) }));
}

/** Synthetic recordings for a machine without a folder of real ones. */
export const syntheticClips = (): Clip[] =>
  VOICES.flatMap((voice) => {
    const speak = voiceOf(voice);
    return SENTENCES.map((text, i) => ({
      name: `${voice}-${i}`,
      text,
      samples: speak(text, { stretch: 1, pitch: 1 }).samples,
    }));
  });

/** Real recordings of the folder named on the command line or by `OFFCUT_SHARED`, else synthetic ones. */
export async function clips(folder?: string): Promise<Clip[]> {
  const shared = process.env.OFFCUT_SHARED;
  const from = folder ?? (shared ? join(shared, "media/speech") : null);
  return from === null ? syntheticClips() : recordingsOf(from);
}

/** Any audio file as 16 kHz mono samples, by the system's ffmpeg. */
export function decodeAudio(path: string): Float32Array {
  const { stdout, exitCode, stderr } = Bun.spawnSync(
    ["ffmpeg", "-v", "error", "-i", path, "-ac", "1", "-ar", "16000", "-f", "s16le", "-"],
    { stdout: "pipe", stderr: "pipe" },
  );
  if (exitCode !== 0) throw new Error(stderr.toString());
  return Float32Array.from(new Int16Array(new Uint8Array(stdout).buffer), (value) => value / 32_768);
}

/** Samples as the engine's PCM file wants them. */
export const pcmBytes = (samples: Float32Array): Uint8Array =>
  new Uint8Array(Int16Array.from(samples, (x) => Math.max(-32_768, Math.min(32_767, Math.round(x * 32_768)))).buffer);

/** Pieces one after the other; numbers are seconds of silence. */
export function joined(...parts: (Float32Array | number)[]): Float32Array {
  const length = (part: Float32Array | number) => (typeof part === "number" ? Math.round(part * 16_000) : part.length);
  const out = new Float32Array(parts.reduce((sum: number, part) => sum + length(part), 0));
  let at = 0;
  for (const part of parts) {
    if (typeof part !== "number") out.set(part, at);
    at += length(part);
  }
  return out;
}
