/** Scaling by the filter that takes the least time for the same picture. */
import type { VideoStream } from "../../domain/media";
import { type Ffmpeg, hasFilter } from "../ffmpeg";
import { buildShapeFilters } from "../video-filters";

/** Older versions are slower with zscale than without. */
const MIN_ZSCALE_LIBAVUTIL = 57;

const zscaleByFfmpeg = new Map<string, Promise<boolean>>();

/** Whether this ffmpeg was built with zscale; asked once. */
export function hasZscaleFilter(ffmpeg: Ffmpeg): Promise<boolean> {
  const key = `${ffmpeg.path} ${ffmpeg.version}`;
  const answer = zscaleByFfmpeg.get(key) ?? hasFilter(ffmpeg, "zscale");
  zscaleByFfmpeg.set(key, answer);
  return answer;
}

/** Whether a size is scaled by zscale where it is there. It knows no odd sizes with halved chroma, and asks more of other formats. */
export function canUseZscale(video: VideoStream, size: { width: number; height: number }): boolean {
  return buildShapeFilters(video, size).includes(formatSwscaleFilter(size)) && isZscaleCompatible(video, size);
}

/** As `shapeFilters`, with zscale in the place of the scaler where that is quicker: half of the time at the same sharpness. */
export function buildScaleFilters(
  video: VideoStream,
  size: { width: number; height: number },
  variant: { libavutil: number; hasZscale: boolean },
): string[] {
  const filters = buildShapeFilters(video, size);
  if (!variant.hasZscale || variant.libavutil < MIN_ZSCALE_LIBAVUTIL || !isZscaleCompatible(video, size))
    return filters;
  const quick = `zscale=w=${size.width}:h=${size.height}:filter=bicubic`;
  return filters.map((filter) => (filter === formatSwscaleFilter(size) ? quick : filter));
}

const formatSwscaleFilter = (size: { width: number; height: number }) =>
  `scale=${size.width}:${size.height}:flags=bicubic`;

const isZscaleCompatible = (video: VideoStream, size: { width: number; height: number }): boolean =>
  video.pixelFormat === "yuv420p" &&
  !video.interlaced &&
  [video.codedWidth, video.codedHeight, size.width, size.height].every((side) => side % 2 === 0);
