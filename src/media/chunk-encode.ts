/** Encodes one chunk of a render: seek, decode, keep the frames, encode, and prove that every frame is there. */
import { ALL_FORMATS, EncodedPacketSink, FilePathSource, Input } from "mediabunny";
import { AppError } from "../domain/errors";
import type { Probed } from "../domain/media";
import type { Chunk } from "../domain/render-plan";
import { type FrameTimes, type Rational, TICKS_PER_SECOND, type Ticks } from "../domain/time";
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
import { writeWhole } from "./work-files";

/** What all chunks of a render share. */
export type ChunkSettings = {
  sourcePath: string;
  probed: Probed;
  width: number;
  height: number;
  /** The output's rate; the mean one when frames keep their own times. */
  rate: Rational;
  timescale: number;
  quality: VideoQuality;
  encoder: VideoEncoder;
  threads: number;
};

/** How many frames the chunk must have, and how they are timed. */
export type ChunkTask = { chunk: Chunk; timing: Timing; frameCount: number };

/** Containers without an index for seeking: start reading earlier, by a usual distance between keyframes. */
const SEEK_MARGIN: Record<string, Ticks> = { mov: 0, matroska: 0, avi: 0, flv: 0 };
const UNINDEXED_MARGIN: Ticks = 5 * TICKS_PER_SECOND;

/** The container time to seek to; null when reading starts at the beginning. */
export function seekTime(probed: Probed, from: number, margin?: Ticks): Ticks | null {
  const { demuxer, startPts } = probed.info;
  const back = margin ?? SEEK_MARGIN[demuxer] ?? UNINDEXED_MARGIN;
  const time = beforeFrame(probed.frames!, from) - back;
  return time <= TICKS_PER_SECOND / 2 ? null : startPts + time;
}

/** The command line of a chunk. Pure. `fromStart`: without a seek. */
export function chunkArguments(
  settings: ChunkSettings,
  task: ChunkTask,
  options: { libavutil: number; hasZscale: boolean; fromStart: boolean },
): string[] {
  const { probed, encoder } = settings;
  const video = probed.info.video!;
  const frames: FrameTimes = probed.frames!;
  const filters = [
    ...deinterlaceFilters(video),
    ...selectFilters(task.chunk, frames),
    ...timingFilters(task.chunk, frames, task.timing),
    ...shapeFilters(video, settings),
    ...colorFilters(video, options.hasZscale),
    encoderFormat(encoder),
  ];
  const base = task.timing.kind === "timed" ? ["-enc_time_base", `1:${settings.timescale}`] : [];
  const threads = ["-threads", String(settings.threads)];
  return [
    ...[...QUIET, ...PROGRESS, "-copyts", ...deviceArguments(encoder)],
    ...inputArguments({
      path: settings.sourcePath,
      demuxer: probed.info.demuxer,
      startPts: probed.info.startPts,
      seekTo: options.fromStart ? null : seekTime(probed, task.chunk.pieces[0]!.from),
      extra: threads,
    }),
    ...["-map", "0:V:0", "-an", "-sn", "-dn", "-map_metadata", "-1", "-map_chapters", "-1", "-vf", filters.join(",")],
    ...[...passFramesThrough(options.libavutil), ...base, "-frames:v", String(task.frameCount)],
    ...videoEncoderArguments(encoder, {
      quality: settings.quality,
      width: settings.width,
      height: settings.height,
      framesPerSecond: settings.rate.num / settings.rate.den,
    }),
    ...[...threads, ...colorArguments(video, settings), "-video_track_timescale", String(settings.timescale)],
  ];
}

/**
 * Encodes a chunk to `path`, which appears only when it holds exactly its frames. A seek that missed frames is repeated from the start of
 * the file. Errors: `AppError` `storage_full`, `processing_failed`; the signal's reason.
 */
export async function encodeChunk(options: {
  ffmpeg: Ffmpeg;
  hasZscale: boolean;
  settings: ChunkSettings;
  task: ChunkTask;
  path: string;
  signal?: AbortSignal;
  onFrames?: (frames: number) => void;
}): Promise<void> {
  const { ffmpeg, settings, task, signal } = options;
  const seeks = seekTime(settings.probed, task.chunk.pieces[0]!.from) !== null;
  for (const fromStart of seeks ? [false, true] : [true]) {
    const decoded = fromStart ? task.chunk.pieces.at(-1)!.to : task.frameCount * 4 + 1_000;
    const complete = await writeWhole(options.path, async (part) => {
      await runFfmpeg({
        ffmpeg,
        arguments: [
          ...chunkArguments(settings, task, { libavutil: ffmpeg.libavutil, hasZscale: options.hasZscale, fromStart }),
          ...["-f", "mp4", ...outputFile(part)],
        ],
        limits: workLimits(300 + decoded * 2),
        onProgress: ({ frames }) => options.onFrames?.(frames),
        ...(signal === undefined ? {} : { signal }),
      });
      const found = await countFrames(part);
      if (found !== task.frameCount) throw new WrongFrameCount(found, task.frameCount);
      return true;
    }).catch((error: unknown) => {
      if (error instanceof WrongFrameCount && !fromStart) return false;
      throw error;
    });
    if (complete) return;
  }
}

/** Of a chunk that came out with more or fewer frames than it must have. */
export class WrongFrameCount extends AppError<"processing_failed"> {
  constructor(found: number, wanted: number) {
    super("processing_failed", "the picture could not be processed", {
      cause: new Error(`a chunk has ${found} frames, not ${wanted}`),
    });
  }
}

/** How many frames an MP4 file of ours has, by its table. */
export async function countFrames(path: string): Promise<number> {
  const input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
  try {
    const track = await input.getPrimaryVideoTrack();
    if (track === null) return 0;
    let count = 0;
    for await (const _ of new EncodedPacketSink(track).packets(undefined, undefined, { metadataOnly: true })) count++;
    return count;
  } finally {
    input.dispose();
  }
}
