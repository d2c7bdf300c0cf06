/** Where the samples of a cut go: one encoder, or several at a time. */
import type { ResolvedOutput } from "../../domain/media";
import { buildOutputArguments, QUIET_ARGUMENTS } from "../arguments";
import { type AudioFormat, buildAudioEncoderArguments, buildMonoEncoderArguments } from "../encoder-arguments";
import { createWorkLimits, type Ffmpeg, startFfmpeg, toFfmpegError } from "../ffmpeg";

/** Takes interleaved 32-bit float samples as bytes. */
export type AudioSink = {
  write(samples: Uint8Array): Promise<void>;
  /** After the last sample; resolves when the file is whole. Errors: `AppError` `storage_full`, `processing_failed`; the signal's reason. */
  end(): Promise<void>;
  /** Ends everything at once; gives the error that lies behind one which `write` or `end` threw. */
  abort(error: unknown): Promise<unknown>;
};

export type AudioSinkOptions = {
  ffmpeg: Ffmpeg;
  format: ResolvedOutput["format"];
  audioFormat: AudioFormat;
  bitrate: number;
  path: string;
  /** A folder for what is only needed on the way. */
  workDir: string;
  wallSeconds: number;
  signal?: AbortSignal;
};

const CONTAINER_ARGUMENTS: Record<ResolvedOutput["format"], string[]> = {
  mp4: ["-f", "mp4"],
  mov: ["-f", "mp4"],
  m4a: ["-movflags", "+faststart", "-f", "ipod"],
  mp3: ["-id3v2_version", "3", "-f", "mp3"],
};

/** ffmpeg's options for a container of sound. */
export const getContainerArguments = (format: ResolvedOutput["format"]): string[] => CONTAINER_ARGUMENTS[format];

/** ffmpeg's options that read samples: from standard input, or a file. */
export const buildSampleInputArguments = ({ sampleRate: rate, channels }: AudioFormat, input = "pipe:0"): string[] => [
  ...["-f", "f32le", "-ar", String(rate), "-ac", String(channels), "-i", input],
];

/** ffmpeg's options for the encoder of a sound; `isOne` when two channels say the same and it is given but one. */
export const buildEncoderArguments = (
  { format, audioFormat: sound, bitrate }: AudioSinkOptions,
  isOne = false,
): string[] =>
  format !== "mp3" && (isOne || sound.channels === 1)
    ? buildMonoEncoderArguments(bitrate, sound)
    : buildAudioEncoderArguments(format, bitrate);

/** One encoder that writes the file. */
export function createSingleEncoderSink(options: AudioSinkOptions): AudioSink {
  const { ffmpeg, format, audioFormat: sound, path, wallSeconds, signal } = options;
  const encoder = startFfmpeg({
    ffmpeg,
    arguments: [
      ...[
        ...QUIET_ARGUMENTS,
        ...buildSampleInputArguments(sound),
        ...buildEncoderArguments(options),
        "-map_metadata",
        "-1",
      ],
      ...[...getContainerArguments(format), ...buildOutputArguments(path)],
    ],
    limits: createWorkLimits(wallSeconds),
    stdin: "pipe",
    ...(signal === undefined ? {} : { signal }),
  });
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
