/** The waveform of a recording, for drawing. */
import { type AnalysisAudioFile, PCM_SAMPLE_RATE_HZ } from "../domain/speech";
import { openAudioFile } from "../lib/analysis-audio/reader";
import { writeAtomically } from "./atomic-output";

/** `peaks`: the peak level of each interval, 0 to 255. */
export type Waveform = { duration: number; peaks_per_second: number; peaks: number[] };

const PEAKS_PER_SECOND = 50;
const MAX_PEAKS = 30_000;
const SAMPLES_PER_READ = 1 << 18;

/** Writes the waveform of analysis audio as JSON. Errors: `AppError` `storage_full`; the signal's reason. */
export async function createWaveform(options: {
  audio: AnalysisAudioFile;
  outputPath: string;
  signal?: AbortSignal | undefined;
}): Promise<Waveform> {
  const waveform = await readWaveform(options.audio, options.signal);
  await writeAtomically(options.outputPath, (tempPath) => Bun.write(tempPath, JSON.stringify(waveform)));
  return waveform;
}

async function readWaveform(file: AnalysisAudioFile, signal: AbortSignal | undefined): Promise<Waveform> {
  const audio = await openAudioFile(file.path);
  try {
    const total = audio.samples;
    const duration = total / PCM_SAMPLE_RATE_HZ;
    const perSecond = Math.max(1, Math.min(PEAKS_PER_SECOND, Math.floor(MAX_PEAKS / Math.max(1, duration))));
    const samplesPerPeak = Math.round(PCM_SAMPLE_RATE_HZ / perSecond);
    const peaks = new Uint8Array(Math.ceil(total / samplesPerPeak));
    for (let position = 0; position < total; ) {
      signal?.throwIfAborted();
      const samples = await audio.read(position, SAMPLES_PER_READ);
      if (samples.length === 0) break;
      for (let n = 0; n < samples.length; n++) {
        const at = Math.floor((position + n) / samplesPerPeak);
        const level = Math.min(255, Math.abs(samples[n]!) >> 7);
        if (level > peaks[at]!) peaks[at] = level;
      }
      position += samples.length;
    }
    return { duration, peaks_per_second: PCM_SAMPLE_RATE_HZ / samplesPerPeak, peaks: [...peaks] };
  } finally {
    await audio.close();
  }
}
