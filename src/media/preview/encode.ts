/**
 * Encodes the preview of a recording: H.264 and AAC in MP4 on the source's clock, for every browser. Video is encoded
 * in chunks, so that the work can be interrupted. All chunks, and frames that are encoded again for the start of a
 * piece, have the same parameter sets.
 */
import type { AudioStream, MediaInfo, VideoStream } from "../../domain/media";
import { TICKS_PER_SECOND, type Ticks } from "../../domain/time";
import {
  buildInputArguments,
  buildOutputArguments,
  buildPassthroughArguments,
  formatSeconds,
  QUIET_ARGUMENTS,
} from "../arguments";
import { buildMixdownFilters } from "../audio/mixdown";
import { buildColorArguments, buildColorFilters } from "../color";
import { buildDeinterlaceFilters, buildShapeFilters } from "../video-filters";

const MAX_SHORT_SIDE_PIXELS = 540;
const MAX_LONG_SIDE_PIXELS = 1_920;
const MAX_FRAME_RATE_FPS = 60;
export const PREVIEW_TIMESCALE = 90_000;

/** Maximum duration of the work that an interruption loses. */
export const PREVIEW_CHUNK_SECONDS = 60;

/** Decoding starts this long before a chunk, to find reordered frames, and in containers without an index. */
const SEEK_MARGIN_SECONDS: Record<string, number> = { mov: 1, matroska: 1, avi: 1, flv: 1 };
const UNINDEXED_SEEK_MARGIN_SECONDS = 6;

/** Returns the size of the preview: square pixels, after rotation, even numbers. */
export function getPreviewSize({ width, height }: Pick<VideoStream, "width" | "height">): {
  width: number;
  height: number;
} {
  const scale = Math.min(
    1,
    MAX_SHORT_SIDE_PIXELS / Math.min(width, height),
    MAX_LONG_SIDE_PIXELS / Math.max(width, height),
  );
  const toEven = (pixels: number) => Math.max(2, 2 * Math.floor((pixels * scale) / 2));
  return { width: toEven(width), height: toEven(height) };
}

/**
 * Returns the settings of the video encoder. With `stitchable`, x264 derives the parameter sets from them alone. The
 * level suits 1920 × 540 pixels at 60 frames per second. No frame refers to a later one, so that each prefix of a group
 * of pictures can be decoded. `x264` contains more settings, which do not affect the parameter sets.
 */
export function buildPreviewEncoderArguments(video: VideoStream, x264: readonly string[] = []): string[] {
  return [
    ...["-enc_time_base", `1:${PREVIEW_TIMESCALE}`],
    ...["-c:v", "libx264", "-preset", "superfast", "-crf", "26", "-profile:v", "high", "-level:v", "4.0"],
    ...["-bf", "0", "-g", "600", "-x264-params", ["stitchable=1", "scenecut=0", ...x264].join(":")],
    ...buildColorArguments(video, getPreviewSize(video)),
  ];
}

/** These take a third less time for half a second of the preview: a shorter motion search, and one block size. */
export const FAST_X264 = ["subme=0", "me=dia", "partitions=none"];

/** A keyframe at the first frame of each half second. The small addition compensates for times rounded down. */
const HALF_SECOND = "floor(t*2+0.0005)";
const KEYFRAME_EXPRESSION = `gte(${HALF_SECOND},if(isnan(prev_forced_t),-1,${HALF_SECOND.replace("t*2", "prev_forced_t*2")}+1))`;

export type PreviewSource = { path: string; info: MediaInfo; libavutil: number };

const COMMON_ARGUMENTS = [...QUIET_ARGUMENTS, "-copyts"];
const NO_METADATA = ["-sn", "-dn", "-map_metadata", "-1", "-map_chapters", "-1"];

/** Returns the command line that encodes chunk `n` to an MPEG transport stream, which can be concatenated. Pure. */
export function buildPreviewChunkArguments(
  source: PreviewSource,
  chunk: { n: number; count: number; hasZscale: boolean; outputPath: string },
): string[] {
  const start = chunk.n * PREVIEW_CHUNK_SECONDS;
  const span = { start, end: chunk.n === chunk.count - 1 ? null : start + PREVIEW_CHUNK_SECONDS };
  const bounds = [...(chunk.n === 0 ? [] : [`start=${start}`]), ...(span.end === null ? [] : [`end=${span.end}`])];
  return [
    ...buildVideoArguments(source, {
      start,
      hasZscale: chunk.hasZscale,
      clockFilters: bounds.length === 0 ? [] : [`trim=${bounds.join(":")}`],
    }),
    ...["-muxdelay", "0", "-muxpreload", "0", "-f", "mpegts", ...buildOutputArguments(chunk.outputPath)],
  ];
}

/**
 * Returns the command line that encodes the frames between two times, in seconds, to fragmented MP4 on standard output.
 * The first frame is shown at `from`, and has time 0 in the file. `isCoded`: as they are coded, for a player that turns
 * them. Pure.
 */
export function buildLiveVideoArguments(
  source: PreviewSource,
  { from, to, hasZscale, isCoded = false }: { from: number; to: number; hasZscale: boolean; isCoded?: boolean },
): string[] {
  const video = source.info.video!;
  const rate = Math.min(MAX_FRAME_RATE_FPS, video.frameRate.num / video.frameRate.den);
  const start = Math.max(0, from - ROUNDING_SECONDS);
  return [
    ...buildVideoArguments(source, {
      start: from,
      hasZscale,
      isCoded,
      x264: FAST_X264,
      clockFilters: [
        // The frame that is shown at `from` may have started long before.
        ...(video.variable ? [`fps=${Math.max(1, Math.round(rate))}:start_time=${from}:round=near`] : []),
        `trim=start=${start}:end=${to - ROUNDING_SECONDS}`,
        `setpts='if(eq(N,0),${from}/TB,PTS)'`,
      ],
    }),
    ...["-video_track_timescale", String(PREVIEW_TIMESCALE)],
    ...[
      "-movflags",
      "empty_moov+default_base_moof+frag_keyframe",
      "-protocol_whitelist",
      "pipe",
      "-f",
      "mp4",
      "pipe:1",
    ],
  ];
}

/** Times were rounded: a frame that starts this much before the part belongs to it. */
const ROUNDING_SECONDS = 0.001;

/**
 * Returns the arguments of the input, the filters and the encoder. `clockFilters` select frames on the clock of the
 * source.
 */
function buildVideoArguments(
  source: PreviewSource,
  {
    start,
    hasZscale,
    isCoded = false,
    clockFilters,
    x264,
  }: { start: number; hasZscale: boolean; isCoded?: boolean; clockFilters: string[]; x264?: readonly string[] },
): string[] {
  const { info } = source;
  const video = isCoded ? withoutRotation(info.video!) : info.video!;
  const margin = SEEK_MARGIN_SECONDS[info.demuxer] ?? UNINDEXED_SEEK_MARGIN_SECONDS;
  const seekTo = start <= margin ? null : info.startPts + Math.round((start - margin) * TICKS_PER_SECOND);
  const rate = video.frameRate.num / video.frameRate.den;
  const filters = [
    ...buildDeinterlaceFilters(video),
    ...buildSourceClockFilters(info.startPts),
    ...clockFilters,
    // Rounding down keeps a frame in its chunk.
    ...(rate > MAX_FRAME_RATE_FPS + 1 ? [`fps=${MAX_FRAME_RATE_FPS}:round=down`] : []),
    ...buildShapeFilters(video, getPreviewSize(video)),
    ...buildColorFilters(video, hasZscale),
    "format=yuv420p",
    `settb=1/${PREVIEW_TIMESCALE}`,
  ];
  return [
    ...COMMON_ARGUMENTS,
    ...buildInputArguments({
      ...{ path: source.path, demuxer: info.demuxer, seekTo },
      extra: isCoded ? ["-noautorotate"] : [],
    }),
    ...["-map", "0:V:0", "-an", ...NO_METADATA, "-vf", filters.join(",")],
    ...buildPassthroughArguments(source.libavutil),
    ...buildPreviewEncoderArguments(video, x264),
    ...["-force_key_frames", `expr:${KEYFRAME_EXPRESSION}`],
  ];
}

const withoutRotation = (video: VideoStream): VideoStream =>
  video.rotation === 90 || video.rotation === 270
    ? { ...video, rotation: 0, width: video.height, height: video.width }
    : { ...video, rotation: 0 };

const buildSourceClockFilters = (startPts: Ticks): string[] => [
  `settb=1/${PREVIEW_TIMESCALE}`,
  `setpts='round(PTS-${formatSeconds(startPts)}/TB)'`,
];

export function buildPreviewAudioArguments(source: PreviewSource, outputPath: string): string[] {
  const { info } = source;
  const track = info.audio[0]!;
  return [
    ...COMMON_ARGUMENTS,
    ...buildInputArguments({ path: source.path, demuxer: info.demuxer }),
    ...["-map", `0:a:${track.index}`, "-vn", ...NO_METADATA],
    ...buildAudioFilters(track, info.startPts, [`aresample=${PREVIEW_SAMPLE_RATE}:async=1:first_pts=0`]),
    ...AAC_ARGUMENTS,
    // For recordings without video, this file is the preview.
    ...["-movflags", "+faststart", "-f", "mp4", ...buildOutputArguments(outputPath)],
  ];
}

function buildAudioFilters(track: AudioStream, startPts: Ticks, clockFilters: string[]): string[] {
  const sourceClock = `asetpts='round(PTS-${formatSeconds(startPts)}/TB)'`;
  const filters = [...buildMixdownFilters(track, 2), sourceClock, ...clockFilters];
  return ["-ac", "2", "-af", filters.join(",")];
}

const AAC_ARGUMENTS = ["-c:a", "aac", "-b:a", "128k"];
/** The encoder and the output of audio that is encoded on request. */
export const LIVE_ENCODER_ARGUMENTS = [...AAC_ARGUMENTS, "-protocol_whitelist", "pipe", "-f", "adts", "pipe:1"];

/** Sample rate of the audio, and the samples that the encoder puts before the first one. */
export const PREVIEW_SAMPLE_RATE = 48_000;

/** Returns the command line that encodes the audio between two times, in seconds, to ADTS on standard output. Pure. */
export const buildLiveAudioArguments = (source: PreviewSource, span: { from: number; to: number }): string[] => [
  ...buildLiveDecoderArguments(source, span),
  ...LIVE_ENCODER_ARGUMENTS,
];

/** Returns the command line that decodes the same audio to 32-bit samples in stereo on standard output. Pure. */
export const buildLiveSampleArguments = (source: PreviewSource, span: { from: number; to: number }): string[] => [
  ...buildLiveDecoderArguments(source, span),
  ...["-protocol_whitelist", "pipe", "-f", "f32le", "pipe:1"],
];

function buildLiveDecoderArguments(source: PreviewSource, { from, to }: { from: number; to: number }): string[] {
  const { info } = source;
  const track = info.audio[0]!;
  const margin = SEEK_MARGIN_SECONDS[info.demuxer] ?? UNINDEXED_SEEK_MARGIN_SECONDS;
  const seekTo = from <= margin ? null : info.startPts + Math.round((from - margin) * TICKS_PER_SECOND);
  const bounds = [from, to].map((seconds) => Math.round(seconds * PREVIEW_SAMPLE_RATE));
  const first = seekTo === null ? 0 : Math.round(((seekTo - info.startPts) / TICKS_PER_SECOND) * PREVIEW_SAMPLE_RATE);
  return [
    ...COMMON_ARGUMENTS,
    ...buildInputArguments({ path: source.path, demuxer: info.demuxer, seekTo }),
    ...["-map", `0:a:${track.index}`, "-vn", ...NO_METADATA],
    ...buildAudioFilters(track, info.startPts, [
      // The unit of first_pts is a sample of the filter's input.
      `aresample=${PREVIEW_SAMPLE_RATE}`,
      `aresample=${PREVIEW_SAMPLE_RATE}:async=1:first_pts=${first}`,
      `atrim=start_pts=${bounds[0]}:end_pts=${bounds[1]}`,
    ]),
  ];
}

/** Returns the command line that muxes the chunks, which it reads from standard input, and the audio, if any. Pure. */
export function buildPreviewMuxArguments(audioPath: string | null, outputPath: string): string[] {
  const audioInput = ["-protocol_whitelist", "file,pipe", "-f", "mov", "-i", `file:${audioPath}`];
  return [
    ...COMMON_ARGUMENTS,
    ...["-protocol_whitelist", "file,pipe", "-f", "mpegts", "-i", "pipe:0"],
    ...(audioPath === null ? [] : audioInput),
    ...["-map", "0:v:0", ...(audioPath === null ? [] : ["-map", "1:a:0"]), "-c", "copy", "-map_metadata", "-1"],
    ...["-video_track_timescale", String(PREVIEW_TIMESCALE), "-movflags", "+faststart"],
    ...["-f", "mp4", ...buildOutputArguments(outputPath)],
  ];
}
