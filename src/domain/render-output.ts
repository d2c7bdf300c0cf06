/** Resolves the `output` object of a render request against a source and its limits. */
import type { Static } from "@sinclair/typebox";
import { toPortableName } from "./file-names";
import {
  type AudioProcessing,
  type NoiseReduction,
  OUTPUT_FORMATS,
  type ProbedMedia,
  type ResolvedOutput,
  type VideoStream,
} from "./media";
import type { outputJson, outputRequest } from "./output-schema";
import { lowestTerms, type Rational } from "./time";

export type OutputFormat = ResolvedOutput["format"];

/** Formats are checked when it is resolved. */
export type OutputRequest = Omit<Static<typeof outputRequest>, "format"> & { format?: string | null };
export type AudioRequest = NonNullable<OutputRequest["audio"]>;
export type OutputJson = Static<typeof outputJson>;

export const MIN_LOUDNESS_LUFS = -31;
export const MAX_LOUDNESS_LUFS = -9;

export type OutputFieldError = { field: string; message: string };

export const OUTPUT_CONTENT_TYPES: Record<OutputFormat, string> = {
  mp4: "video/mp4",
  mov: "video/quicktime",
  m4a: "audio/mp4",
  mp3: "audio/mpeg",
};

export const MIN_VIDEO_BITRATE_BPS = 50_000;
const MIN_AUDIO_BITRATE_BPS = 32_000;
const MAX_AUDIO_BITRATE_BPS = 320_000;
export const MAX_FRAME_RATE_FPS = 120;
const MIN_SHORT_SIDE_PIXELS = 144;
/** Below this bitrate per channel, re-encoding lossy speech is audibly worse. */
const MIN_LOSSY_BITRATE_PER_CHANNEL_BPS = 64_000;
const LOSSLESS_BITRATE_PER_CHANNEL_BPS = 96_000;

export const isVideoFormat = (format: OutputFormat): boolean => format === "mp4" || format === "mov";

/**
 * Resolves a request against a source. Returns the output for the renderer and its API representation, or an error for
 * every invalid field, named as in the request body (`body.output.resolution`).
 */
export function resolveOutput(
  probed: ProbedMedia,
  request: OutputRequest,
): { ok: true; output: ResolvedOutput; json: OutputJson } | { ok: false; errors: OutputFieldError[] } {
  const errors: OutputFieldError[] = [];
  const fail: ReportFieldError = (field, message) => {
    errors.push({ field: `body.output.${field}`, message });
    return null;
  };
  const { video, audio } = probed.info;

  const format = resolveFormat(probed, request.format ?? null, fail);
  if (format === null) return { ok: false, errors };
  const resolvedVideo = isVideoFormat(format) && video !== null ? resolveVideo(video, request, fail) : null;
  if (!isVideoFormat(format)) rejectVideoFields(request, fail);
  const audioBitrate = resolveAudio(probed, request.audio_bitrate ?? null, fail);
  const processing = resolveProcessing(probed, request.audio ?? {}, fail);
  const bitrate = audioBitrate !== null && format === "mp3" ? toNearestMp3Bitrate(audioBitrate) : audioBitrate;
  if (errors.length > 0) return { ok: false, errors };

  const output: ResolvedOutput = {
    format,
    video: resolvedVideo === null ? null : resolvedVideo.resolved,
    audio: audio.length === 0 || bitrate === null ? null : { bitrate, ...processing },
    matchesSource: resolvedVideo?.unchanged ?? false,
  };
  const json = toOutputJson(output, video);
  const name = (request.file_name ?? "").trim();
  return { ok: true, output, json: name === "" ? json : { ...json, file_name: toFileName(name, format) } };
}

/** Returns a portable name without the extension of the format. */
const toFileName = (name: string, format: OutputFormat): string =>
  toPortableName(name.toLowerCase().endsWith(`.${format}`) ? name.slice(0, -format.length - 1) : name);

/** Adds an error and returns null. */
type ReportFieldError = (field: keyof OutputRequest | `audio.${keyof AudioRequest}`, message: string) => null;

function resolveFormat(probed: ProbedMedia, requested: string | null, fail: ReportFieldError): OutputFormat | null {
  const { video, audio } = probed.info;
  if (requested === null) return video === null ? "m4a" : "mp4";
  const format = OUTPUT_FORMATS.find((known) => known === requested);
  if (format === undefined) return fail("format", `must be one of ${OUTPUT_FORMATS.join(", ")}`);
  if (isVideoFormat(format) && video === null)
    return fail("format", "requires video, but the source has none: use m4a or mp3");
  if (!isVideoFormat(format) && audio.length === 0)
    return fail("format", "requires audio, but the source has none: use mp4 or mov");
  return format;
}

function rejectVideoFields(request: OutputRequest, fail: ReportFieldError): void {
  for (const field of ["resolution", "video_bitrate", "frame_rate", "exact_frame_rate"] as const)
    if ((request[field] ?? null) !== null) fail(field, "does not apply to an audio format");
}

function resolveVideo(video: VideoStream, request: OutputRequest, fail: ReportFieldError) {
  const sourceSize = toEvenSize(video.width, video.height);
  const size = resolveSize(sourceSize, request.resolution ?? null, fail);
  const bitrate = resolveVideoBitrate(video, request.video_bitrate ?? null, fail);
  const frameRate = request.exact_frame_rate
    ? resolveExactFrameRate(video, request.exact_frame_rate, request.frame_rate ?? null, fail)
    : resolveFrameRate(video, request.frame_rate ?? null, fail);
  return {
    resolved: { ...size, frameRate, bitrate },
    unchanged:
      size.width === sourceSize.width && size.height === sourceSize.height && bitrate === null && frameRate === null,
  };
}

/** Lists the differences between the requested and the source video, for the log. Empty if packets can be copied. */
export function listRequestedChanges({ info }: ProbedMedia, { video }: ResolvedOutput): string[] {
  if (video === null || info.video === null) return [];
  const sourceSize = toEvenSize(info.video.width, info.video.height);
  return [
    ...(video.width === sourceSize.width && video.height === sourceSize.height
      ? []
      : ["Another resolution was requested."]),
    ...(video.bitrate === null ? [] : ["Another bitrate was requested."]),
    ...(video.frameRate === null ? [] : ["Another frame rate was requested."]),
  ];
}

/** Lists the changes to a render whose video was copied. */
export function listAudioChanges({ audio }: ResolvedOutput): string[] {
  const changes = [
    ...(audio?.loudness === undefined ? [] : ["the loudness was changed"]),
    ...(audio?.noiseReduction === undefined ? [] : ["noise was reduced"]),
    ...(audio?.levelSpeakers === undefined ? [] : ["the levels of speakers were evened out"]),
  ];
  return changes.length === 0 ? [] : [`Only the audio is different: ${changes.join(", ")}. The video was copied.`];
}

/** Returns the largest even size within the source's, because 4:2:0 chroma covers two by two pixels. */
function toEvenSize(width: number, height: number): { width: number; height: number } {
  return { width: Math.max(2, width - (width % 2)), height: Math.max(2, height - (height % 2)) };
}

function resolveSize(sourceSize: { width: number; height: number }, resolution: string | null, fail: ReportFieldError) {
  if (resolution === null) return sourceSize;
  const shortSide = Math.min(sourceSize.width, sourceSize.height);
  const side = /^([1-9]\d{0,4})p$/.test(resolution) ? Number.parseInt(resolution, 10) : Number.NaN;
  if (!(side % 2 === 0 && side <= shortSide && (side >= MIN_SHORT_SIDE_PIXELS || side === shortSide))) {
    const rangeText =
      shortSide > MIN_SHORT_SIDE_PIXELS ? `from ${MIN_SHORT_SIDE_PIXELS}p to ${shortSide}p` : `${shortSide}p`;
    fail("resolution", `must be an even number of pixels for the shorter side, ${rangeText}, such as "${shortSide}p"`);
    return sourceSize;
  }
  const scaleSide = (length: number) => Math.max(2, 2 * Math.round((length * side) / shortSide / 2));
  return sourceSize.width <= sourceSize.height
    ? { width: side, height: scaleSide(sourceSize.height) }
    : { width: scaleSide(sourceSize.width), height: side };
}

/** Returns null if the request equals the source's bitrate. */
function resolveVideoBitrate(video: VideoStream, requested: number | null, fail: ReportFieldError): number | null {
  if (requested === null) return null;
  const max = video.bitrate === null ? Number.MAX_SAFE_INTEGER : Math.round(video.bitrate);
  const min = Math.min(MIN_VIDEO_BITRATE_BPS, max);
  if (!Number.isInteger(requested) || requested < min || requested > max) {
    const rangeText = video.bitrate === null ? `at least ${min}` : `from ${min} to the source's ${max}`;
    fail("video_bitrate", `must be a whole number of bits per second, ${rangeText}`);
    return null;
  }
  return requested === max ? null : requested;
}

const getMaxFrameRate = ({ frameRate: { num, den } }: VideoStream): number =>
  Math.max(1, Math.min(MAX_FRAME_RATE_FPS, (2 * num) / den));

const toWholeFrameRate = ({ num, den }: Rational): number => Math.max(1, Math.round(num / den));

/** Returns null if the frames keep their times. */
function resolveFrameRate(video: VideoStream, requested: number | null, fail: ReportFieldError): Rational | null {
  if (requested === null) return null;
  const { num, den } = video.frameRate;
  const max = Math.floor(getMaxFrameRate(video));
  if (!Number.isInteger(requested) || requested < 1 || requested > max)
    return fail("frame_rate", `must be a whole number of frames per second from 1 to ${max}`);
  return !video.variable && num === requested * den ? null : { num: requested, den: 1 };
}

/** Returns null if the frames keep their times. `whole` is the rounded rate, if the request also has it. */
function resolveExactFrameRate(
  video: VideoStream,
  exact: Rational,
  whole: number | null,
  fail: ReportFieldError,
): Rational | null {
  if (whole !== null && whole !== toWholeFrameRate(exact))
    return fail("frame_rate", `must be ${toWholeFrameRate(exact)}, which is exact_frame_rate rounded, or absent`);
  const rate = lowestTerms(exact);
  const { num, den } = lowestTerms(video.frameRate);
  if (rate.num === num && rate.den === den) return null;
  const max = getMaxFrameRate(video);
  const isPossible = rate.num >= rate.den && rate.num / rate.den <= max;
  if (!isPossible)
    fail("exact_frame_rate", `must be from 1 to ${+max.toFixed(3)} frames per second, or the source's ${num}/${den}`);
  return rate;
}

function resolveAudio(probed: ProbedMedia, requested: number | null, fail: ReportFieldError): number | null {
  const stream = probed.info.audio[0];
  if (stream === undefined)
    return requested === null ? null : fail("audio_bitrate", "requires audio, but the source has none");
  if (requested === null) return chooseAudioBitrate(stream);
  if (!Number.isInteger(requested) || requested < MIN_AUDIO_BITRATE_BPS || requested > MAX_AUDIO_BITRATE_BPS)
    return fail(
      "audio_bitrate",
      `must be a whole number of bits per second from ${MIN_AUDIO_BITRATE_BPS} to ${MAX_AUDIO_BITRATE_BPS}`,
    );
  return requested;
}

function resolveProcessing({ info }: ProbedMedia, request: AudioRequest, fail: ReportFieldError): AudioProcessing {
  const { loudness_lufs, noise_reduction, level_speakers } = request;
  const loudness = loudness_lufs ?? null;
  const hasNoiseReduction = (noise_reduction ?? "off") !== "off";
  const levelsSpeakers = level_speakers === true;
  if (info.audio.length === 0) {
    const reject = (field: keyof AudioRequest) => fail(`audio.${field}`, "requires audio, but the source has none");
    if (loudness !== null) reject("loudness_lufs");
    if (hasNoiseReduction) reject("noise_reduction");
    if (levelsSpeakers) reject("level_speakers");
  } else if (loudness !== null && !(loudness >= MIN_LOUDNESS_LUFS && loudness <= MAX_LOUDNESS_LUFS))
    fail("audio.loudness_lufs", `must be from ${MIN_LOUDNESS_LUFS} to ${MAX_LOUDNESS_LUFS} LUFS`);
  return {
    ...(loudness !== null && { loudness }),
    ...(hasNoiseReduction && { noiseReduction: noise_reduction as NoiseReduction }),
    ...(levelsSpeakers && { levelSpeakers: true as const }),
  };
}

function chooseAudioBitrate(stream: { codec: string; channels: number; bitrate: number | null }): number {
  const channels = Math.max(1, stream.channels);
  const isLossless = /^(pcm_|flac|alac|ape|wavpack|tta|truehd|mlp)/.test(stream.codec);
  const audioBitrate =
    isLossless || stream.bitrate === null
      ? LOSSLESS_BITRATE_PER_CHANNEL_BPS * channels
      : Math.max(stream.bitrate, MIN_LOSSY_BITRATE_PER_CHANNEL_BPS * Math.min(2, channels));
  return Math.round(Math.min(MAX_AUDIO_BITRATE_BPS, Math.max(MIN_AUDIO_BITRATE_BPS, audioBitrate)));
}

const MP3_BITRATES_BPS: readonly number[] = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320].map(
  (kilobits) => kilobits * 1_000,
);

function toNearestMp3Bitrate(target: number): number {
  return MP3_BITRATES_BPS.reduce((best, rate) => (Math.abs(rate - target) < Math.abs(best - target) ? rate : best));
}

function toOutputJson(output: ResolvedOutput, video: VideoStream | null): OutputJson {
  const { format, audio } = output;
  const audio_bitrate = audio?.bitrate ?? null;
  const audioJson = audio === null || isUnprocessed(audio) ? {} : { audio: toAudioJson(audio) };
  if (output.video === null || video === null)
    return {
      ...{ format, resolution: null, video_bitrate: null, frame_rate: null, exact_frame_rate: null, audio_bitrate },
      ...audioJson,
    };
  const rate = output.video.frameRate ?? lowestTerms(video.frameRate);
  const bitrate = output.video.bitrate ?? video.bitrate;
  return {
    format,
    resolution: `${Math.min(output.video.width, output.video.height)}p`,
    video_bitrate: bitrate === null ? null : Math.round(bitrate),
    frame_rate: toWholeFrameRate(rate),
    exact_frame_rate: output.video.frameRate?.den === 1 ? null : rate,
    audio_bitrate,
    ...audioJson,
  };
}

const isUnprocessed = ({ loudness, noiseReduction, levelSpeakers }: AudioProcessing): boolean =>
  loudness === undefined && noiseReduction === undefined && levelSpeakers === undefined;

const toAudioJson = ({ loudness, noiseReduction, levelSpeakers }: AudioProcessing): OutputJson["audio"] & {} => ({
  loudness_lufs: loudness ?? null,
  noise_reduction: noiseReduction ?? "off",
  level_speakers: levelSpeakers ?? false,
});
