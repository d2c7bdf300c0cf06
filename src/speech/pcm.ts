/** Reads analysis audio as samples for the recognizers. */
import type { AnalysisAudioFile } from "../domain/speech";
import { type AudioReader, openAudioFile } from "../lib/analysis-audio/reader";

export type PcmReader = Pick<AudioReader, "samples" | "version" | "close"> & {
  /** Returns samples from -1 to 1, starting at `from`: fewer than `count` at the end of the file, none beyond it. */
  read(from: number, count: number): Promise<Float32Array>;
};

/** Opens analysis audio. Throws `DamagedAudioError` and file system errors. */
export async function openAnalysisAudio(file: AnalysisAudioFile): Promise<PcmReader> {
  const audio = await openAudioFile(file.path);
  return {
    ...audio,
    async read(from, count) {
      const integers = await audio.read(from, count);
      // `Float32Array.from` with a function is ten times as slow.
      const out = new Float32Array(integers.length);
      for (let i = 0; i < integers.length; i++) out[i] = integers[i]! / 32_768;
      return out;
    },
  };
}

/** Amplifies samples in place, clipping them to -1 to 1. */
export function amplify(samples: Float32Array, gain: number): Float32Array {
  if (gain === 1) return samples;
  for (let i = 0; i < samples.length; i++) samples[i] = Math.max(-1, Math.min(1, samples[i]! * gain));
  return samples;
}

export function padSamples(samples: Float32Array, minLength: number): Float32Array {
  if (samples.length >= minLength) return samples;
  const longer = new Float32Array(minLength);
  longer.set(samples);
  return longer;
}
