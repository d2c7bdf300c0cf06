/**
 * Extracts analysis audio from a source: 16 kHz mono PCM on the source's clock, the input of speech recognition.
 * Measures waveform and loudness in the same pass.
 */
import { AppError } from "../domain/errors";
import { PCM_SAMPLE_RATE_HZ } from "../domain/speech";
import { TICKS_PER_SECOND } from "../domain/time";
import { createAudioFile } from "../lib/analysis-audio/writer";
import { writeAtomically } from "./atomic-output";
import { createDownmix } from "./audio/downmix";
import { createLoudnessMeter } from "./audio/loudness";
import { getAnalysisChannels } from "./audio/mixdown";
import { readWholeSamples } from "./audio/splicer";
import { startAudioDecoder } from "./audio-render";
import { type RecordingFile, toFfmpegError } from "./ffmpeg";
import { createPeakMeter, createWaveformMeter } from "./waveform";

/** The files of the measurements: the waveform as JSON for clients, in the format `OCW1`, and the loudness. */
export type MeasuredPaths = { waveform: string; peaks: string; loudness: string };

/**
 * Writes the first audio track as analysis audio. Its first sample is time 0 of the source's clock, and it has exactly
 * as many samples as the source's duration. `measured` null or missing: nothing is measured. Errors: `AppError`
 * `no_speech` without an audio track, `storage_full`, `processing_failed`; the signal's reason.
 */
export async function extractAnalysisAudio(
  options: RecordingFile & {
    outputPath: string;
    measured?: MeasuredPaths | null;
    onProgress?: ((share: number) => void) | undefined;
  },
): Promise<void> {
  const { probed, measured = null, signal } = options;
  const track = probed.info.audio[0];
  if (track === undefined) throw new AppError("no_speech", "Recording has no audio track.");
  const channels = getAnalysisChannels(track);
  const total = Math.round((probed.info.duration * PCM_SAMPLE_RATE_HZ) / TICKS_PER_SECOND);
  const loudness = measured === null ? null : createLoudnessMeter(probed.info);
  const waveforms = measured === null ? [] : [createPeakMeter(total), createWaveformMeter(total)];
  await writeAtomically(options.outputPath, async (tempPath) => {
    await using file = await createAudioFile(tempPath);
    const decoder = startAudioDecoder({
      ...options,
      format: { sampleRate: PCM_SAMPLE_RATE_HZ, channels, encoding: "f32le" },
      second: loudness?.format ?? null,
    });
    let written = 0;
    const isComplete = () => written >= total && (loudness?.isComplete() ?? true);
    // The decoder is blocked while one of its outputs is full, so both are read until both are complete.
    const stopIfComplete = () => {
      if (isComplete()) void decoder.kill();
    };
    const measureLoudness = async () => {
      if (loudness === null) return;
      for await (const samples of readWholeSamples(decoder.secondOutput, loudness.format.channels)) {
        loudness.take(samples);
        stopIfComplete();
      }
    };
    const writeAudio = async () => {
      const downmix = channels === 1 ? null : createDownmix(PCM_SAMPLE_RATE_HZ);
      const write = async (samples: Float32Array) => {
        const mono = toInt16(samples.subarray(0, total - written));
        await file.write(mono);
        for (const meter of waveforms) meter.take(mono);
        written += mono.length;
        options.onProgress?.(written / Math.max(1, total));
      };
      for await (const samples of readWholeSamples(decoder.stdout, channels)) {
        if (written < total) await write(downmix ? downmix.add(samples) : samples);
        stopIfComplete();
      }
      if (downmix && written < total) await write(downmix.end());
    };
    try {
      await Promise.all([writeAudio(), measureLoudness()]);
      signal?.throwIfAborted();
      if (!isComplete()) {
        const outcome = await decoder.outcome;
        signal?.throwIfAborted();
        if (!outcome.ok) throw toFfmpegError(outcome);
        await file.writeSilence(total - written);
      }
      await file.finish();
    } finally {
      await decoder.kill();
    }
  });
  if (measured === null) return;
  const [peaks, waveform] = waveforms;
  await peaks!.writeBinary(measured.peaks);
  await waveform!.writeJson(measured.waveform);
  await loudness!.write(measured.loudness);
}

function toInt16(samples: Float32Array): Int16Array {
  const integers = new Int16Array(samples.length);
  for (let n = 0; n < samples.length; n++)
    integers[n] = Math.max(-32_768, Math.min(32_767, Math.round(samples[n]! * 32_767)));
  return integers;
}
