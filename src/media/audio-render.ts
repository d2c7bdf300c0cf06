/** Decodes the audio of a source to samples on the source's clock, and encodes a cut's audio. */
import { AppError } from "../domain/errors";
import type { AudioStream, NoiseReduction, ProbedMedia, ResolvedOutput } from "../domain/media";
import type { SpeakerGain } from "../domain/speaker-levels";
import { TICKS_PER_SECOND, type Ticks } from "../domain/time";
import type { VoiceActivity } from "../domain/voice-activity";
import { SECOND_OUTPUT } from "../lib/process";
import { buildInputArguments, formatSeconds, QUIET_ARGUMENTS } from "./arguments";
import { writeAtomically } from "./atomic-output";
import { AacJoinError, type AacTrackOptions } from "./audio/aac-track";
import { createAdaptiveStereoSink } from "./audio/adaptive-stereo-sink";
import { createCachedSink } from "./audio/cached-sink";
import { createChunkedSink, isWorthChunking } from "./audio/chunked-sink";
import { createLeveler, type OutputLevel } from "./audio/leveler";
import { buildMixdownFilters } from "./audio/mixdown";
import { reduceNoise } from "./audio/noise-reduction";
import { loadRnnoise } from "./audio/rnnoise";
import { type AudioSink, type AudioSinkOptions, createSingleEncoderSink, toSampleBytes } from "./audio/sink";
import { createSpeakerLeveler } from "./audio/speaker-leveler";
import { type AudioSegment, readWholeSamples, spliceAudio, toSampleRanges } from "./audio/splicer";
import { type AudioFormat, toLayoutName } from "./encoder-arguments";
import { createWorkLimits, type FfmpegChild, type RecordingFile, startFfmpeg, toFfmpegError } from "./ffmpeg";
import type { RenderCache } from "./render-cache/cache-file";

/** Longer gaps and overlaps in timestamps are filled or trimmed, so that audio stays in sync with the source. */
const MIN_CORRECTED_GAP_SECONDS = 0.03;

/** Returns the time limit of an audio render: start-up, and twice real time on the slowest machine. */
export const getAudioWallSeconds = (duration: Ticks): number => 300 + (2 * duration) / TICKS_PER_SECOND;

export type SampleFormat = { sampleRate: number; channels: number; encoding: "f32le" | "s16le" };

/**
 * Returns the arguments that decode a track once, to raw samples in one format on standard output and in another on the
 * second output of the child. The first sample is time 0.
 */
export function buildAudioDecodeArguments(
  source: { path: string; demuxer: string; startPts: Ticks; track: AudioStream },
  format: SampleFormat,
  second: SampleFormat | null = null,
): string[] {
  return [
    ...QUIET_ARGUMENTS,
    "-copyts",
    ...buildInputArguments(source),
    ...buildSampleOutputArguments(source, format, "pipe:1"),
    ...(second === null ? [] : buildSampleOutputArguments(source, second, `pipe:${SECOND_OUTPUT}`)),
  ];
}

function buildSampleOutputArguments(
  source: { startPts: Ticks; track: AudioStream },
  format: SampleFormat,
  output: string,
): string[] {
  const clock = `asetpts='round(PTS-${formatSeconds(source.startPts)}/TB)'`;
  const resample = `aresample=${format.sampleRate}:async=1:min_hard_comp=${MIN_CORRECTED_GAP_SECONDS}:first_pts=0`;
  const layout = `aformat=channel_layouts=${toLayoutName(format.channels)}`;
  return [
    ...["-map", `0:a:${source.track.index}`],
    ...["-af", [...buildMixdownFilters(source.track, format.channels), clock, resample, layout].join(",")],
    // Packets are small: flushing each one costs more than decoding it.
    ...["-flush_packets", "0", "-f", format.encoding, output],
  ];
}

/** Starts decoding the first audio track of a source. `second`: the format of the second output. */
export function startAudioDecoder(
  options: Omit<RecordingFile, "probed"> & {
    probed: Pick<ProbedMedia, "info">;
    format: SampleFormat;
    second?: SampleFormat | null;
  },
): FfmpegChild {
  const { second = null } = options;
  const { info } = options.probed;
  const source = { path: options.path, demuxer: info.demuxer, startPts: info.startPts, track: info.audio[0]! };
  return startFfmpeg({
    ffmpeg: options.ffmpeg,
    arguments: buildAudioDecodeArguments(source, options.format, second),
    limits: createWorkLimits(getAudioWallSeconds(info.duration)),
    stdout: "pipe",
    hasSecondOutput: second !== null,
    signal: options.signal,
  });
}

export type AudioRenderOptions = RecordingFile & {
  segments: readonly AudioSegment[];
  format: ResolvedOutput["format"];
  bitrate: number;
  outputPath: string;
  workDir: string;
  /** Maximum number of encoders that run at the same time. */
  maxEncoders: number;
  noiseReduction?: NoiseReduction | undefined;
  /** For noise reduction. Null or missing: unknown. */
  voice?: VoiceActivity | null | undefined;
  /** The samples of the cut in a file, if an earlier pass has kept them. */
  keptSamples?: string | null | undefined;
  /** Packets of earlier renders. Only cuts at their own level use it. */
  cache?: RenderCache | undefined;
  onProgress?: ((share: number) => void) | undefined;
};

/** Level changes of a cut. `gains`: the gains of speakers. `level` null: no limiter is needed. */
export type Levels = { gains: readonly SpeakerGain[]; level: OutputLevel | null };

/**
 * Writes the audio of a cut at a level, or as it is. Errors: `AppError` `storage_full`, `processing_failed`; the
 * signal's reason.
 */
export async function encodeSpliced(
  options: AudioRenderOptions,
  audioFormat: AudioFormat,
  levels: Levels,
): Promise<void> {
  const { format, segments, maxEncoders } = options;
  const samples = toSampleRanges(segments, audioFormat.sampleRate).reduce((sum, { from, to }) => sum + to - from, 0);
  // MP3 packets refer to earlier ones (bit reservoir). Above two AAC channels, packets do not reveal their window.
  const isJoinable = format !== "mp3" && audioFormat.channels <= 2;
  if (isJoinable)
    try {
      const createTrackSink = (sink: AacTrackOptions) =>
        isWorthChunking(sink.samples, maxEncoders)
          ? createChunkedSink({ ...sink, maxEncoders })
          : createAdaptiveStereoSink(sink);
      // A level depends on the whole cut: after an edit, no sample is the same. Kept samples come in other blocks.
      const isCachable = levels.level === null && levels.gains.length === 0 && options.keptSamples == null;
      const cache = isCachable ? options.cache : undefined;
      return await encodeInto(options, audioFormat, levels, (sink) =>
        cache === undefined
          ? createTrackSink({ ...sink, samples })
          : createCachedSink({ ...sink, samples }, cache, createTrackSink),
      );
    } catch (error) {
      if (!(error instanceof AacJoinError)) throw error;
    }
  await encodeInto(options, audioFormat, levels, createSingleEncoderSink);
}

async function encodeInto(
  options: AudioRenderOptions,
  audioFormat: AudioFormat,
  { gains, level }: Levels,
  createSink: (options: AudioSinkOptions) => AudioSink,
): Promise<void> {
  const { ffmpeg, probed, format, bitrate, workDir, signal } = options;
  const wallSeconds = getAudioWallSeconds(probed.info.duration);
  await writeAtomically(options.outputPath, async (path) => {
    const sink = createSink({ ffmpeg, format, audioFormat, bitrate, path, workDir, wallSeconds, signal });
    const limited = level === null ? sink : createLeveler(sink, level, audioFormat);
    await spliceTo(options, audioFormat, levelSpeakers(limited, gains, audioFormat));
  });
}

/** Returns a sink in front of `sink` that applies the gains of speakers. */
const levelSpeakers = (sink: AudioSink, gains: readonly SpeakerGain[], audioFormat: AudioFormat): AudioSink =>
  gains.length === 0 ? sink : createSpeakerLeveler(sink, gains, audioFormat);

/** Writes the samples of a cut to a sink, and ends it. Errors: those of `encodeSpliced`. */
export async function spliceTo(options: AudioRenderOptions, audioFormat: AudioFormat, sink: AudioSink): Promise<void> {
  const { segments, noiseReduction: mode, voice = null, signal, keptSamples = null } = options;
  if (keptSamples !== null) return await readTo(options, keptSamples, audioFormat, sink);
  const until = segments.at(-1)?.end ?? 0;
  const createDenoiser = mode === undefined ? null : await loadRnnoise();
  const { sampleRate, channels } = audioFormat;
  const decoder = startAudioDecoder({ ...options, format: { ...audioFormat, encoding: "f32le" } });
  let sourceEnded: boolean;
  try {
    ({ sourceEnded } = await spliceAudio({
      input:
        createDenoiser === null
          ? decoder.stdout
          : reduceNoise(decoder.stdout, { mode: mode!, channels, createDenoiser, voice }),
      output: sink,
      sampleRate,
      channels,
      segments,
      onPosition: (position) => options.onProgress?.(Math.min(1, position / Math.max(1, until))),
    }));
    await sink.end();
  } catch (error) {
    const [reason] = await Promise.all([sink.abort(error), decoder.kill()]);
    signal?.throwIfAborted();
    throw reason;
  }
  await finishDecoder(decoder, sourceEnded);
  signal?.throwIfAborted();
}

/** Writes the samples of a file to a sink, and ends it. */
async function readTo(
  { signal, onProgress }: AudioRenderOptions,
  path: string,
  { channels }: AudioFormat,
  sink: AudioSink,
): Promise<void> {
  const file = Bun.file(path);
  let bytes = 0;
  try {
    for await (const samples of readWholeSamples(file.stream(), channels)) {
      signal?.throwIfAborted();
      await sink.write(toSampleBytes(samples));
      bytes += samples.byteLength;
      onProgress?.(bytes / Math.max(1, file.size));
    }
    await sink.end();
  } catch (error) {
    const reason = await sink.abort(error);
    signal?.throwIfAborted();
    throw reason;
  }
}

/** Stops a decoder that is no longer needed. Throws if a decoder that reached the end of the source has failed. */
async function finishDecoder(decoder: FfmpegChild, sourceEnded: boolean): Promise<void> {
  if (!sourceEnded) return await decoder.kill();
  const outcome = await decoder.outcome;
  if (!outcome.ok && decoder.endedBy() !== "kill")
    throw new AppError("processing_failed", "Audio could not be decoded.", { cause: toFfmpegError(outcome) });
}
