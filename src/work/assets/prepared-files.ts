/** Reads and writes the files that a preparation leaves in the asset's folder. */
import type { MediaFolder } from "../../blobs/folders";
import type { ProbedMedia } from "../../domain/media";
import {
  type DetectedLanguage,
  ENERGY_STEPS_PER_DB,
  type EnergyContour,
  type SpeechAnalysis,
  type Word,
} from "../../domain/speech";
import type { FrameTimes } from "../../domain/time";
import { spanFromSeconds, toSeconds } from "../../domain/time";
import type { VoiceActivity } from "../../domain/voice-activity";
import { openAudioFile } from "../../lib/analysis-audio/reader";
import { createAudioFile } from "../../lib/analysis-audio/writer";
import { flushFile, renameDurably, writeAtomic } from "../../lib/atomic-file";
import { writeTranscriptColumns } from "../previews/files";

const RAW_ENERGY_EXTENSION = ".f32";

type StoredFrames =
  | Exclude<FrameTimes, { kind: "listed" }>
  | { kind: "listed"; rate: { num: number; den: number }; times: number[]; end: number };

/** Writes the result of probing to a scratch folder: the file is neither flushed nor atomic before it is committed. */
export async function writeProbed(path: string, probed: ProbedMedia): Promise<void> {
  const { frames } = probed;
  const stored: StoredFrames | null =
    frames?.kind === "listed" ? { ...frames, times: Array.from(frames.times) } : frames;
  await Bun.write(path, JSON.stringify({ info: probed.info, frames: stored }));
}

/** Reads the result of probing; null when the file is missing. */
export async function readProbed(path: string): Promise<ProbedMedia | null> {
  const stored = await readJson<{ info: ProbedMedia["info"]; frames: StoredFrames | null }>(path);
  if (!stored) return null;
  const { info, frames } = stored;
  return { info, frames: frames?.kind === "listed" ? { ...frames, times: Float64Array.from(frames.times) } : frames };
}

/** Reads the result of probing. Throws when the file is missing. */
export async function requireProbed(path: string): Promise<ProbedMedia> {
  const probed = await readProbed(path);
  if (probed === null) throw new Error("probed file is missing");
  return probed;
}

/** The files that planning a cut reads. */
export type AnalysisPaths = Pick<MediaFolder, "probed" | "speechAnalysis" | "energy">;

/** Returns the files for planning a cut of the asset. Those of speech are missing without an audio track. */
export const getAnalysisPaths = async (folder: MediaFolder): Promise<AnalysisPaths> => ({
  probed: folder.probed,
  speechAnalysis: folder.speechAnalysis,
  energy: (await Bun.file(folder.energy).exists()) ? folder.energy : folder.rawEnergy,
});

/** Writes the speech analysis as recognized, and `words` as a second copy of its transcript in the API's format. */
export async function writeSpeechAnalysis(
  folder: MediaFolder,
  analysis: SpeechAnalysis,
  shownWords: readonly Word[],
): Promise<void> {
  const { energy, ...rest } = analysis;
  await writeOnce(folder.energy, (path) => writeEnergy(path, energy));
  if (analysis.transcript) {
    const words = shownWords.map((w) => ({
      text: w.text,
      start: toSeconds(w.start),
      end: toSeconds(w.end),
      confidence: Math.round(w.confidence * 1000) / 1000,
    }));
    await writeAtomic(folder.transcript, JSON.stringify({ language: analysis.transcript.language, words }));
    await writeTranscriptColumns(folder, words);
  }
  // Written last: `hasSpeechAnalysis` takes it as the sign that all files are complete.
  await writeAtomic(folder.speechAnalysis, JSON.stringify(rest));
}

/**
 * Reads the words of the transcript as pages show them: a vocabulary has corrected them. Returns `recognized` if the
 * file is missing.
 */
export async function readShownWords(path: string, recognized: Word[]): Promise<Word[]> {
  const stored = await readJson<{ words: Word[] }>(path);
  return stored?.words.map((word) => ({ ...word, ...spanFromSeconds(word) })) ?? recognized;
}

/** Returns whether the speech of the recording has been analyzed. A power failure may have kept the later file only. */
export const hasSpeechAnalysis = async (folder: MediaFolder): Promise<boolean> =>
  (await Bun.file(folder.speechAnalysis).exists()) && (await Bun.file(folder.energy).exists());

export const hasTranscript = (folder: MediaFolder): Promise<boolean> => Bun.file(folder.transcript).exists();

/** Reads the speech analysis; null when the file is missing. */
export async function readSpeechAnalysis(
  paths: Pick<AnalysisPaths, "speechAnalysis" | "energy">,
): Promise<SpeechAnalysis | null> {
  const rest = await readJson<Omit<SpeechAnalysis, "energy">>(paths.speechAnalysis);
  if (!rest) return null;
  return { ...rest, energy: await readEnergy(paths.energy) };
}

/** Returns the language that the speech analysis has found; null without one. */
export const readDetectedLanguage = async ({ speechAnalysis }: MediaFolder): Promise<DetectedLanguage | null> =>
  (await readJson<SpeechAnalysis>(speechAnalysis))?.language ?? null;

/** Reads where the recording has a voice; null when the path is null or the file is missing. */
export async function readVoiceActivity(speechAnalysis: string | null): Promise<VoiceActivity | null> {
  const analysis = speechAnalysis === null ? null : await readJson<SpeechAnalysis>(speechAnalysis);
  return analysis && { duration: analysis.duration, speech: analysis.speech };
}

/** Stores the contour with the audio compression, which suits any sampled signal. */
async function writeEnergy(path: string, energy: EnergyContour): Promise<void> {
  const steps = new Int16Array(energy.length);
  for (let n = 0; n < energy.length; n++) {
    steps[n] = Math.max(-32_768, Math.min(32_767, Math.round(energy[n]! * ENERGY_STEPS_PER_DB)));
  }
  await using file = await createAudioFile(path);
  await file.write(steps);
  await file.finish();
}

async function readEnergy(path: string): Promise<EnergyContour> {
  if (path.endsWith(RAW_ENERGY_EXTENSION)) return new Float32Array(await Bun.file(path).arrayBuffer());
  const file = await openAudioFile(path);
  try {
    const steps = await file.read(0, file.samples);
    const energy = new Float32Array(steps.length);
    for (let n = 0; n < steps.length; n++) energy[n] = steps[n]! / ENERGY_STEPS_PER_DB;
    return energy;
  } finally {
    await file.close();
  }
}

/** Returns the path of the audio that was transcribed: compressed, or raw when an older version prepared the asset. */
export const getAnalysisAudioPath = async (folder: MediaFolder): Promise<string> =>
  (await Bun.file(folder.analysisAudio).exists()) ? folder.analysisAudio : folder.rawAudio;

async function readJson<T>(path: string): Promise<T | null> {
  const file = Bun.file(path);
  return (await file.exists()) ? ((await file.json()) as T) : null;
}

/**
 * Writes a file through `write` unless it exists. `write` gets a temporary path, so not even a power failure leaves an
 * incomplete file.
 */
async function writeOnce(path: string, write: (partPath: string) => Promise<unknown>): Promise<void> {
  if (await Bun.file(path).exists()) return;
  const part = `${path}.part`;
  await write(part);
  await flushFile(part);
  await renameDurably(part, path);
}
