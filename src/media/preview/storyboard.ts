/** The storyboard: thumbnails on JPEG sheets, from the keyframes of the source or of the preview. */
import { mkdir, readdir, rm } from "node:fs/promises";
import type { MediaInfo } from "../../domain/media";
import { planStoryboard, type Storyboard } from "../../domain/preview";
import { fromSeconds, toSeconds } from "../../domain/time";
import { buildInputArguments, formatSeconds, QUIET_ARGUMENTS } from "../arguments";
import { hasZscaleFilter } from "../chunks/scale";
import {
  buildColorFilters,
  buildJpegFilters,
  findOutputColors,
  findPixelColors,
  isHdr,
  JPEG_FORMAT_FILTERS,
  type PixelColors,
} from "../color";
import { createWorkLimits, type RecordingFile, tryFfmpeg } from "../ffmpeg";
import { writeKeyframeExcerpt } from "./keyframe-excerpt";

/** Returns the name of a sheet that ffmpeg writes; `n` counts from 0. */
export const getSheetName = (n: number): string => `sheet-${String(n + 1).padStart(4, "0")}.jpg`;

/** `clockFilters` convert times to the source's clock, `sizeFilters` frames to the size of thumbnails, for JPEG. */
type StoryboardInput = {
  path: string;
  demuxer: string;
  clockFilters: readonly string[];
  sizeFilters: readonly string[];
};

/**
 * Returns the command line that writes all sheets to a folder. Times after the last keyframe have its picture, up to
 * the end of the recording. Pure.
 */
function buildArguments(
  { path, demuxer, clockFilters, sizeFilters }: StoryboardInput,
  { storyboard, outputDir }: { storyboard: Storyboard; outputDir: string },
): string[] {
  const { interval, count, width, height, columns, rows } = storyboard;
  const filters = [
    ...clockFilters,
    // Each thumbnail is the last keyframe at or before its time.
    `fps=1000/${Math.round(interval * 1_000)}:start_time=0:round=up`,
    ...sizeFilters,
    `pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2`,
    "setsar=1",
    "tpad=stop=-1:stop_mode=clone",
    `trim=end_frame=${count}`,
    `tile=${columns}x${rows}`,
    ...JPEG_FORMAT_FILTERS,
  ];
  return [
    ...[...QUIET_ARGUMENTS, "-copyts"],
    ...buildInputArguments({ path, demuxer, extra: ["-threads", "1", "-skip_frame", "nokey", "-flags2", "fast"] }),
    ...["-map", "0:V:0", "-an", "-vf", filters.join(","), "-c:v", "mjpeg", "-q:v", "5", "-threads", "1"],
    ...["-f", "image2", "-start_number", "1", "-y", `file:${outputDir}/sheet-%04d.jpg`],
  ];
}

/** Returns the command line that writes the sheets of a preview to a folder. Pure. */
export function buildStoryboardArguments(options: {
  preview: string;
  storyboard: Storyboard;
  /** The colors of the preview. */
  colors: PixelColors;
  outputDir: string;
}): string[] {
  const { width, height } = options.storyboard;
  const sizeFilters = buildJpegFilters(`${width}:${height}:force_original_aspect_ratio=decrease`, options.colors);
  return buildArguments({ path: options.preview, demuxer: "mov", clockFilters: [], sizeFilters }, options);
}

/** Codecs in which every frame is a keyframe. Decoding all of them takes as long as making the preview. */
const INTRA_CODECS: readonly string[] = [
  "prores",
  "mjpeg",
  "dnxhd",
  "dvvideo",
  "ffv1",
  "huffyuv",
  "utvideo",
  "cfhd",
  "rawvideo",
  "png",
  "qtrle",
];
const MIN_WALL_SECONDS = 120;

/**
 * Writes the sheets of a source, named by `getSheetName`, to a folder. Returns null if that takes too long or fails:
 * the preview has them too. Errors: the signal's reason.
 */
export async function createSourceStoryboard(
  options: RecordingFile & { outputDir: string },
): Promise<Storyboard | null> {
  const { ffmpeg, path, outputDir, signal } = options;
  const { info } = options.probed;
  if (info.video === null || INTRA_CODECS.includes(info.video.codec)) return null;
  const seconds = toSeconds(info.duration);
  const planned = planStoryboard(seconds);
  const hasZscale = isHdr(info.video) && (await hasZscaleFilter(ffmpeg));
  await mkdir(outputDir);
  const writeSheets = async (source: { path: string; info: MediaInfo }): Promise<boolean> => {
    const { ok } = await tryFfmpeg({
      ffmpeg,
      arguments: buildSourceStoryboardArguments({ ...source, hasZscale, storyboard: planned, outputDir }),
      limits: createWorkLimits(MIN_WALL_SECONDS + seconds / 10),
      signal,
    });
    return ok && (await readdir(outputDir)).length >= planned.sheets;
  };
  const excerptPath = `${outputDir}.mp4`;
  let isWritten = false;
  try {
    const excerpt = await createExcerpt(options, planned, excerptPath);
    if (excerpt !== null) isWritten = await writeSheets(excerpt);
  } finally {
    await rm(excerptPath, { force: true });
  }
  isWritten ||= await writeSheets({ path, info });
  return isWritten ? planned : null;
}

/**
 * Writes a file with the keyframes that the storyboard shows. Returns null for HDR video, if most keyframes are needed,
 * or if they cannot be read or written. Throws the signal's reason.
 */
async function createExcerpt(
  { path, probed, signal }: RecordingFile,
  { interval, count }: Storyboard,
  outputPath: string,
): Promise<{ path: string; info: MediaInfo } | null> {
  const { info } = probed;
  if (isHdr(info.video!)) return null;
  const times = Array.from({ length: count }, (_, n) => n * interval);
  try {
    const base = await writeKeyframeExcerpt({ path, probed, times, outputPath, signal });
    return base === null ? null : { path: outputPath, info: { ...info, startPts: fromSeconds(-base) } };
  } catch {
    signal?.throwIfAborted();
    return null;
  }
}

/** Returns the command line that writes the sheets of a source to a folder, with the colors of its preview. Pure. */
export function buildSourceStoryboardArguments(options: {
  path: string;
  info: MediaInfo;
  hasZscale: boolean;
  storyboard: Storyboard;
  outputDir: string;
}): string[] {
  const { path, info, storyboard } = options;
  const video = info.video!;
  const scale = Math.min(storyboard.width / video.width, storyboard.height / video.height);
  const toEven = (pixels: number) => Math.max(2, 2 * Math.floor((pixels * scale) / 2));
  const size = `${toEven(video.width)}:${toEven(video.height)}`;
  const colorFilters = buildColorFilters(video, options.hasZscale);
  const sizeFilters =
    colorFilters.length === 0
      ? buildJpegFilters(size, findPixelColors(video))
      : [`scale=${size}`, ...colorFilters, "format=yuv420p", ...buildJpegFilters(size, findOutputColors(video))];
  const clockFilters = ["settb=1/90000", `setpts='round(PTS-${formatSeconds(info.startPts)}/TB)'`];
  return buildArguments({ path, demuxer: info.demuxer, clockFilters, sizeFilters }, options);
}
