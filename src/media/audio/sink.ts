/** Sinks for the samples of a cut: one encoder, or several at a time. */
import type { ResolvedOutput } from "../../domain/media";
import { buildOutputArguments, QUIET_ARGUMENTS } from "../arguments";
import { type AudioFormat, buildAudioEncoderArguments, buildMonoEncoderArguments } from "../encoder-arguments";
import { createWorkLimits, type Ffmpeg, type FfmpegChild, startFfmpeg, toFfmpegError } from "../ffmpeg";

/** Takes interleaved 32-bit float samples as bytes. */
export type AudioSink = {
  write(samples: Uint8Array): Promise<void>;
  /** Completes the file. Errors: `AppError` `storage_full`, `processing_failed`; the signal's reason. */
  end(): Promise<void>;
  /** Stops all encoders. Returns the root cause of an error that `write` or `end` threw. */
  abort(error: unknown): Promise<unknown>;
};

/** Returns a sink that writes the same samples to all of these. */
export const joinSinks = (sinks: readonly AudioSink[]): AudioSink => ({
  write: async (samples) => {
    for (const sink of sinks) await sink.write(samples);
  },
  end: async () => {
    for (const sink of sinks) await sink.end();
  },
  abort: async (error) => {
    const reasons = await Promise.all(sinks.map((sink) => sink.abort(error)));
    return reasons.find((reason) => reason !== error) ?? error;
  },
});

/** Converts the bytes that a sink takes to samples. */
export const toSamples = ({ buffer, byteOffset, length }: Uint8Array): Float32Array =>
  new Float32Array(buffer, byteOffset, length >> 2);

/** Converts samples to the bytes that a sink takes. */
export const toSampleBytes = ({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Returns the samples of both arrays as one. */
export const joinSamples = (before: Float32Array, after: Float32Array): Float32Array<ArrayBuffer> =>
  new Float32Array(Bun.concatArrayBuffers([before, after]));

/** Returns a sink that only measures the samples with `take`. `read` returns the measurement, after `end`. */
export const createMeterSink = <Result>(
  take: (samples: Float32Array) => void,
  read: () => Result,
): AudioSink & { read(): Result } => ({
  write: async (bytes) => take(toSamples(bytes)),
  end: async () => {},
  abort: async (error) => error,
  read,
});

/**
 * Takes interleaved samples and returns those that are ready; `finish` returns the rest. As many as it takes in all.
 */
export type SampleProcessor = { take(samples: Float32Array): Float32Array; finish(): Float32Array };

/** Returns a sink that passes on processed samples. */
export function processInto(sink: AudioSink, processor: SampleProcessor): AudioSink {
  const write = async (samples: Float32Array) => {
    if (samples.length > 0) await sink.write(toSampleBytes(samples));
  };
  return {
    write: (bytes) => write(processor.take(toSamples(bytes))),
    end: async () => {
      await write(processor.finish());
      await sink.end();
    },
    abort: (error) => sink.abort(error),
  };
}

export type AudioSinkOptions = {
  ffmpeg: Ffmpeg;
  format: ResolvedOutput["format"];
  audioFormat: AudioFormat;
  bitrate: number;
  path: string;
  /** A folder for intermediate files. */
  workDir: string;
  wallSeconds: number;
  signal?: AbortSignal | undefined;
};

const CONTAINER_ARGUMENTS: Record<ResolvedOutput["format"], string[]> = {
  mp4: ["-f", "mp4"],
  mov: ["-f", "mp4"],
  m4a: ["-movflags", "+faststart", "-f", "ipod"],
  mp3: ["-id3v2_version", "3", "-f", "mp3"],
};

/** Returns ffmpeg's options for a container. */
export const getContainerArguments = (format: ResolvedOutput["format"]): string[] => CONTAINER_ARGUMENTS[format];

/** Returns ffmpeg's options to read raw samples from standard input or a file. */
export const buildSampleInputArguments = ({ sampleRate, channels }: AudioFormat, input = "pipe:0"): string[] => [
  ...["-f", "f32le", "-ar", String(sampleRate), "-ac", String(channels), "-i", input],
];

/** Returns ffmpeg's options for the audio encoder. `isMono`: the channels are identical, so it receives only one. */
export const buildEncoderArguments = ({ format, audioFormat, bitrate }: AudioSinkOptions, isMono = false): string[] =>
  format !== "mp3" && (isMono || audioFormat.channels === 1)
    ? buildMonoEncoderArguments(bitrate, audioFormat)
    : buildAudioEncoderArguments(format, bitrate);

/** Starts an encoder of samples from standard input. `isMono`: it receives only one of two identical channels. */
export function startEncoder(
  options: AudioSinkOptions,
  { isMono = false, output, stdout }: { isMono?: boolean; output: string[]; stdout?: "pipe" },
): FfmpegChild {
  const { ffmpeg, audioFormat, wallSeconds, signal } = options;
  const input = buildSampleInputArguments(isMono ? { ...audioFormat, channels: 1 } : audioFormat);
  return startFfmpeg({
    ffmpeg,
    arguments: [...QUIET_ARGUMENTS, ...input, ...buildEncoderArguments(options, isMono), ...output],
    limits: createWorkLimits(wallSeconds),
    stdin: "pipe",
    stdout,
    signal,
  });
}

/** Returns a sink with one encoder, which writes the file. */
export function createSingleEncoderSink(options: AudioSinkOptions): AudioSink {
  const { format, path, signal } = options;
  const output = ["-map_metadata", "-1", ...getContainerArguments(format), ...buildOutputArguments(path)];
  const encoder = startEncoder(options, { output });
  return {
    write: (samples) => encoder.stdin.write(samples),
    async end() {
      await encoder.stdin.end();
      const outcome = await encoder.outcome;
      signal?.throwIfAborted();
      if (!outcome.ok) throw toFfmpegError(outcome);
    },
    async abort(error) {
      await encoder.kill();
      const outcome = await encoder.outcome;
      return outcome.noSpace || !outcome.ok ? toFfmpegError(outcome) : error;
    },
  };
}
