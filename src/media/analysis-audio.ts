/** Extracts analysis audio from a source: 16 kHz mono PCM on the source's clock, the input of speech recognition. */
import { AppError } from "../domain/errors";
import { PCM_SAMPLE_RATE_HZ } from "../domain/speech";
import { TICKS_PER_SECOND } from "../domain/time";
import { createAudioFile } from "../lib/analysis-audio/writer";
import { writeAtomically } from "./atomic-output";
import { createDownmix } from "./audio/downmix";
import { getAnalysisChannels } from "./audio/mixdown";
import { readWholeSamples } from "./audio/splicer";
import { startAudioDecoder } from "./audio-render";
import { type RecordingFile, toFfmpegError } from "./ffmpeg";

/**
 * Writes the first audio track as analysis audio. Its first sample is time 0 of the source's clock, and it has exactly
 * as many samples as the source's duration. Errors: `AppError` `no_speech` without an audio track, `storage_full`,
 * `processing_failed`; the signal's reason.
 */
export async function extractAnalysisAudio(
  options: RecordingFile & { outputPath: string; onProgress?: ((share: number) => void) | undefined },
): Promise<void> {
  const { probed, signal } = options;
  const track = probed.info.audio[0];
  if (track === undefined) throw new AppError("no_speech", "Recording has no audio track.");
  const channels = getAnalysisChannels(track);
  const total = Math.round((probed.info.duration * PCM_SAMPLE_RATE_HZ) / TICKS_PER_SECOND);
  await writeAtomically(options.outputPath, async (tempPath) => {
    const decoder = startAudioDecoder({
      ...options,
      format: { sampleRate: PCM_SAMPLE_RATE_HZ, channels, encoding: "f32le" },
    });
    const file = await createAudioFile(tempPath);
    try {
      const downmix = channels === 1 ? null : createDownmix(PCM_SAMPLE_RATE_HZ);
      let written = 0;
      const write = async (samples: Float32Array) => {
        const mono = samples.subarray(0, total - written);
        await file.write(toInt16(mono));
        written += mono.length;
        options.onProgress?.(written / Math.max(1, total));
      };
      for await (const samples of readWholeSamples(decoder.stdout, channels)) {
        await write(downmix ? downmix.add(samples) : samples);
        if (written >= total) break;
      }
      if (downmix && written < total) await write(downmix.end());
      signal?.throwIfAborted();
      if (written < total) {
        const outcome = await decoder.outcome;
        signal?.throwIfAborted();
        if (!outcome.ok) throw toFfmpegError(outcome);
        await file.writeSilence(total - written);
      }
      await file.finish();
    } finally {
      await decoder.kill();
      await file.close();
    }
  });
}

function toInt16(samples: Float32Array): Int16Array {
  const integers = new Int16Array(samples.length);
  for (let n = 0; n < samples.length; n++)
    integers[n] = Math.max(-32_768, Math.min(32_767, Math.round(samples[n]! * 32_767)));
  return integers;
}
