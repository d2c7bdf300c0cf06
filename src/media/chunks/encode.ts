/** Encodes one chunk of a render, and verifies its frame count. */
import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { AppError } from "../../domain/errors";
import type { ProbedMedia } from "../../domain/media";
import type { RenderChunk } from "../../domain/render-plan";
import { type Rational, TICKS_PER_SECOND, type Ticks } from "../../domain/time";
import { buildInputArguments, buildOutputArguments, buildPassthroughArguments, QUIET_ARGUMENTS } from "../arguments";
import { writeAtomically } from "../atomic-output";
import { buildColorArguments, buildColorFilters, isHdr } from "../color";
import {
  buildDeviceArguments,
  buildVideoEncoderArguments,
  getPixelFormatFilter,
  type VideoEncoder,
  type VideoQuality,
} from "../encoder-arguments";
import { createWorkLimits, type Ffmpeg, PROGRESS_ARGUMENTS, runFfmpeg } from "../ffmpeg";
import { writeExcerpt } from "../packets/excerpt";
import { ALL_BYTES, requireBytes } from "../packets/incomplete-files";
import type { PacketSource } from "../packets/source";
import { countFrames } from "../packets/video-track";
import {
  buildDeinterlaceFilters,
  buildSelectFilters,
  buildSequentialTiming,
  buildTimingFilters,
  type FrameTiming,
  getSeekPointBefore,
} from "../video-filters";
import { MAX_LEAD_PACKETS } from "./excerpt";
import { buildScaleFilters } from "./scale";

/** Settings that all chunks of a render share. */
export type ChunkSettings = {
  sourcePath: string;
  probed: ProbedMedia;
  width: number;
  height: number;
  /** The output's frame rate; the mean rate when frames keep their own times. */
  frameRate: Rational;
  quality: VideoQuality;
  encoder: VideoEncoder;
  /** For an output of a few frames: old versions of ffmpeg lose the last one if so few are reordered. */
  disableBFrames: boolean;
  threads: number;
};

/** The frame count that the chunk must have, and the timing of its frames. */
export type ChunkTask = { chunk: RenderChunk; timing: FrameTiming; frameCount: number };

/** Seeking in containers without an index starts earlier, by a typical distance between keyframes. */
const SEEK_MARGIN_TICKS: Record<string, Ticks> = { mov: 0, matroska: 0, avi: 0, flv: 0 };
const UNINDEXED_SEEK_MARGIN_TICKS: Ticks = 5 * TICKS_PER_SECOND;
const MIN_SEEK_TICKS: Ticks = TICKS_PER_SECOND / 2;

/** Returns the container time to seek to; null to read from the beginning. */
export function findSeekTime(probed: ProbedMedia, from: number): Ticks | null {
  const { demuxer, startPts } = probed.info;
  const time = getSeekPointBefore(probed.frames!, from) - (SEEK_MARGIN_TICKS[demuxer] ?? UNINDEXED_SEEK_MARGIN_TICKS);
  return time <= MIN_SEEK_TICKS ? null : startPts + time;
}

/** `hasZscale`: whether the zscale filter may be used. `fromStart`: whether to read without a seek. */
export type ChunkVariant = { libavutil: number; hasZscale: boolean; fromStart: boolean };

/** Returns the command line of a chunk without its output file. Pure. */
export function buildChunkArguments(settings: ChunkSettings, task: ChunkTask, variant: ChunkVariant): string[] {
  const { probed, encoder } = settings;
  const video = probed.info.video!;
  const isUnrotated = video.rotation === 0;
  const filters = [
    ...(isUnrotated ? [`scale=${video.codedWidth}:${video.codedHeight}`] : []),
    ...buildDeinterlaceFilters(video),
    ...buildSelectFilters(task.chunk, probed),
    ...buildTimingFilters(task.chunk, probed, task.timing, variant.libavutil),
    ...buildScaleFilters(video, settings, variant),
    ...buildColorFilters(video, variant.hasZscale),
    getPixelFormatFilter(encoder),
  ];
  const threads = ["-threads", String(settings.threads)];
  const target = {
    quality: settings.quality,
    width: settings.width,
    height: settings.height,
    framesPerSecond: settings.frameRate.num / settings.frameRate.den,
  };
  return [
    ...QUIET_ARGUMENTS,
    ...PROGRESS_ARGUMENTS,
    ...["-filter_threads", String(settings.threads), "-copyts"],
    ...buildDeviceArguments(encoder),
    ...buildInputArguments({
      path: settings.sourcePath,
      demuxer: probed.info.demuxer,
      seekTo: variant.fromStart ? null : findSeekTime(probed, task.chunk.segments[0]!.from),
      // A size that changes mid-stream would reinitialize the filters and restart their frame count. Rotated video is
      // the exception: ffmpeg's own rotation precedes these filters and works at one size only.
      extra: [...(isUnrotated ? ["-reinit_filter", "0"] : []), ...threads],
    }),
    ...["-map", "0:V:0", "-an", "-sn", "-dn", "-map_metadata", "-1", "-map_chapters", "-1", "-vf", filters.join(",")],
    ...buildPassthroughArguments(variant.libavutil),
    ...(task.timing.kind === "sequential" ? buildSequentialTiming(task.timing.rate, variant.libavutil).options : []),
    ...["-frames:v", String(task.frameCount)],
    ...buildVideoEncoderArguments(encoder, target),
    ...(settings.disableBFrames ? ["-bf", "0"] : []),
    ...buildColorArguments(video, settings),
    ...threads,
  ];
}

export type EncodeChunkOptions = {
  ffmpeg: Ffmpeg;
  hasZscale: boolean;
  settings: ChunkSettings;
  task: ChunkTask;
  path: string;
  /** Source of the chunk's excerpt. Without it, the encoder seeks in the source file. */
  packetSource: PacketSource | null;
  signal?: AbortSignal | undefined;
  onFrames?: ((frames: number) => void) | undefined;
};

/**
 * Encodes a chunk to `path`, which appears only with exactly the chunk's frames. Tries an excerpt with only the needed
 * packets first, then a seek, then decoding from the start of the file. If frames of the source cannot be decoded,
 * their neighbors replace them, and `repaired` is true. Errors: `AppError` `storage_full`, `processing_failed`; the
 * signal's reason.
 */
export async function encodeChunk(options: EncodeChunkOptions): Promise<{ repaired: boolean }> {
  const { settings } = options;
  try {
    return await encodeWithFallbacks(options);
  } catch (error) {
    const usesZscaleForSize = options.hasZscale && !isHdr(settings.probed.info.video!);
    if (!usesZscaleForSize || !(error instanceof AppError) || error.code !== "processing_failed") throw error;
    // zscale accepts fewer kinds of frames than swscale.
    return await encodeWithFallbacks({ ...options, hasZscale: false });
  }
}

async function encodeWithFallbacks(options: EncodeChunkOptions): Promise<{ repaired: boolean }> {
  const { settings, task } = options;
  if (await tryEncodeExcerpt(options)) return { repaired: false };
  // ffmpeg may read any part of the file.
  await requireBytes(settings.sourcePath, 0, ALL_BYTES);
  const needsSeek = findSeekTime(settings.probed, task.chunk.segments[0]!.from) !== null;
  if (needsSeek && (await tryEncode(options, task, false))) return { repaired: false };
  if (await tryEncode(options, task, true)) return { repaired: false };
  const { rate } = task.timing.kind === "resampled" ? task.timing : settings.probed.frames!;
  const phase = task.timing.kind === "resampled" ? task.timing.phase : 0;
  const filled: ChunkTask = { ...task, timing: { kind: "resampled", rate, phase } };
  if (await tryEncode(options, filled, true)) return { repaired: true };
  throw new AppError("processing_failed", "Video could not be decoded.");
}

/** Encodes from a file with only the chunk's packets. Returns false if that fails to produce the chunk's frames. */
async function tryEncodeExcerpt(options: EncodeChunkOptions): Promise<boolean> {
  const { packetSource, settings, task, signal } = options;
  if (packetSource === null) return false;
  const { info } = settings.probed;
  const path = `${options.path}.excerpt.mp4`;
  try {
    const { rotation } = info.video!;
    const frameRanges = task.chunk.segments;
    const start = await writeExcerpt(packetSource, { frameRanges, rotation, path, maxLeadPackets: MAX_LEAD_PACKETS });
    const excerptInfo = { ...info, demuxer: "mov", startPts: info.startPts - start };
    const probed = { ...settings.probed, info: excerptInfo };
    return await tryEncode({ ...options, settings: { ...settings, sourcePath: path, probed } }, task, true);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof AppError && error.code === "storage_full") throw error;
    return false;
  } finally {
    await rm(path, { force: true });
  }
}

/** Returns false if the output does not have the chunk's frame count. */
async function tryEncode(options: EncodeChunkOptions, task: ChunkTask, fromStart: boolean): Promise<boolean> {
  const { ffmpeg, settings, hasZscale, signal } = options;
  const decodedFrames = fromStart ? task.chunk.segments.at(-1)!.to : task.frameCount * 4 + 1_000;
  return await writeAtomically(options.path, async (tempPath) => {
    await runFfmpeg({
      ffmpeg,
      arguments: [
        ...buildChunkArguments(settings, task, { libavutil: ffmpeg.libavutil, hasZscale, fromStart }),
        // A head that checks a chunk from another machine reads this name.
        ...["-metadata", `comment=${basename(options.path)}`, "-f", "mp4", ...buildOutputArguments(tempPath)],
      ],
      limits: createWorkLimits(300 + decodedFrames * 2),
      onProgress: ({ frames }) => options.onFrames?.(frames),
      signal,
    });
    if ((await countFrames(tempPath)) !== task.frameCount) throw new FrameCountError();
    return true;
  }).catch((error: unknown) => {
    if (error instanceof FrameCountError) return false;
    throw error;
  });
}

class FrameCountError extends Error {}
