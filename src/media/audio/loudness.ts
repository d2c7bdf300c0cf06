/** Measures the loudness of recordings and of encoded files. */
import { type LoudnessSteps, writeLoudness } from "../../domain/loudness";
import type { MediaInfo } from "../../domain/media";
import { writeAtomically } from "../atomic-output";
import { startAudioDecoder } from "../audio-render";
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

/**
 * Writes the loudness of the first audio track, as a render has it, in the format `OCL1`. Errors: `AppError`
 * `storage_full`, `processing_failed`; the signal's reason.
 */
export async function writeRecordingLoudness(
  options: Omit<RecordingFile, "probed"> & { info: MediaInfo; outputPath: string },
): Promise<void> {
  const { info, signal } = options;
  const format = chooseAudioFormat("m4a", info.audio[0]!, 0);
  const decoder = startAudioDecoder({ ...options, probed: { info }, format: { ...format, encoding: "f32le" } });
  const steps = await measureDecoded(decoder, format, signal);
  await writeAtomically(options.outputPath, (tempPath) => Bun.write(tempPath, writeLoudness(steps)));
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
  return await measureDecoded(decoder, format, signal);
}

async function measureDecoded(
  decoder: FfmpegChild,
  format: AudioFormat,
  signal: AbortSignal | undefined,
): Promise<LoudnessSteps> {
  const meter = new StepMeter(format);
  try {
    for await (const samples of readWholeSamples(decoder.stdout, format.channels)) meter.take(samples);
    const outcome = await decoder.outcome;
    signal?.throwIfAborted();
    if (!outcome.ok) throw toFfmpegError(outcome);
  } finally {
    await decoder.kill();
  }
  return meter.finish();
}
