/** Decides what browsers can play, and creates a small copy of what they cannot. */
import type { AudioStream, MediaInfo, ProbedMedia, SniffedMedia, VideoStream } from "../domain/media";
import { TICKS_PER_SECOND, type Ticks } from "../domain/time";
import {
  buildInputArguments,
  buildOutputArguments,
  buildPassthroughArguments,
  formatSeconds,
  QUIET_ARGUMENTS,
} from "./arguments";
import { writeAtomically } from "./atomic-output";
import { buildMixdownFilters } from "./audio/mixdown";
import { buildColorArguments, buildColorFilters, isHdr } from "./color";
import { createWorkLimits, type Ffmpeg, hasFilter, PROGRESS_ARGUMENTS, runFfmpeg } from "./ffmpeg";
import { buildDeinterlaceFilters, buildShapeFilters } from "./video-filters";

const PLAYABLE_PIXEL_FORMATS: readonly string[] = ["yuv420p", "yuvj420p"];
const PLAYABLE_VIDEO_CODECS: Record<string, readonly string[]> = {
  mov: ["h264", "vp9", "av1"],
  matroska: ["vp8", "vp9", "av1"],
};
const PLAYABLE_AUDIO_CODECS: Record<string, readonly string[]> = {
  mov: ["aac", "mp3", "opus", "flac"],
  matroska: ["opus", "vorbis"],
  wav: ["pcm_s16le", "pcm_s24le", "pcm_f32le", "pcm_u8"],
  mp3: ["mp3"],
  flac: ["flac"],
  ogg: ["opus", "vorbis", "flac"],
  aac: ["aac"],
};

/** Returns whether current browsers play the file itself. */
export function isPlayableInBrowser(info: MediaInfo, sniffed: SniffedMedia): boolean {
  const { video, audio, demuxer } = info;
  if (demuxer === "matroska" && sniffed.extension !== "webm") return false;
  if (video !== null) {
    if (!PLAYABLE_VIDEO_CODECS[demuxer]?.includes(video.codec) || video.interlaced) return false;
    if (video.codec === "h264" && !PLAYABLE_PIXEL_FORMATS.includes(video.pixelFormat ?? "")) return false;
  }
  const [track] = audio;
  if (track === undefined) return true;
  return track.discrete !== true && (PLAYABLE_AUDIO_CODECS[demuxer]?.includes(track.codec) ?? false);
}

const MAX_SHORT_SIDE_PIXELS = 720;
const MAX_FRAME_RATE_FPS = 60;

/**
 * Writes a copy that plays in every browser, on the source's clock: H.264 and AAC in MP4, at most 720p; AAC only for an audio source.
 * Errors: `AppError` `processing_failed`, `storage_full`; the signal's reason.
 */
export async function createPreview(options: {
  ffmpeg: Ffmpeg;
  path: string;
  probed: ProbedMedia;
  outputPath: string;
  signal?: AbortSignal | undefined;
  onProgress?: ((share: number) => void) | undefined;
}): Promise<void> {
  const { ffmpeg, probed, signal } = options;
  const { info } = probed;
  const hasZscale = info.video !== null && isHdr(info.video) && (await hasFilter(ffmpeg, "zscale"));
  await writeAtomically(options.outputPath, (tempPath) =>
    runFfmpeg({
      ffmpeg,
      arguments: [
        ...buildPreviewArguments({ path: options.path, probed, libavutil: ffmpeg.libavutil, hasZscale }),
        ...buildOutputArguments(tempPath),
      ],
      limits: createWorkLimits(600 + (10 * info.duration) / TICKS_PER_SECOND),
      onProgress: ({ outTime }) => options.onProgress?.(Math.min(1, outTime / Math.max(1, info.duration))),
      signal,
    }),
  );
}

/** Returns the command line of a preview without its output file. Pure. */
export function buildPreviewArguments(options: {
  path: string;
  probed: ProbedMedia;
  libavutil: number;
  hasZscale: boolean;
}): string[] {
  const { info } = options.probed;
  return [
    ...QUIET_ARGUMENTS,
    ...PROGRESS_ARGUMENTS,
    "-copyts",
    ...buildInputArguments({ path: options.path, demuxer: info.demuxer }),
    ...["-sn", "-dn", "-map_metadata", "-1", "-map_chapters", "-1"],
    ...(info.video === null ? ["-vn"] : buildVideoArguments(info.video, info.startPts, options)),
    ...(info.audio.length === 0 ? ["-an"] : buildAudioArguments(info.audio[0]!, info.startPts)),
    ...["-movflags", "+faststart", "-f", "mp4"],
  ];
}

function buildVideoArguments(
  video: VideoStream,
  startPts: Ticks,
  options: { libavutil: number; hasZscale: boolean },
): string[] {
  const scale = Math.min(1, MAX_SHORT_SIDE_PIXELS / Math.min(video.width, video.height));
  const toEven = (pixels: number) => Math.max(2, 2 * Math.floor((pixels * scale) / 2));
  const size = { width: toEven(video.width), height: toEven(video.height) };
  const rate = video.frameRate.num / video.frameRate.den;
  const filters = [
    ...buildDeinterlaceFilters(video),
    ...(rate > MAX_FRAME_RATE_FPS ? ["fps=30"] : []),
    ...buildShapeFilters(video, size),
    ...buildColorFilters(video, options.hasZscale),
    "format=yuv420p",
    ...["settb=1/90000", `setpts='round(PTS-${formatSeconds(startPts)}/TB)'`],
  ];
  return [
    ...["-map", "0:V:0", "-vf", filters.join(",")],
    ...buildPassthroughArguments(options.libavutil),
    ...["-enc_time_base", "1:90000"],
    ...["-c:v", "libx264", "-preset", "superfast", "-crf", "26", "-profile:v", "high"],
    ...["-g", String(Math.max(1, Math.round(2 * Math.min(rate, MAX_FRAME_RATE_FPS))))],
    ...["-video_track_timescale", "90000"],
    ...buildColorArguments(video, size),
  ];
}

function buildAudioArguments(track: AudioStream, startPts: Ticks): string[] {
  const sourceClock = `asetpts='round(PTS-${formatSeconds(startPts)}/TB)'`;
  const filters = [...buildMixdownFilters(track, 2), sourceClock, "aresample=48000:async=1:first_pts=0"];
  return [...["-map", `0:a:${track.index}`, "-ac", "2", "-af", filters.join(",")], ...["-c:a", "aac", "-b:a", "128k"]];
}
