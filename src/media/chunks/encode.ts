/** Encodes one chunk of a render: seek, decode, keep the frames, encode, and prove that every frame is there. */
import { rm } from "node:fs/promises";
import { AppError } from "../../domain/errors";
import type { Probed } from "../../domain/media";
import type { Chunk } from "../../domain/render-plan";
import { type Rational, TICKS_PER_SECOND, type Ticks } from "../../domain/time";
import { inputArguments, outputFile, passFramesThrough, QUIET } from "../arguments";
import { colorArguments, colorFilters, isHdr } from "../color";
import {
  deviceArguments,
  encoderFormat,
  type VideoEncoder,
  type VideoQuality,
  videoEncoderArguments,
} from "../encoder-arguments";
import { type Ffmpeg, PROGRESS, runFfmpeg, workLimits } from "../ffmpeg";
import type { PacketSource } from "../packets/source";
import { countFrames } from "../packets/video-track";
import {
  beforeFrame,
  countedFrames,
  deinterlaceFilters,
  selectFilters,
  type Timing,
  timingFilters,
} from "../picture-filters";
import { writeWhole } from "../work-files";
import { feedChunk } from "./feed";
import { scaleFilters } from "./scale";

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
  /** The whole output has but a few frames: old versions of ffmpeg lose the last one when they write so few that were reordered. */
  isTiny: boolean;
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

/** `hasZscale`: the filter may be used. */
export type ChunkVariant = { libavutil: number; hasZscale: boolean; fromStart: boolean };

/** The command line of a chunk without its output. Pure. `fromStart`: without a seek. */
export function chunkArguments(settings: ChunkSettings, task: ChunkTask, variant: ChunkVariant): string[] {
  const { probed, encoder } = settings;
  const video = probed.info.video!;
  const steady = video.rotation === 0;
  const filters = [
    ...(steady ? [`scale=${video.codedWidth}:${video.codedHeight}`] : []),
    ...deinterlaceFilters(video),
    ...selectFilters(task.chunk, probed),
    ...timingFilters(task.chunk, probed, task.timing, variant.libavutil),
    ...scaleFilters(video, settings, variant),
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
    ...[...QUIET, ...PROGRESS, "-filter_threads", String(settings.threads), "-copyts", ...deviceArguments(encoder)],
    ...inputArguments({
      path: settings.sourcePath,
      demuxer: probed.info.demuxer,
      seekTo: variant.fromStart ? null : seekTime(probed, task.chunk.pieces[0]!.from),
      // A size that changes on the way would start the filters, and with them the count of frames, anew. A turned picture is turned by
      // ffmpeg before the first of these filters, at one size only.
      extra: [...(steady ? ["-reinit_filter", "0"] : []), ...threads],
    }),
    ...["-map", "0:V:0", "-an", "-sn", "-dn", "-map_metadata", "-1", "-map_chapters", "-1", "-vf", filters.join(",")],
    ...passFramesThrough(variant.libavutil),
    ...(task.timing.kind === "counted" ? countedFrames(task.timing.rate, variant.libavutil).options : []),
    ...["-frames:v", String(task.frameCount)],
    ...videoEncoderArguments(encoder, target),
    ...(settings.isTiny ? ["-bf", "0"] : []),
    ...colorArguments(video, settings),
    ...threads,
  ];
}

export type ChunkEncode = {
  ffmpeg: Ffmpeg;
  hasZscale: boolean;
  settings: ChunkSettings;
  task: ChunkTask;
  path: string;
  /** Where the chunk's packets are taken from; without it, the source is sought in. */
  feed?: PacketSource;
  signal?: AbortSignal;
  onFrames?: (frames: number) => void;
};

/**
 * Encodes a chunk to `path`, which appears only when it holds exactly its frames. It is fed with its own packets where that can be done;
 * when that, or a seek, missed frames it is repeated from the start of the file; when the source itself has frames that cannot be decoded,
 * their neighbours stand for them, and `repaired` is true. Errors: `AppError` `storage_full`, `processing_failed`; the signal's reason.
 */
export async function encodeChunk(options: ChunkEncode): Promise<{ repaired: boolean }> {
  const { settings } = options;
  try {
    return await encodeAnyhow(options);
  } catch (error) {
    const scaled = options.hasZscale && !isHdr(settings.probed.info.video!);
    if (!scaled || !(error instanceof AppError) || error.code !== "processing_failed") throw error;
    // The quick scaler asks more of its frames than the other one does.
    return await encodeAnyhow({ ...options, hasZscale: false });
  }
}

async function encodeAnyhow(options: ChunkEncode): Promise<{ repaired: boolean }> {
  const { settings, task } = options;
  if (await attemptFed(options)) return { repaired: false };
  const seeks = seekTime(settings.probed, task.chunk.pieces[0]!.from) !== null;
  if (seeks && (await attempt(options, task, false))) return { repaired: false };
  if (await attempt(options, task, true)) return { repaired: false };
  const { rate } = task.timing.kind === "resampled" ? task.timing : settings.probed.frames!;
  const phase = task.timing.kind === "resampled" ? task.timing.phase : 0;
  const filled: ChunkTask = { ...task, timing: { kind: "resampled", rate, phase } };
  if (await attempt(options, filled, true)) return { repaired: true };
  throw new AppError("processing_failed", "the picture could not be decoded");
}

/** From a file with only the chunk's packets. False when that did not give its frames, for whatever reason. */
async function attemptFed(options: ChunkEncode): Promise<boolean> {
  const { feed, settings, task, signal } = options;
  if (feed === undefined) return false;
  const { info } = settings.probed;
  const path = `${options.path}.feed.mp4`;
  try {
    const start = await feedChunk(feed, task.chunk, info.video!.rotation, path);
    const fed = { ...info, demuxer: "mov", startPts: info.startPts - start };
    const probed = { ...settings.probed, info: fed };
    return await attempt({ ...options, settings: { ...settings, sourcePath: path, probed } }, task, true);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof AppError && error.code === "storage_full") throw error;
    return false;
  } finally {
    await rm(path, { force: true });
  }
}

/** False when the frames are not those that were asked for. */
async function attempt(options: ChunkEncode, task: ChunkTask, fromStart: boolean): Promise<boolean> {
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
