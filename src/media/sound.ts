/** Sound of a source as samples on the source's clock, and its way through the slicer into an encoded file. */
import { AppError } from "../domain/errors";
import type { AudioStream, Probed, ResolvedOutput } from "../domain/media";
import { TICKS_PER_SECOND, type Ticks } from "../domain/time";
import { inputArguments, QUIET, secondsText } from "./arguments";
import { layoutName, type SoundFormat, soundFormat } from "./encoder-arguments";
import { type Ffmpeg, type FfmpegChild, failureOf, startFfmpeg, workLimits } from "./ffmpeg";
import { mixdownFilters } from "./sound/mixdown";
import { isWorthParts, partsSink } from "./sound/parts";
import { pairSink } from "./sound/runs";
import { type SinkOptions, type SoundSink, singleSink } from "./sound/sink";
import { cutsOf, type Slice, sliceAudio } from "./sound/slicer";
import { NoJoin } from "./sound/track";
import { writeWhole } from "./work-files";

/** Holes and overlaps longer than this are filled or trimmed, so that sound stays where the source has it. */
const HOLE_SECONDS = 0.03;

/** Sound cannot take longer than this: a start, and twice its own length on the slowest machine. */
const soundWallSeconds = (duration: Ticks): number => 300 + (2 * duration) / TICKS_PER_SECOND;

export type SampleFormat = { rate: number; channels: number; encoding: "f32le" | "s16le" };

/** Returns the arguments that decode a track to raw samples on standard output; the first one is the source's clock 0. */
export function decodeSoundArguments(
  source: { path: string; demuxer: string; startPts: Ticks; track: AudioStream },
  format: SampleFormat,
): string[] {
  const clock = `asetpts='round(PTS-${secondsText(source.startPts)}/TB)'`;
  const resample = `aresample=${format.rate}:async=1:min_hard_comp=${HOLE_SECONDS}:first_pts=0`;
  const layout = `aformat=channel_layouts=${layoutName(format.channels)}`;
  return [
    ...QUIET,
    "-copyts",
    ...inputArguments(source),
    ...["-map", `0:a:${source.track.index}`],
    ...["-af", [...mixdownFilters(source.track, format.channels), clock, resample, layout].join(",")],
    // Packets are small: written one by one they would cost more than decoding them.
    ...["-flush_packets", "0", "-f", format.encoding, "pipe:1"],
  ];
}

/** Starts decoding the first track of a source. */
export function startSoundDecoder(options: {
  ffmpeg: Ffmpeg;
  path: string;
  probed: Probed;
  format: SampleFormat;
  signal?: AbortSignal;
}): FfmpegChild {
  const { info } = options.probed;
  const source = { path: options.path, demuxer: info.demuxer, startPts: info.startPts, track: info.audio[0]! };
  return startFfmpeg({
    ffmpeg: options.ffmpeg,
    arguments: decodeSoundArguments(source, options.format),
    limits: workLimits(soundWallSeconds(info.duration)),
    stdout: "pipe",
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
}

export type SoundRender = {
  ffmpeg: Ffmpeg;
  path: string;
  probed: Probed;
  slices: readonly Slice[];
  format: ResolvedOutput["format"];
  bitrate: number;
  outputPath: string;
  workDir: string;
  /** How many encoders may run at a time. */
  lanes: number;
  signal?: AbortSignal;
  onProgress?: (share: number) => void;
};

/**
 * Writes the sound of a cut: an m4a or mp3 file, or the AAC track of a video. Errors: `AppError` `storage_full`, `processing_failed`; the
 * signal's reason.
 */
export async function renderSound(options: SoundRender): Promise<void> {
  const { format, probed, slices, bitrate, lanes } = options;
  const sound = soundFormat(format, probed.info.audio[0]!, bitrate);
  const samples = cutsOf(slices, sound.rate).reduce((sum, cut) => sum + cut.to - cut.from, 0);
  // MP3's packets lean on the ones before them; of more channels, not all tell their windows.
  const isJoinable = format !== "mp3" && sound.channels <= 2;
  if (isJoinable && (sound.channels === 2 || isWorthParts(samples, lanes)))
    try {
      const open = isWorthParts(samples, lanes) ? partsSink : pairSink;
      return await sliceInto(options, sound, (sink) => open({ ...sink, samples, lanes }));
    } catch (error) {
      if (!(error instanceof NoJoin)) throw error;
    }
  await sliceInto(options, sound, singleSink);
}

async function sliceInto(
  options: SoundRender,
  sound: SoundFormat,
  openSink: (options: SinkOptions) => SoundSink,
): Promise<void> {
  const { ffmpeg, probed, slices, format, bitrate, workDir, signal } = options;
  const until = slices.at(-1)?.end ?? 0;
  const wallSeconds = soundWallSeconds(probed.info.duration);
  const aborted = signal === undefined ? {} : { signal };
  await writeWhole(options.outputPath, async (path) => {
    const decoder = startSoundDecoder({ ...options, format: { ...sound, encoding: "f32le" } });
    const sink = openSink({ ...{ ffmpeg, format, sound, bitrate, path, workDir, wallSeconds }, ...aborted });
    let sourceEnded: boolean;
    try {
      ({ sourceEnded } = await sliceAudio({
        ...{ input: decoder.stdout, output: sink, ...sound, slices },
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
  });
}

/** A decoder that came to its own end must have ended well; one that has given all that is needed is stopped. */
async function finishDecoder(decoder: FfmpegChild, sourceEnded: boolean): Promise<void> {
  if (!sourceEnded) return await decoder.kill();
  const outcome = await decoder.outcome;
  if (!outcome.ok && decoder.endedBy() !== "kill")
    throw new AppError("processing_failed", "the sound could not be decoded", { cause: failureOf(outcome) });
}
