/** Measures the loudness of recordings and of encoded files. */
import { type LoudnessSteps, writeLoudness } from "../../domain/loudness";
import type { MediaInfo } from "../../domain/media";
import { TICKS_PER_SECOND } from "../../domain/time";
import { writeAtomically } from "../atomic-output";
import { type SampleFormat, startAudioDecoder } from "../audio-render";
import { type AudioFormat, chooseAudioFormat } from "../encoder-arguments";
import {
  createWorkLimits,
  type Ffmpeg,
  type FfmpegChild,
  type RecordingFile,
  startFfmpeg,
  toFfmpegError,
} from "../ffmpeg";
import { readWholeSamples } from "./splicer";
import { StepMeter } from "./step-meter";

/** Measures the first audio track of a recording, as a render has it, up to the recording's duration. */
export function createLoudnessMeter({ audio, duration }: MediaInfo) {
  const format = chooseAudioFormat("m4a", audio[0]!, 0);
  const meter = new StepMeter(format);
  let left = Math.ceil((duration * format.sampleRate) / TICKS_PER_SECOND);
  return {
    format: { ...format, encoding: "f32le" } satisfies SampleFormat,
    take: (samples: Float32Array): void => {
      const taken = samples.subarray(0, left * format.channels);
      left -= taken.length / format.channels;
      meter.take(taken);
    },
    isComplete: () => left === 0,
    /** Writes the loudness in the format `OCL1`. Errors: `AppError` `storage_full`. */
    write: async (outputPath: string): Promise<void> => {
      const file = writeLoudness(meter.finish());
      await writeAtomically(outputPath, (tempPath) => Bun.write(tempPath, file));
    },
  };
}

/**
 * Writes the loudness of a recording that an earlier version has prepared, in the format `OCL1`. Errors: `AppError`
 * `storage_full`, `processing_failed`; the signal's reason.
 */
export async function writeRecordingLoudness(
  options: Omit<RecordingFile, "probed"> & { info: MediaInfo; outputPath: string },
): Promise<void> {
  const { info, signal } = options;
  const meter = createLoudnessMeter(info);
  const { format } = meter;
  await measureDecoded(startAudioDecoder({ ...options, probed: { info }, format }), format, meter, signal);
  await meter.write(options.outputPath);
}

/**
 * Measures the audio of a file that this server has written. Errors: `AppError` `processing_failed`; the signal's
 * reason.
 */
export async function measureFile(
  { ffmpeg, wallSeconds, signal }: { ffmpeg: Ffmpeg; wallSeconds: number; signal?: AbortSignal | undefined },
  path: string,
  format: AudioFormat,
): Promise<LoudnessSteps> {
  const { sampleRate, channels } = format;
  const output = ["-map", "0:a:0", "-ar", String(sampleRate), "-ac", String(channels), "-f", "f32le", "pipe:1"];
  const decoder = startFfmpeg({
    ffmpeg,
    arguments: ["-nostdin", "-v", "error", "-protocol_whitelist", "file,pipe", "-i", `file:${path}`, ...output],
    limits: createWorkLimits(wallSeconds),
    stdout: "pipe",
    signal,
  });
  const meter = new StepMeter(format);
  await measureDecoded(decoder, format, meter, signal);
  return meter.finish();
}

async function measureDecoded(
  decoder: FfmpegChild,
  format: AudioFormat,
  meter: { take(samples: Float32Array): void },
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    for await (const samples of readWholeSamples(decoder.stdout, format.channels)) meter.take(samples);
    const outcome = await decoder.outcome;
    signal?.throwIfAborted();
    if (!outcome.ok) throw toFfmpegError(outcome);
  } finally {
    await decoder.kill();
  }
}
