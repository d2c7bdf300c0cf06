/** What a browser can play as it is, and a light copy of what it cannot. */
import type { AudioStream, MediaInfo, Probed, Sniffed, VideoStream } from "../domain/media";
import { TICKS_PER_SECOND, type Ticks } from "../domain/time";
import { inputArguments, outputFile, passFramesThrough, QUIET, secondsText } from "./arguments";
import { colorArguments, colorFilters, isHdr } from "./color";
import { type Ffmpeg, hasFilter, PROGRESS, runFfmpeg, workLimits } from "./ffmpeg";
import { deinterlaceFilters, shapeFilters } from "./picture-filters";
import { mixdownFilters } from "./sound/mixdown";
import { writeWhole } from "./work-files";

const PLAIN_PIXELS: readonly string[] = ["yuv420p", "yuvj420p"];
const VIDEO_CODECS: Record<string, readonly string[]> = {
  mov: ["h264", "vp9", "av1"],
  matroska: ["vp8", "vp9", "av1"],
};
const AUDIO_CODECS: Record<string, readonly string[]> = {
  mov: ["aac", "mp3", "opus", "flac"],
  matroska: ["opus", "vorbis"],
  wav: ["pcm_s16le", "pcm_s24le", "pcm_f32le", "pcm_u8"],
  mp3: ["mp3"],
  flac: ["flac"],
  ogg: ["opus", "vorbis", "flac"],
  aac: ["aac"],
};

/** Whether today's browsers play the file itself. */
export function playsInBrowser(info: MediaInfo, sniffed: Sniffed): boolean {
  const { video, audio, demuxer } = info;
  if (demuxer === "matroska" && sniffed.extension !== "webm") return false;
  if (video !== null) {
    if (!VIDEO_CODECS[demuxer]?.includes(video.codec) || video.interlaced) return false;
    if (video.codec === "h264" && !PLAIN_PIXELS.includes(video.pixelFormat ?? "")) return false;
  }
  const [track] = audio;
  if (track === undefined) return true;
  return track.discrete !== true && (AUDIO_CODECS[demuxer]?.includes(track.codec) ?? false);
}

const SHORT_SIDE = 720;
const RATE_MAX = 60;

/**
 * Writes a copy that plays in every browser, on the source's clock: H.264 and AAC in MP4, at most 720p; AAC alone for sound. Errors:
 * `AppError` `processing_failed`, `storage_full`; the signal's reason.
 */
export async function makePreview(options: {
  ffmpeg: Ffmpeg;
  path: string;
  probed: Probed;
  outputPath: string;
  signal?: AbortSignal;
  onProgress?: (share: number) => void;
}): Promise<void> {
  const { ffmpeg, probed, signal } = options;
  const { info } = probed;
  const tones = info.video !== null && isHdr(info.video) && (await hasFilter(ffmpeg, "zscale"));
  await writeWhole(options.outputPath, (part) =>
    runFfmpeg({
      ffmpeg,
      arguments: [
        ...previewArguments({ path: options.path, probed, libavutil: ffmpeg.libavutil, hasZscale: tones }),
        ...outputFile(part),
      ],
      limits: workLimits(600 + (10 * info.duration) / TICKS_PER_SECOND),
      onProgress: ({ outTime }) => options.onProgress?.(Math.min(1, outTime / Math.max(1, info.duration))),
      ...(signal === undefined ? {} : { signal }),
    }),
  );
}

/** The command line of a preview without its output. Pure. */
export function previewArguments(options: {
  path: string;
  probed: Probed;
  libavutil: number;
  hasZscale: boolean;
}): string[] {
  const { info } = options.probed;
  return [
    ...[...QUIET, ...PROGRESS, "-copyts"],
    ...inputArguments({ path: options.path, demuxer: info.demuxer }),
    ...["-sn", "-dn", "-map_metadata", "-1", "-map_chapters", "-1"],
    ...(info.video === null ? ["-vn"] : pictureArguments(info.video, info.startPts, options)),
    ...(info.audio.length === 0 ? ["-an"] : soundArguments(info.audio[0]!, info.startPts)),
    ...["-movflags", "+faststart", "-f", "mp4"],
  ];
}

function pictureArguments(
  video: VideoStream,
  startPts: Ticks,
  options: { libavutil: number; hasZscale: boolean },
): string[] {
  const scale = Math.min(1, SHORT_SIDE / Math.min(video.width, video.height));
  const even = (pixels: number) => Math.max(2, 2 * Math.floor((pixels * scale) / 2));
  const size = { width: even(video.width), height: even(video.height) };
  const rate = video.frameRate.num / video.frameRate.den;
  const filters = [
    ...deinterlaceFilters(video),
    ...(rate > RATE_MAX ? ["fps=30"] : []),
    ...shapeFilters(video, size),
    ...colorFilters(video, options.hasZscale),
    "format=yuv420p",
    ...["settb=1/90000", `setpts='round(PTS-${secondsText(startPts)}/TB)'`],
  ];
  return [
    ...[
      "-map",
      "0:V:0",
      "-vf",
      filters.join(","),
      ...passFramesThrough(options.libavutil),
      "-enc_time_base",
      "1:90000",
    ],
    ...["-c:v", "libx264", "-preset", "superfast", "-crf", "26", "-profile:v", "high"],
    ...["-g", String(Math.max(1, Math.round(2 * Math.min(rate, RATE_MAX)))), "-video_track_timescale", "90000"],
    ...colorArguments(video, size),
  ];
}

function soundArguments(track: AudioStream, startPts: Ticks): string[] {
  const clock = `asetpts='round(PTS-${secondsText(startPts)}/TB)'`;
  const filters = [...mixdownFilters(track, 2), clock, "aresample=48000:async=1:first_pts=0"];
  return [...["-map", `0:a:${track.index}`, "-ac", "2", "-af", filters.join(",")], ...["-c:a", "aac", "-b:a", "128k"]];
}
