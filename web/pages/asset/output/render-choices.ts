/** The possible outputs of a render, limited by the recording, and their estimated size. Pure. */

import type { NoiseReduction } from "../../../../src/domain/media";
import { MAX_FRAME_RATE_FPS, MIN_VIDEO_BITRATE_BPS, type OutputFormat } from "../../../../src/domain/render-output";
import type { Schemas } from "../../../app/api";
import { getLanguage, toNumber } from "../../../app/english";
import { formatRounded } from "../../../app/rare-formats";

export type RenderedAsset = Pick<
  Schemas["AssetDetail"],
  | "type"
  | "width"
  | "height"
  | "frame_rate"
  | "video_codec"
  | "audio_codec"
  | "audio_tracks"
  | "size_bytes"
  | "duration_seconds"
>;

/** Empty texts keep the recording's value or do nothing. Bitrates are in kbit/s, loudness in LUFS. */
export type RenderChoice = {
  format: OutputFormat;
  resolution: string;
  frameRate: string;
  videoBitrate: string;
  audioBitrate: string;
  loudness: string;
  noiseReduction: "" | NoiseReduction;
  speakerLevels: "" | "even";
};

/** The label of a value that is kept from the recording. */
export const AS_RECORDED = "As recorded";

export const LOUDNESS_TARGETS: readonly { value: string; label: string }[] = [
  { value: "-14", label: "YouTube (−14 LUFS)" },
  { value: "-16", label: "Podcast (−16 LUFS)" },
  { value: "-23", label: "EBU R128 (−23 LUFS)" },
];

export const NOISE_REDUCTIONS: readonly { value: RenderChoice["noiseReduction"]; label: string }[] = [
  { value: "", label: "Off" },
  { value: "light", label: "Light" },
  { value: "strong", label: "Strong" },
];

export const SPEAKER_LEVELS: readonly { value: RenderChoice["speakerLevels"]; label: string }[] = [
  { value: "", label: AS_RECORDED },
  { value: "even", label: "Evened out" },
];

export const AUDIO_BITRATES: readonly string[] = ["320", "256", "192", "160", "128", "96", "64", "48", "32"];
const SIDES = [2160, 1440, 1080, 720, 540, 480, 360, 240, 144];
export const FORMAT_LABELS: Record<OutputFormat, string> = {
  mp4: "MP4 video",
  mov: "QuickTime (MOV) video",
  m4a: "M4A audio",
  mp3: "MP3 audio",
};

export const hasAudio = ({ audio_tracks }: RenderedAsset): boolean => (audio_tracks ?? 1) > 0;
export const isVideoFormat = (format: OutputFormat): boolean => format === "mp4" || format === "mov";

/** Lists the formats to which the recording can be rendered. */
export function listFormats(asset: RenderedAsset): { value: OutputFormat; label: string }[] {
  const video: OutputFormat[] = asset.type === "video" ? ["mp4", "mov"] : [];
  const audio: OutputFormat[] = hasAudio(asset) ? ["m4a", "mp3"] : [];
  return [...video, ...audio].map((value) => ({ value, label: FORMAT_LABELS[value] }));
}

/** Returns the length of the shorter side in pixels, rounded to an even number for encoders; null without video. */
const findShortSide = ({ width, height }: Pick<RenderedAsset, "width" | "height">): number | null => {
  if (width === null || height === null) return null;
  const side = Math.min(width, height);
  return side - (side % 2);
};

/** Lists the resolutions below the recording's own. */
export function listResolutions(asset: RenderedAsset): { value: string; label: string }[] {
  const side = findShortSide(asset);
  const smaller = SIDES.filter((one) => side !== null && one < side);
  return [
    { value: "", label: side === null ? AS_RECORDED : `${AS_RECORDED} (${side}p)` },
    ...smaller.map((one) => ({ value: `${one}p`, label: `${one}p` })),
  ];
}

const getFrameRate = ({ frame_rate }: RenderedAsset): number => (frame_rate ? frame_rate.num / frame_rate.den : 25);

export const getMaxFrameRate = (asset: RenderedAsset): number =>
  Math.max(1, Math.min(MAX_FRAME_RATE_FPS, Math.floor(2 * getFrameRate(asset))));

/** Returns "25" or "29.97", with the separator of the browser's language. */
export const formatFrameRate = (asset: RenderedAsset): string => formatRounded(getFrameRate(asset), 2);

export const MIN_VIDEO_KBITS = MIN_VIDEO_BITRATE_BPS / 1000;

/** Returns the bitrate of the whole recording in kbit/s, which is the highest useful video bitrate; null if unknown. */
export function findSourceKbits({ size_bytes, duration_seconds }: RenderedAsset): number | null {
  const seconds = Number(duration_seconds);
  return size_bytes && seconds > 0 ? Math.max(MIN_VIDEO_KBITS, Math.ceil((size_bytes * 8) / seconds / 1000)) : null;
}

/** Returns the choice as a recording can have it: without values above its own, and as audio if it has no video. */
export function fitChoice(choice: RenderChoice, asset: RenderedAsset): RenderChoice {
  const formats = listFormats(asset).map(({ value }) => value);
  const keepUpTo = (text: string, max: number | null) => (max !== null && Number.parseInt(text, 10) > max ? "" : text);
  return {
    ...choice,
    ...(!hasAudio(asset) && { loudness: "", noiseReduction: "", speakerLevels: "" }),
    format: formats.includes(choice.format) ? choice.format : (formats[0] ?? choice.format),
    resolution: keepUpTo(choice.resolution, (findShortSide(asset) ?? 1) - 1),
    frameRate: keepUpTo(choice.frameRate, getMaxFrameRate(asset)),
    videoBitrate: keepUpTo(choice.videoBitrate, findSourceKbits(asset)),
  };
}

const isUnchanged = ({ resolution, frameRate, videoBitrate }: RenderChoice): boolean =>
  [resolution, frameRate, videoBitrate].every((text) => text === "");

const COPIED_CODECS = ["h264", "hevc"];

/** Describes in one sentence how the video will be rendered. */
export function describeWork(asset: RenderedAsset, choice: RenderChoice, isCut: boolean): string {
  if (!isVideoFormat(choice.format)) return "Only the audio is rendered, which is fast.";
  if (!isUnchanged(choice)) return "The whole video is encoded with these settings, which takes the longest.";
  if (!COPIED_CODECS.includes(asset.video_codec ?? ""))
    return `The video (${asset.video_codec ?? "unknown codec"}) is encoded as H.264.`;
  return isCut
    ? "Fastest: the video is copied, and only the frames around the joins are encoded."
    : "Fastest: the video is copied where possible.";
}

/** More pixels and more frames need a less than proportional increase in bitrate. */
const PIXEL_POWER = 0.75;
const FRAME_POWER = 0.5;
const DEFAULT_AUDIO_KBITS = 160;

/** Returns the estimated file size; null if the recording's own size is unknown. */
export function estimateBytes(asset: RenderedAsset, choice: RenderChoice, seconds: number): number | null {
  const source = findSourceKbits(asset);
  const audio = hasAudio(asset) ? Number(choice.audioBitrate) || DEFAULT_AUDIO_KBITS : 0;
  if (!isVideoFormat(choice.format)) return toBytes(audio, seconds);
  if (choice.videoBitrate !== "") return toBytes(Number(choice.videoBitrate) + audio, seconds);
  if (source === null) return null;
  if (isUnchanged(choice)) return toBytes(source, seconds);
  const side = findShortSide(asset) ?? 0;
  const wanted = Number.parseInt(choice.resolution, 10) || side;
  const pixels = side === 0 ? 1 : (wanted / side) ** 2;
  const frames = choice.frameRate === "" ? 1 : Number(choice.frameRate) / getFrameRate(asset);
  const video = Math.max(0, source - DEFAULT_AUDIO_KBITS) * pixels ** PIXEL_POWER * Math.min(1, frames) ** FRAME_POWER;
  return toBytes(Math.min(source, video + audio), seconds);
}

const toBytes = (kbits: number, seconds: number): number => (kbits * 1000 * seconds) / 8;

type Output = NonNullable<Schemas["RenderDetail"]["output"]>;

/** Returns the `output` of a request. Values that match the recording are omitted. */
export function toOutput(choice: RenderChoice, fileName = ""): Partial<Output> {
  const isVideo = isVideoFormat(choice.format);
  const output: Partial<Output> = { format: choice.format };
  if (isVideo && choice.resolution !== "") output.resolution = choice.resolution;
  if (isVideo && choice.frameRate !== "") output.frame_rate = Number(choice.frameRate);
  if (isVideo && choice.videoBitrate !== "") output.video_bitrate = Number(choice.videoBitrate) * 1000;
  if (choice.audioBitrate !== "") output.audio_bitrate = Number(choice.audioBitrate) * 1000;
  if (fileName.trim() !== "") output.file_name = fileName.trim();
  if ([choice.loudness, choice.noiseReduction, choice.speakerLevels].some((text) => text !== ""))
    output.audio = {
      loudness_lufs: choice.loudness === "" ? null : Number(choice.loudness),
      noise_reduction: choice.noiseReduction || "off",
      level_speakers: choice.speakerLevels === "even",
    };
  return output;
}

/** Returns "MP4 · 720p · 25 fps · −14 LUFS · noise reduced · levels evened out". */
export function describeOutput(output: Output, language = getLanguage()): string {
  const { format, resolution, frame_rate, exact_frame_rate: exact, audio } = output;
  const rate = exact ? Math.round((1000 * exact.num) / exact.den) / 1000 : frame_rate;
  const lufs = audio?.loudness_lufs ?? null;
  const parts = [
    ...[format.toUpperCase(), resolution, rate && `${toNumber(rate, language)} fps`],
    lufs !== null && `${toNumber(lufs, language).replace("-", "−")} LUFS`,
    audio && audio.noise_reduction !== "off" && "noise reduced",
    audio?.level_speakers && "levels evened out",
  ];
  return parts.filter(Boolean).join(" · ");
}
