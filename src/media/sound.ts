/** Sound of a source as samples on the source's clock, and its way through the slicer into an encoded file. */
import { AppError } from "../domain/errors";
import type { Probed, ResolvedOutput } from "../domain/media";
import { TICKS_PER_SECOND, type Ticks } from "../domain/time";
import { inputArguments, QUIET, secondsText } from "./arguments";
import { type Slice, sliceAudio } from "./audio-slicer";
import { layoutName, soundEncoderArguments, soundFormat } from "./encoder-arguments";
import { type Ffmpeg, type FfmpegChild, failureOf, startFfmpeg, workLimits } from "./ffmpeg";
import { writeWhole } from "./work-files";

/** Holes and overlaps longer than this are filled or trimmed, so that sound stays where the source has it. */
const HOLE_SECONDS = 0.03;

/** Sound cannot take longer than this: a start, and twice its own length on the slowest machine. */
const soundWallSeconds = (duration: Ticks): number => 300 + (2 * duration) / TICKS_PER_SECOND;

export type SampleFormat = { rate: number; channels: number; encoding: "f32le" | "s16le" };

/** Arguments that decode a track to raw samples on standard output; the first one is the source's clock 0. */
export function decodeSoundArguments(
  source: { path: string; demuxer: string; startPts: Ticks; track: number },
  format: SampleFormat,
): string[] {
  const clock = `asetpts='round(PTS-${secondsText(source.startPts)}/TB)'`;
  const resample = `aresample=${format.rate}:async=1:min_hard_comp=${HOLE_SECONDS}:first_pts=0`;
  return [
    ...QUIET,
    "-copyts",
    ...inputArguments(source),
    ...["-map", `0:a:${source.track}`],
    ...["-af", `${clock},${resample},aformat=channel_layouts=${layoutName(format.channels)}`],
    ...["-f", format.encoding, "pipe:1"],
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
  const source = { path: options.path, demuxer: info.demuxer, startPts: info.startPts, track: info.audio[0]!.index };
  return startFfmpeg({
    ffmpeg: options.ffmpeg,
    arguments: decodeSoundArguments(source, options.format),
    limits: workLimits(soundWallSeconds(info.duration)),
    stdout: "pipe",
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
}

const CONTAINERS: Record<ResolvedOutput["format"], string[]> = {
  mp4: ["-f", "mp4"],
  mov: ["-f", "mp4"],
  m4a: ["-movflags", "+faststart", "-f", "ipod"],
  mp3: ["-id3v2_version", "3", "-f", "mp3"],
};

/**
 * Writes the sound of a cut: an m4a or mp3 file, or the AAC track of a video. Errors: `AppError` `storage_full`, `processing_failed`; the
 * signal's reason.
 */
export async function renderSound(options: {
  ffmpeg: Ffmpeg;
  path: string;
  probed: Probed;
  slices: readonly Slice[];
  format: ResolvedOutput["format"];
  bitrate: number;
  outputPath: string;
  signal?: AbortSignal;
  onProgress?: (share: number) => void;
}): Promise<void> {
  const { ffmpeg, probed, slices, bitrate, signal } = options;
  const { rate, channels } = soundFormat(options.format, probed.info.audio[0]!, bitrate);
  const until = slices.at(-1)?.end ?? 0;
  await writeWhole(options.outputPath, async (part) => {
    const decoder = startSoundDecoder({ ...options, format: { rate, channels, encoding: "f32le" } });
    const encoder = startFfmpeg({
      ffmpeg,
      arguments: [
        ...[...QUIET, "-f", "f32le", "-ar", String(rate), "-ac", String(channels), "-i", "pipe:0"],
        ...[...soundEncoderArguments(options.format, bitrate), "-map_metadata", "-1"],
        ...[...CONTAINERS[options.format], "-y", `file:${part}`],
      ],
      limits: workLimits(soundWallSeconds(probed.info.duration)),
      stdin: "pipe",
      ...(signal === undefined ? {} : { signal }),
    });
    let sourceEnded: boolean;
    try {
      ({ sourceEnded } = await sliceAudio({
        input: decoder.stdout,
        output: encoder.stdin,
        rate,
        channels,
        slices,
        onPosition: (position) => options.onProgress?.(Math.min(1, position / Math.max(1, until))),
      }));
      await encoder.stdin.end();
    } catch (error) {
      await Promise.all([decoder.kill(), encoder.kill()]);
      signal?.throwIfAborted();
      const outcome = await encoder.outcome;
      throw outcome.noSpace || !outcome.ok ? failureOf(outcome) : error;
    }
    await finishDecoder(decoder, sourceEnded);
    signal?.throwIfAborted();
    const outcome = await encoder.outcome;
    signal?.throwIfAborted();
    if (!outcome.ok) throw failureOf(outcome);
  });
}

/** A decoder that came to its own end must have ended well; one that has given all that is needed is stopped. */
async function finishDecoder(decoder: FfmpegChild, sourceEnded: boolean): Promise<void> {
  if (!sourceEnded) return await decoder.kill();
  const outcome = await decoder.outcome;
  if (!outcome.ok && decoder.endedBy() !== "kill")
    throw new AppError("processing_failed", "the sound could not be decoded", { cause: failureOf(outcome) });
}
