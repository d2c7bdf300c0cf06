/** The waveform of a recording, for drawing. */
import { type AnalysisAudioFile, PCM_SAMPLE_RATE_HZ } from "../domain/speech";
import { openAudioFile } from "../lib/analysis-audio/reader";
import { writeAtomically } from "./atomic-output";

const PEAKS_PER_SECOND = 50;
const MAX_PEAKS = 30_000;
const SAMPLES_PER_READ = 1 << 18;

/** Finds the peak level of each interval of analysis audio, 0 to 255. */
export class PeakMeter {
  private readonly peaks: Uint8Array;
  private position = 0;

  /** `total`: the number of samples of the recording. */
  constructor(
    private readonly total: number,
    private readonly samplesPerPeak: number,
  ) {
    this.peaks = new Uint8Array(Math.ceil(total / samplesPerPeak));
  }

  take(samples: Int16Array): void {
    const { peaks, samplesPerPeak } = this;
    for (let n = 0; n < samples.length; ) {
      const at = Math.floor((this.position + n) / samplesPerPeak);
      const until = Math.min(samples.length, (at + 1) * samplesPerPeak - this.position);
      let highest = 0;
      for (; n < until; n++) highest = Math.max(highest, Math.abs(samples[n]!));
      peaks[at] = Math.max(peaks[at]!, Math.min(255, highest >> 7));
    }
    this.position += samples.length;
  }

  /** Writes the peaks as JSON, for clients of the API. Errors: `AppError` `storage_full`. */
  async writeJson(outputPath: string): Promise<void> {
    const waveform = {
      duration: this.total / PCM_SAMPLE_RATE_HZ,
      peaks_per_second: PCM_SAMPLE_RATE_HZ / this.samplesPerPeak,
      peaks: [...this.peaks],
    };
    await writeAtomically(outputPath, (tempPath) => Bun.write(tempPath, JSON.stringify(waveform)));
  }

  /**
   * Writes the peaks: `OCW1`, peaks per second and their number (32 bits each, little-endian), then a byte for each.
   * Errors: `AppError` `storage_full`.
   */
  async writeBinary(outputPath: string): Promise<void> {
    const file = new Uint8Array(PEAKS_HEADER_BYTES + this.peaks.length);
    const view = new DataView(file.buffer);
    file.set(new TextEncoder().encode("OCW1"));
    view.setUint32(4, PCM_SAMPLE_RATE_HZ / this.samplesPerPeak, true);
    view.setUint32(8, this.peaks.length, true);
    file.set(this.peaks, PEAKS_HEADER_BYTES);
    await writeAtomically(outputPath, (tempPath) => Bun.write(tempPath, file));
  }
}

const PEAKS_HEADER_BYTES = 12;

/** Returns the meter of all peaks. */
export const createPeakMeter = (total: number): PeakMeter =>
  new PeakMeter(total, PCM_SAMPLE_RATE_HZ / PEAKS_PER_SECOND);

/** Returns the meter of the waveform for clients, which has fewer peaks of a long recording. */
export function createWaveformMeter(total: number): PeakMeter {
  const seconds = Math.max(1, total / PCM_SAMPLE_RATE_HZ);
  const perSecond = Math.max(1, Math.min(PEAKS_PER_SECOND, Math.floor(MAX_PEAKS / seconds)));
  return new PeakMeter(total, Math.round(PCM_SAMPLE_RATE_HZ / perSecond));
}

/** Writes all peaks of analysis audio. Errors: `AppError` `storage_full`; the signal's reason. */
export async function createPeaks(options: {
  audio: AnalysisAudioFile;
  outputPath: string;
  signal?: AbortSignal | undefined;
}): Promise<void> {
  await using audio = await openAudioFile(options.audio.path);
  const meter = createPeakMeter(audio.samples);
  for (let position = 0; position < audio.samples; ) {
    options.signal?.throwIfAborted();
    const samples = await audio.read(position, SAMPLES_PER_READ);
    if (samples.length === 0) break;
    meter.take(samples);
    position += samples.length;
  }
  await meter.writeBinary(options.outputPath);
}
