/** The storyboard: thumbnails on JPEG sheets, from the keyframes of the preview. */
import type { Storyboard } from "../../domain/preview";
import { buildInputArguments, QUIET_ARGUMENTS } from "../arguments";
import { buildJpegFilters, JPEG_FORMAT_FILTERS, type PixelColors } from "../color";

/** Returns the name of a sheet that ffmpeg writes; `n` counts from 0. */
export const getSheetName = (n: number): string => `sheet-${String(n + 1).padStart(4, "0")}.jpg`;

/** Returns the command line that writes all sheets to a folder. Pure. */
export function buildStoryboardArguments(options: {
  preview: string;
  storyboard: Storyboard;
  /** The colors of the preview. */
  colors: PixelColors;
  outputDir: string;
}): string[] {
  const { interval, count, width, height, columns, rows } = options.storyboard;
  const filters = [
    // Each thumbnail is the last keyframe at or before its time.
    `fps=1000/${Math.round(interval * 1_000)}:start_time=0:round=up`,
    `trim=end_frame=${count}`,
    ...buildJpegFilters(`${width}:${height}:force_original_aspect_ratio=decrease`, options.colors),
    `pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2`,
    "setsar=1",
    `tile=${columns}x${rows}`,
    ...JPEG_FORMAT_FILTERS,
  ];
  return [
    ...QUIET_ARGUMENTS,
    ...buildInputArguments({
      path: options.preview,
      demuxer: "mov",
      extra: ["-threads", "1", "-skip_frame", "nokey", "-flags2", "fast"],
    }),
    ...["-map", "0:V:0", "-an", "-vf", filters.join(","), "-c:v", "mjpeg", "-q:v", "5", "-threads", "1"],
    ...["-f", "image2", "-start_number", "1", "-y", `file:${options.outputDir}/sheet-%04d.jpg`],
  ];
}
