/** Selects the fastest scaler for the same quality. */
import type { VideoStream } from "../../domain/media";
import { type Ffmpeg, hasFilter } from "../ffmpeg";
import { buildShapeFilters } from "../video-filters";

/** In older versions zscale is the slower one. */
const MIN_ZSCALE_LIBAVUTIL = 57;

const zscaleByFfmpeg = new Map<string, Promise<boolean>>();

/** Returns whether this ffmpeg was built with zscale. The result is cached. */
export function hasZscaleFilter(ffmpeg: Ffmpeg): Promise<boolean> {
  const key = `${ffmpeg.path} ${ffmpeg.version}`;
  const result = zscaleByFfmpeg.get(key) ?? hasFilter(ffmpeg, "zscale");
  zscaleByFfmpeg.set(key, result);
  return result;
}

/**
 * Returns whether zscale, where available, replaces swscale for this size. It supports no odd sizes with subsampled chroma, and accepts
 * fewer formats.
 */
export function canUseZscale(video: VideoStream, size: { width: number; height: number }): boolean {
  return buildShapeFilters(video, size).includes(formatSwscaleFilter(size)) && isZscaleCompatible(video, size);
}

/** Returns `buildShapeFilters` with zscale in place of swscale where it is faster: half of the time at the same sharpness. */
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
