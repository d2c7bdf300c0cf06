/** Encodes one chunk of a render: seek, decode, keep the frames, encode, and prove that every frame is there. */
import { AppError } from "../domain/errors";
import type { Probed } from "../domain/media";
import type { Chunk } from "../domain/render-plan";
import { type Rational, TICKS_PER_SECOND, type Ticks } from "../domain/time";
import { inputArguments, outputFile, passFramesThrough, QUIET } from "./arguments";
import { colorArguments, colorFilters } from "./color";
import {
  deviceArguments,
  encoderFormat,
  type VideoEncoder,
  type VideoQuality,
  videoEncoderArguments,
} from "./encoder-arguments";
import { type Ffmpeg, PROGRESS, runFfmpeg, workLimits } from "./ffmpeg";
import {
  beforeFrame,
  deinterlaceFilters,
  selectFilters,
  shapeFilters,
  type Timing,
  timingFilters,
} from "./picture-filters";
import { countFrames } from "./video-track";
import { writeWhole } from "./work-files";

/** What all chunks of a render share. */
export type ChunkSettings = {
  sourcePath: string;
  probed: Probed;
  width: number;
  height: number;
  /** The output's rate; the mean one when frames keep their own times. */
  rate: Rational;
  quality: VideoQuality;
  encoder: VideoEncoder;
  threads: number;
};

/** How many frames the chunk must have, and how they are chosen. */
export type ChunkTask = { chunk: Chunk; timing: Timing; frameCount: number };

/** Containers without an index for seeking: start reading earlier, by a usual distance between keyframes. */
const SEEK_MARGIN: Record<string, Ticks> = { mov: 0, matroska: 0, avi: 0, flv: 0 };
const UNINDEXED_MARGIN: Ticks = 5 * TICKS_PER_SECOND;
const NEAR_START: Ticks = TICKS_PER_SECOND / 2;

/** The container time to seek to; null when reading starts at the beginning. */
export function seekTime(probed: Probed, from: number): Ticks | null {
  const { demuxer, startPts } = probed.info;
  const time = beforeFrame(probed.frames!, from) - (SEEK_MARGIN[demuxer] ?? UNINDEXED_MARGIN);
  return time <= NEAR_START ? null : startPts + time;
}

export type ChunkVariant = { libavutil: number; hasZscale: boolean; fromStart: boolean };

/** The command line of a chunk without its output. Pure. `fromStart`: without a seek. */
export function chunkArguments(settings: ChunkSettings, task: ChunkTask, variant: ChunkVariant): string[] {
  const { probed, encoder } = settings;
  const video = probed.info.video!;
  const filters = [
    ...deinterlaceFilters(video),
    ...selectFilters(task.chunk, probed),
    ...timingFilters(task.chunk, probed, task.timing),
    ...shapeFilters(video, settings),
    ...colorFilters(video, variant.hasZscale),
    encoderFormat(encoder),
  ];
  const threads = ["-threads", String(settings.threads)];
  const target = {
    quality: settings.quality,
    width: settings.width,
    height: settings.height,
    framesPerSecond: settings.rate.num / settings.rate.den,
  };
  return [
    ...[...QUIET, ...PROGRESS, "-copyts", ...deviceArguments(encoder)],
    ...inputArguments({
      path: settings.sourcePath,
      demuxer: probed.info.demuxer,
      seekTo: variant.fromStart ? null : seekTime(probed, task.chunk.pieces[0]!.from),
      extra: threads,
    }),
    ...["-map", "0:V:0", "-an", "-sn", "-dn", "-map_metadata", "-1", "-map_chapters", "-1", "-vf", filters.join(",")],
    ...[...passFramesThrough(variant.libavutil), "-frames:v", String(task.frameCount)],
    ...videoEncoderArguments(encoder, target),
    ...colorArguments(video, settings),
    ...threads,
  ];
}

/**
 * Encodes a chunk to `path`, which appears only when it holds exactly its frames. When a seek missed frames it is repeated from the start
 * of the file; when the source itself has frames that cannot be decoded, their neighbours stand for them, and `repaired` is true. Errors:
 * `AppError` `storage_full`, `processing_failed`; the signal's reason.
 */
export async function encodeChunk(options: {
  ffmpeg: Ffmpeg;
  hasZscale: boolean;
  settings: ChunkSettings;
  task: ChunkTask;
  path: string;
  signal?: AbortSignal;
  onFrames?: (frames: number) => void;
}): Promise<{ repaired: boolean }> {
  const { settings, task } = options;
  const seeks = seekTime(settings.probed, task.chunk.pieces[0]!.from) !== null;
  if (seeks && (await attempt(options, task, false))) return { repaired: false };
  if (await attempt(options, task, true)) return { repaired: false };
  const { rate } = task.timing.kind === "resampled" ? task.timing : settings.probed.frames!;
  const phase = task.timing.kind === "resampled" ? task.timing.phase : 0;
  const filled: ChunkTask = { ...task, timing: { kind: "resampled", rate, phase } };
  if (await attempt(options, filled, true)) return { repaired: true };
  throw new AppError("processing_failed", "the picture could not be decoded");
}

/** False when the frames are not those that were asked for. */
async function attempt(
  options: Parameters<typeof encodeChunk>[0],
  task: ChunkTask,
  fromStart: boolean,
): Promise<boolean> {
  const { ffmpeg, settings, hasZscale, signal } = options;
  const decoded = fromStart ? task.chunk.pieces.at(-1)!.to : task.frameCount * 4 + 1_000;
  return await writeWhole(options.path, async (part) => {
    await runFfmpeg({
      ffmpeg,
      arguments: [
        ...chunkArguments(settings, task, { libavutil: ffmpeg.libavutil, hasZscale, fromStart }),
        ...["-f", "mp4", ...outputFile(part)],
      ],
      limits: workLimits(300 + decoded * 2),
      onProgress: ({ frames }) => options.onFrames?.(frames),
      ...(signal === undefined ? {} : { signal }),
    });
    if ((await countFrames(part)) !== task.frameCount) throw new WrongFrameCount();
    return true;
  }).catch((error: unknown) => {
    if (error instanceof WrongFrameCount) return false;
    throw error;
  });
}

class WrongFrameCount extends Error {}
