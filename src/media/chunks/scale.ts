/** Selects the fastest scaler for the same quality. */
import { stat } from "node:fs/promises";
import type { VideoStream } from "../../domain/media";
import { type Ffmpeg, listFilters } from "../ffmpeg";
import { buildShapeFilters } from "../video-filters";

/** First version with a fast zscale. */
const MIN_ZSCALE_LIBAVUTIL = 57;

const zscaleByFile = new Map<string, Promise<boolean | null>>();

/** Returns whether this ffmpeg was built with zscale. Each file is queried once; false if the query fails. */
export async function hasZscaleFilter(ffmpeg: Ffmpeg): Promise<boolean> {
  if (ffmpeg.hasZscale !== undefined) return ffmpeg.hasZscale;
  const { size, mtimeMs } = await stat(ffmpeg.path);
  const key = `${ffmpeg.path} ${size} ${mtimeMs}`;
  const asked = zscaleByFile.get(key) ?? askForZscale(ffmpeg);
  zscaleByFile.set(key, asked);
  const found = await asked;
  if (found === null) zscaleByFile.delete(key);
  return found ?? false;
}

async function askForZscale(ffmpeg: Ffmpeg): Promise<boolean | null> {
  const filters = await listFilters(ffmpeg);
  return filters.size === 0 ? null : filters.has("zscale");
}

/** Returns the ffmpeg for a child process, including its filters, so that the child need not query them. */
export const withKnownFilters = async (ffmpeg: Ffmpeg): Promise<Ffmpeg> => ({
  ...ffmpeg,
  hasZscale: await hasZscaleFilter(ffmpeg),
});

/**
 * Returns whether zscale, where available, replaces swscale for this size. It does not support odd sizes with
 * subsampled chroma, and accepts fewer formats.
 */
export function canUseZscale(video: VideoStream, size: { width: number; height: number }): boolean {
  return buildShapeFilters(video, size).includes(formatSwscaleFilter(size)) && isZscaleCompatible(video, size);
}

/** Returns `buildShapeFilters`, with zscale where it is faster: it takes half the time at the same sharpness. */
export function buildScaleFilters(
  video: VideoStream,
  size: { width: number; height: number },
  variant: { libavutil: number; hasZscale: boolean },
): string[] {
  const filters = buildShapeFilters(video, size);
  if (!variant.hasZscale || variant.libavutil < MIN_ZSCALE_LIBAVUTIL || !isZscaleCompatible(video, size))
    return filters;
  const zscale = `zscale=w=${size.width}:h=${size.height}:filter=bicubic`;
  return filters.map((filter) => (filter === formatSwscaleFilter(size) ? zscale : filter));
}

const formatSwscaleFilter = (size: { width: number; height: number }) =>
  `scale=${size.width}:${size.height}:flags=bicubic`;

const isZscaleCompatible = (video: VideoStream, size: { width: number; height: number }): boolean =>
  video.pixelFormat === "yuv420p" &&
  !video.interlaced &&
  [video.codedWidth, video.codedHeight, size.width, size.height].every((side) => side % 2 === 0);
