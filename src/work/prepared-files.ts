/** What a preparation leaves in the asset's folder, written and read. */
import { rename } from "node:fs/promises";
import type { MediaFolder } from "../blobs/folders";
import type { ProbedMedia } from "../domain/media";
import { ENERGY_STEPS_PER_DB, type EnergyContour, type PcmFile, type SpeechAnalysis } from "../domain/speech";
import type { FrameTimes } from "../domain/time";
import { toSeconds } from "../domain/time";
import { openAudioFile } from "../lib/analysis-audio/reader";
import { createAudioFile } from "../lib/analysis-audio/writer";
import { writeAtomic } from "../lib/atomic-file";

type StoredFrames =
  | Exclude<FrameTimes, { kind: "listed" }>
  | { kind: "listed"; rate: { num: number; den: number }; times: number[]; end: number };

/** Stores what probing found. */
export async function writeProbed(folder: Pick<MediaFolder, "probed">, probed: ProbedMedia): Promise<void> {
  const { frames } = probed;
  const stored: StoredFrames | null =
    frames?.kind === "listed" ? { ...frames, times: Array.from(frames.times) } : frames;
  await writeAtomic(folder.probed, JSON.stringify({ info: probed.info, frames: stored }));
}

/** What probing found, null before it has. */
export async function readProbed(folder: Pick<MediaFolder, "probed">): Promise<ProbedMedia | null> {
  const stored = await readJson<{ info: ProbedMedia["info"]; frames: StoredFrames | null }>(folder.probed);
  if (!stored) return null;
  const { info, frames } = stored;
  return { info, frames: frames?.kind === "listed" ? { ...frames, times: Float64Array.from(frames.times) } : frames };
}

/** Stores what was heard; the transcript once more in the form that the API serves. */
export async function writeListening(folder: MediaFolder, listening: SpeechAnalysis): Promise<void> {
  const { energy, ...rest } = listening;
  await writeOnce(folder.energy, (path) => writeEnergy(path, energy));
  if (listening.transcript) {
    const words = listening.transcript.words.map((w) => ({
      text: w.text,
      start: toSeconds(w.start),
      end: toSeconds(w.end),
      confidence: Math.round(w.confidence * 1000) / 1000,
    }));
    await writeAtomic(folder.transcript, JSON.stringify({ language: listening.transcript.language, words }));
  }
  // Last: its presence says that all of it is there.
  await writeAtomic(folder.listening, JSON.stringify(rest));
}

/** Whether the recording has been listened to. */
export const hasListening = (folder: MediaFolder): Promise<boolean> => Bun.file(folder.listening).exists();

/** Whether listening gave a transcript. */
export const hasTranscript = (folder: MediaFolder): Promise<boolean> => Bun.file(folder.transcript).exists();

/** What was heard, null before it was. */
export async function readListening(folder: MediaFolder): Promise<SpeechAnalysis | null> {
  const rest = await readJson<Omit<SpeechAnalysis, "energy">>(folder.listening);
  if (!rest) return null;
  return { ...rest, energy: await readEnergy(folder) };
}

/** A contour is a signal: what compresses audio compresses it as well. */
async function writeEnergy(path: string, energy: EnergyContour): Promise<void> {
  const steps = new Int16Array(energy.length);
  for (let n = 0; n < energy.length; n++) {
    steps[n] = Math.max(-32_768, Math.min(32_767, Math.round(energy[n]! * ENERGY_STEPS_PER_DB)));
  }
  const file = await createAudioFile(path);
  try {
    await file.write(steps);
    await file.finish();
  } finally {
    await file.close();
  }
}

async function readEnergy(folder: MediaFolder): Promise<EnergyContour> {
  if (!(await Bun.file(folder.energy).exists())) {
    return new Float32Array(await Bun.file(folder.rawEnergy).arrayBuffer());
  }
  const file = await openAudioFile(folder.energy);
  try {
    const steps = await file.read(0, file.samples);
    const energy = new Float32Array(steps.length);
    for (let n = 0; n < steps.length; n++) energy[n] = steps[n]! / ENERGY_STEPS_PER_DB;
    return energy;
  } finally {
    await file.close();
  }
}

/** The audio that was transcribed: compressed, or raw when an older version prepared the asset. */
export async function findAnalysisAudio(folder: MediaFolder): Promise<PcmFile> {
  return { path: (await Bun.file(folder.analysisAudio).exists()) ? folder.analysisAudio : folder.rawAudio };
}

async function readJson<T>(path: string): Promise<T | null> {
  const file = Bun.file(path);
  return (await file.exists()) ? ((await file.json()) as T) : null;
}

/** Makes a file through `make` unless it is there: `make` writes beside it, so a crash never leaves half of it. */
async function writeOnce(path: string, make: (partPath: string) => Promise<unknown>): Promise<void> {
  if (await Bun.file(path).exists()) return;
  // The ending stays last: ffmpeg chooses the container by it.
  const part = path.replace(/([^/.]*)(\.[^/.]*)?$/, "$1.part$2");
  await make(part);
  await rename(part, path);
}
