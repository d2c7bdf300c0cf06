/** The arguments of each encoder. Pure. */
import type { ResolvedOutput } from "../domain/media";

/** The supported H.264 encoders in order of preference. The last one is always available. */
export const VIDEO_ENCODERS = [
  "h264_nvenc",
  "h264_qsv",
  "h264_vaapi",
  "h264_videotoolbox",
  "h264_v4l2m2m",
  "libx264",
] as const;

export type VideoEncoder = (typeof VIDEO_ENCODERS)[number];

/** Rate control: a target bitrate, or constant quality below a maximum bitrate (null: unlimited). Bits per second. */
export type VideoQuality = { bitrate: number } | { maxBitrate: number | null };

export type VideoTarget = { quality: VideoQuality; width: number; height: number; framesPerSecond: number };

const VAAPI_DEVICE = "/dev/dri/renderD128";
const KEYFRAME_SECONDS = 4;
/** Bits per pixel for encoders without a quality mode. */
const BITS_PER_PIXEL = 0.12;

/** A smaller motion search (diamond). In video with much motion, it takes a fifteenth of the time for 1% more bits. */
const X264_MOTION_SEARCH = ["-x264-params", "me=dia"];

/** ffmpeg stores bitrates, and buffers of twice a bitrate, in 32 bits. A higher value would have no effect anyway. */
const MAX_BITRATE_BPS = 1_000_000_000;

/** Returns the options that limit constant quality to a bitrate; none for null. */
export function buildMaxrateArguments(bits: number | null): string[] {
  if (bits === null || bits > MAX_BITRATE_BPS) return [];
  return ["-maxrate", String(bits), "-bufsize", String(bits * 2)];
}

/** Returns the global options of an encoder that needs a device. */
export function buildDeviceArguments(encoder: VideoEncoder): string[] {
  return encoder === "h264_vaapi" ? ["-vaapi_device", VAAPI_DEVICE] : [];
}

/** Returns the last filter before the encoder: a conversion to the pixel format that it accepts. */
export function getPixelFormatFilter(encoder: VideoEncoder): string {
  if (encoder === "h264_vaapi") return "format=nv12,hwupload";
  return encoder === "h264_qsv" ? "format=nv12" : "format=yuv420p";
}

/** Returns the encoder and its rate control: 8-bit 4:2:0 H.264, which plays everywhere. */
export function buildVideoEncoderArguments(encoder: VideoEncoder, target: VideoTarget): string[] {
  const keyframes = ["-g", String(Math.max(1, Math.round(target.framesPerSecond * KEYFRAME_SECONDS)))];
  const rate = "bitrate" in target.quality ? target.quality.bitrate : null;
  const maxBitrate = "maxBitrate" in target.quality ? target.quality.maxBitrate : null;
  const estimatedBitrate = Math.round(target.width * target.height * target.framesPerSecond * BITS_PER_PIXEL);
  const buildBitrateArguments = (desired: number) => {
    const bits = Math.min(desired, MAX_BITRATE_BPS);
    return ["-b:v", String(bits), "-maxrate", String(Math.round(bits * 1.5)), "-bufsize", String(bits * 2)];
  };
  const limitedEstimate = Math.min(maxBitrate ?? estimatedBitrate, estimatedBitrate * 2);
  const maxrateArguments = buildMaxrateArguments(maxBitrate);
  switch (encoder) {
    case "libx264":
      return [
        ...["-c:v", "libx264", "-preset", "veryfast", "-profile:v", "high", ...keyframes, ...X264_MOTION_SEARCH],
        ...(rate === null ? ["-crf", "20", ...maxrateArguments] : buildBitrateArguments(rate)),
      ];
    case "h264_nvenc":
      return [
        ...["-c:v", "h264_nvenc", "-preset", "medium", "-profile:v", "high", "-rc", "vbr", ...keyframes],
        ...(rate === null ? ["-cq", "21", "-b:v", "0", ...maxrateArguments] : buildBitrateArguments(rate)),
      ];
    case "h264_qsv":
      return [
        ...["-c:v", "h264_qsv", "-preset", "medium", "-profile:v", "high", ...keyframes],
        ...(rate === null ? ["-global_quality", "21"] : buildBitrateArguments(rate)),
      ];
    case "h264_vaapi":
      return [
        ...["-c:v", "h264_vaapi", "-profile:v", "high", ...keyframes],
        ...(rate === null ? ["-qp", "21"] : buildBitrateArguments(rate)),
      ];
    case "h264_videotoolbox":
    case "h264_v4l2m2m":
      return ["-c:v", encoder, ...keyframes, "-b:v", String(rate ?? limitedEstimate)];
  }
}

/** Sample rates that are kept for AAC in MP4; others become 48 kHz. */
const AAC_SAMPLE_RATES: readonly number[] = [16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000];
const MP3_SAMPLE_RATES: readonly number[] = [32_000, 44_100, 48_000];
/** The limit of AAC is 6,144 bits per channel in a frame of 1,024 samples. This leaves room for rate control. */
const MAX_AAC_BITS_PER_SAMPLE = 5.5;

export type AudioFormat = { sampleRate: number; channels: number };

/** Returns the output's sample rate and channel count: the source's, where the codec supports them. */
export function chooseAudioFormat(
  format: ResolvedOutput["format"],
  source: { sampleRate: number; channels: number; discrete?: true | undefined },
  bitrate: number,
): AudioFormat {
  if (format === "mp3") {
    const fallback = source.sampleRate > 0 && 44_100 % source.sampleRate === 0 ? 44_100 : 48_000;
    return {
      sampleRate: MP3_SAMPLE_RATES.includes(source.sampleRate) ? source.sampleRate : fallback,
      channels: Math.min(2, Math.max(1, source.channels)),
    };
  }
  const isSurround = (source.channels === 6 || source.channels === 8) && source.discrete !== true;
  const channels = isSurround ? source.channels : Math.min(2, Math.max(1, source.channels));
  const fitsAac = bitrate <= source.sampleRate * channels * MAX_AAC_BITS_PER_SAMPLE;
  return { sampleRate: AAC_SAMPLE_RATES.includes(source.sampleRate) && fitsAac ? source.sampleRate : 48_000, channels };
}

/** Returns ffmpeg's name of the layout for a channel count from `chooseAudioFormat`. */
export const toLayoutName = (channels: number): string =>
  ({ 1: "mono", 2: "stereo", 6: "5.1", 8: "7.1" })[channels] ?? `${channels}c`;

/**
 * The fast coder takes a third of the default coder's time and keeps speech closer to the source. Temporal noise
 * shaping and perceptual noise substitution cost bits and time in ffmpeg's encoder without a gain, so they are off.
 */
const AAC_ARGUMENTS = ["aac", "-aac_coder", "fast", "-aac_tns", "0", "-aac_pns", "0"];

/** From this bitrate on, LAME's fast search takes half of the time without an audible difference. */
const MIN_MP3_FAST_BITRATE_BPS = 160_000;

export function buildAudioEncoderArguments(format: ResolvedOutput["format"], bitrate: number): string[] {
  const fastArguments = bitrate >= MIN_MP3_FAST_BITRATE_BPS ? ["-compression_level", "7"] : [];
  return ["-c:a", ...(format === "mp3" ? ["libmp3lame", ...fastArguments] : AAC_ARGUMENTS), "-b:a", String(bitrate)];
}

/** Returns the encoder of a mono AAC stream: for a mono source, or for identical stereo channels (`channels` is 2). */
export function buildMonoEncoderArguments(bitrate: number, { sampleRate: rate, channels }: AudioFormat): string[] {
  const bits = Math.min(bitrate, MAX_AAC_BITS_PER_SAMPLE * rate);
  // Two channels that share the bits keep at least the bandwidth of separate ones, but little above 16 kHz.
  const bandwidth = Math.max(
    getAacBandwidth(bitrate / channels, rate),
    Math.min(16_000, getAacBandwidth(bitrate, rate)),
  );
  return [...["-c:a", ...AAC_ARGUMENTS, "-b:a", String(bits)], ...["-cutoff", String(bandwidth)]];
}

/** Returns the highest frequency that ffmpeg's AAC encoder keeps at a bitrate per channel. */
function getAacBandwidth(bits: number, rate: number): number {
  const desired = Math.max(bits / 5, (bits * 15) / 32 - 5_500);
  return Math.floor(Math.min(desired, 3_000 + bits / 4, 12_000 + bits / 16, 22_000, rate / 2));
}
