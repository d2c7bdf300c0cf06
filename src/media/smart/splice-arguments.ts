/** The command line that encodes segments between copied packets. Pure. */
import type { ProbedMedia, VideoStream } from "../../domain/media";
import type { SpliceSegment } from "../../domain/smart-plan";
import type { Ticks } from "../../domain/time";
import { buildInputArguments, buildPassthroughArguments, formatSeconds, QUIET_ARGUMENTS } from "../arguments";
import { buildMaxrateArguments } from "../encoder-arguments";
import { PROGRESS_ARGUMENTS } from "../ffmpeg";
import type { HevcParameterSetIds } from "../packets/hevc";
import { buildSequentialTiming, getSeekPointBefore } from "../video-filters";

/** Codec of the encoded segments, and the ids of their parameter sets next to the source's. */
export type SpliceCodec =
  | { codec: "h264"; parameterSetId: number; profile: "baseline" | "main" | "high" }
  /** x265 uses id 0. Its parameter sets are renumbered afterward. */
  | { codec: "hevc"; ids: HevcParameterSetIds };

export type SpliceOptions = SpliceCodec & {
  /** Number of frames that the source's decoder reorders. */
  reorderDepth: number;
  color: VideoStream["color"];
  pixelFormat: string;
  /** Bits per second; null if the source's bitrate is unknown. */
  maxBitrate: number | null;
};

/** x264's profile names by `profile_idc`, for the profiles that can be matched. */
export const SPLICE_PROFILES: Record<number, (SpliceCodec & { codec: "h264" })["profile"]> = {
  66: "baseline",
  77: "main",
  100: "high",
};

/**
 * H.264 pictures that no other picture refers to are decoded without the deblocking filter, which takes a twentieth of
 * the decoding. Their encoder filters again. In HEVC, such pictures may be references of higher temporal sub-layers.
 */
const DECODER_ARGUMENTS = { h264: ["-skip_loop_filter", "noref"], hevc: [] };

export type SpliceInput = {
  /** The excerpt with the segments, and the source's container time that is its time 0. */
  path: string;
  excerptStart: Ticks;
  probed: ProbedMedia;
  segments: readonly SpliceSegment[];
  threads: number;
  libavutil: number;
};

/**
 * Returns the command line that decodes an excerpt and encodes its segments one after another. Only x264 and x265 are
 * used, because the ids of their parameter sets can be chosen or changed.
 */
export function buildSpliceArguments(input: SpliceInput, splice: SpliceOptions): string[] {
  const { segments, probed } = input;
  const frames = probed.frames!;
  const toSeekPoint = (frame: number) =>
    formatSeconds(probed.info.startPts - input.excerptStart + getSeekPointBefore(frames, frame));
  const selected = segments.map(({ from, to }) => `between(t,${toSeekPoint(from)},${toSeekPoint(to)})`).join("+");
  const timing = buildSequentialTiming(frames.rate, input.libavutil);
  const count = segments.reduce((sum, { from, to }) => sum + to - from, 0);
  const threads = ["-threads", String(input.threads)];
  const decoder = [...threads, ...DECODER_ARGUMENTS[splice.codec]];
  return [
    ...QUIET_ARGUMENTS,
    ...PROGRESS_ARGUMENTS,
    ...["-filter_threads", "1", "-copyts"],
    ...buildInputArguments({ path: input.path, demuxer: "mov", extra: decoder }),
    ...["-map", "0:v:0", "-vf", [`select='${selected}'`, ...timing.filters, `format=${splice.pixelFormat}`].join(",")],
    ...buildPassthroughArguments(input.libavutil),
    ...timing.options,
    ...["-frames:v", String(count)],
    ...buildEncoderArguments(splice, segments, input.threads),
    ...threads,
  ];
}

/**
 * Returns the command line without values that do not affect the frames. The key of encoded segments is computed from
 * it.
 */
export const buildSpliceIdentity = (
  input: Pick<SpliceInput, "probed" | "segments" | "libavutil">,
  splice: SpliceOptions,
): string[] => buildSpliceArguments({ ...input, path: "", excerptStart: 0, threads: 1 }, splice);

function buildEncoderArguments(splice: SpliceOptions, segments: readonly SpliceSegment[], threads: number): string[] {
  const { maxBitrate, color } = splice;
  const tag = (option: string, value: string | null) => (value === null ? [] : [option, value]);
  let count = 0;
  const keyFrames = segments.map(({ from, to }) => {
    const start = `eq(n,${count})`;
    count += to - from;
    return start;
  });
  return [
    ...(splice.codec === "h264" ? buildX264Arguments(splice) : buildX265Arguments(splice.reorderDepth, threads)),
    ...buildMaxrateArguments(maxBitrate),
    ...tag("-color_primaries", color.primaries),
    ...tag("-color_trc", color.transfer),
    ...tag("-colorspace", color.matrix),
    ...tag("-color_range", color.range),
    ...["-force_key_frames", `expr:${keyFrames.join("+")}`, "-forced-idr", "1"],
  ];
}

/** For both encoders: IDR pictures only where they are forced. */
const GOP_PARAMETERS = ["keyint=600", "min-keyint=1", "scenecut=0", "open-gop=0"];

/**
 * Options of the slower presets that improve quality or save bits at almost no cost. With them, "ultrafast" matches the
 * quality of "veryfast" with a fifth more bits in half the time. CAVLC instead of CABAC saves a tenth of that time and
 * adds 8% of the bits for the same frames. ffmpeg lets these options exceed the profile, so they depend on it. In x264
 * of 2018, "ultrafast" has trellis quantization, which takes a third of the time.
 */
const listQualityParameters = (profile: "baseline" | "main" | "high"): string[] => [
  ...["aq-mode=1", "partitions=i8x8,i4x4", "deblock=0,0", "mbtree=1", "rc-lookahead=10"],
  ...["cabac=0", "trellis=0", `8x8dct=${profile === "high" ? 1 : 0}`],
];

function buildX264Arguments({ profile, parameterSetId, reorderDepth }: SpliceOptions & { codec: "h264" }): string[] {
  const bFrames = profile === "baseline" ? 0 : Math.min(2, reorderDepth * 2);
  const parameters = [
    `sps-id=${parameterSetId}`,
    ...GOP_PARAMETERS,
    `bframes=${bFrames}`,
    `b-pyramid=${reorderDepth > 1 ? "normal" : "none"}`,
    ...listQualityParameters(profile),
  ];
  const preset = ["-c:v", "libx264", "-preset", "ultrafast", "-profile:v", profile, "-crf", "20"];
  return [...preset, "-x264-params", parameters.join(":")];
}

/** With these settings, the quality matches x264's. The CRF scales of the two encoders differ. */
function buildX265Arguments(reorderDepth: number, threads: number): string[] {
  const parameters = [
    ...GOP_PARAMETERS,
    `bframes=${Math.min(2, reorderDepth * 2)}`,
    `b-pyramid=${reorderDepth > 1 ? 1 : 0}`,
    // Writes only parameter sets and slices, and limits the threads.
    ...["info=0", "log-level=error", `pools=${threads}`, "frame-threads=1"],
  ];
  const preset = ["-c:v", "libx265", "-preset", "superfast", "-profile:v", "main", "-crf", "22", "-tag:v", "hvc1"];
  return [...preset, "-x265-params", parameters.join(":")];
}
