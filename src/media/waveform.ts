/** The waveform of a recording, for drawing. */
import { type AnalysisAudioFile, PCM_SAMPLE_RATE_HZ } from "../domain/speech";
import { openAudioFile } from "../lib/analysis-audio/reader";
import { writeAtomically } from "./atomic-output";

/** `peaks` contains the peak level of each interval, 0 to 255. */
export type Waveform = { duration: number; peaks_per_second: number; peaks: number[] };

const PEAKS_PER_SECOND = 50;
const MAX_PEAKS = 30_000;
const SAMPLES_PER_READ = 1 << 18;

type WaveformOptions = { audio: AnalysisAudioFile; outputPath: string; signal?: AbortSignal | undefined };

/** Writes the waveform of analysis audio as JSON. Errors: `AppError` `storage_full`; the signal's reason. */
export async function createWaveform(options: WaveformOptions): Promise<Waveform> {
  await using audio = await openAudioFile(options.audio.path);
  const duration = audio.samples / PCM_SAMPLE_RATE_HZ;
  const perSecond = Math.max(1, Math.min(PEAKS_PER_SECOND, Math.floor(MAX_PEAKS / Math.max(1, duration))));
  const samplesPerPeak = Math.round(PCM_SAMPLE_RATE_HZ / perSecond);
  const peaks = [...(await readPeaks(audio, samplesPerPeak, options.signal))];
  const waveform = { duration, peaks_per_second: PCM_SAMPLE_RATE_HZ / samplesPerPeak, peaks };
  await writeAtomically(options.outputPath, (tempPath) => Bun.write(tempPath, JSON.stringify(waveform)));
  return waveform;
}

const PEAKS_HEADER_BYTES = 12;

/**
 * Writes all peaks of analysis audio: `OCW1`, peaks per second and their number (32 bits each, little-endian), then a
 * byte for each. Errors: `AppError` `storage_full`; the signal's reason.
 */
export async function createPeaks(options: WaveformOptions): Promise<void> {
  await using audio = await openAudioFile(options.audio.path);
  const peaks = await readPeaks(audio, PCM_SAMPLE_RATE_HZ / PEAKS_PER_SECOND, options.signal);
  const file = new Uint8Array(PEAKS_HEADER_BYTES + peaks.length);
  const view = new DataView(file.buffer);
  file.set(new TextEncoder().encode("OCW1"));
  view.setUint32(4, PEAKS_PER_SECOND, true);
  view.setUint32(8, peaks.length, true);
  file.set(peaks, PEAKS_HEADER_BYTES);
  await writeAtomically(options.outputPath, (tempPath) => Bun.write(tempPath, file));
}

async function readPeaks(
  audio: Awaited<ReturnType<typeof openAudioFile>>,
  samplesPerPeak: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const peaks = new Uint8Array(Math.ceil(audio.samples / samplesPerPeak));
  for (let position = 0; position < audio.samples; ) {
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
  return peaks;
}
