/** The command line that encodes pieces which stand between copied packets. Pure. */
import type { Probed, VideoStream } from "../../domain/media";
import type { SmartPiece } from "../../domain/smart-plan";
import type { Ticks } from "../../domain/time";
import { inputArguments, passFramesThrough, QUIET, secondsText } from "../arguments";
import { ceilingArguments } from "../encoder-arguments";
import { PROGRESS } from "../ffmpeg";
import type { HevcIds } from "../packets/hevc";
import { beforeFrame, countedFrames } from "../picture-filters";

/** Of which codec the pieces are, and under which ids their parameter sets stand beside the source's. */
export type SpliceCodec =
  | { codec: "h264"; parameterId: number; profile: "baseline" | "main" | "high" }
  /** x265 numbers its sets from 0; they get these ids afterwards. */
  | { codec: "hevc"; ids: HevcIds };

export type SpliceOptions = SpliceCodec & {
  /** How many frames the source's decoder holds back. */
  reorder: number;
  color: VideoStream["color"];
  pixelFormat: string;
  /** Bits per second; null when the source's rate is not known. */
  ceiling: number | null;
};

/** x264's names of the profiles that can be matched: by the number in the source's parameter sets. */
export const SPLICE_PROFILES: Record<number, (SpliceCodec & { codec: "h264" })["profile"]> = {
  66: "baseline",
  77: "main",
  100: "high",
};

export type SpliceInput = {
  /** The feed of the pieces, and the source's container time that is its 0. */
  path: string;
  fileStart: Ticks;
  probed: Probed;
  pieces: readonly SmartPiece[];
  threads: number;
  libavutil: number;
};

/**
 * Decodes a feed and encodes its pieces one after the other. x264 and x265 only: the ids of their parameter sets can be had as wanted.
 */
export function spliceArguments(input: SpliceInput, splice: SpliceOptions): string[] {
  const { pieces, probed } = input;
  const frames = probed.frames!;
  const before = (frame: number) => secondsText(probed.info.startPts - input.fileStart + beforeFrame(frames, frame));
  const kept = pieces.map(({ from, to }) => `between(t,${before(from)},${before(to)})`).join("+");
  const timing = countedFrames(frames.rate, input.libavutil);
  const count = pieces.reduce((sum, { from, to }) => sum + to - from, 0);
  const threads = ["-threads", String(input.threads)];
  return [
    ...[...QUIET, ...PROGRESS, "-filter_threads", "1", "-copyts"],
    ...inputArguments({ path: input.path, demuxer: "mov", extra: threads }),
    ...["-map", "0:v:0", "-vf", [`select='${kept}'`, ...timing.filters, `format=${splice.pixelFormat}`].join(",")],
    ...[...passFramesThrough(input.libavutil), ...timing.options, "-frames:v", String(count)],
    ...[...encoderArguments(splice, pieces, input.threads), ...threads],
  ];
}

function encoderArguments(splice: SpliceOptions, pieces: readonly SmartPiece[], threads: number): string[] {
  const { ceiling, color } = splice;
  const tag = (option: string, value: string | null) => (value === null ? [] : [option, value]);
  let count = 0;
  const starts = pieces.map(({ from, to }) => {
    const start = `eq(n,${count})`;
    count += to - from;
    return start;
  });
  return [
    ...(splice.codec === "h264" ? x264Arguments(splice) : x265Arguments(splice.reorder, threads)),
    ...ceilingArguments(ceiling),
    ...[...tag("-color_primaries", color.primaries), ...tag("-color_trc", color.transfer)],
    ...[...tag("-colorspace", color.matrix), ...tag("-color_range", color.range)],
    ...["-force_key_frames", `expr:${starts.join("+")}`, "-forced-idr", "1"],
  ];
}

/** What both encoders must do: begin anew only where they are told to. */
const GROUPS = ["keyint=600", "min-keyint=1", "scenecut=0", "open-gop=0"];

/**
 * What of the slower presets saves bits, or keeps the picture, at next to no cost: with it the fastest one is as good as "veryfast" at a
 * fifth more of the bits and half of the time. ffmpeg lets these parameters go beyond the profile.
 */
const worthwhile = (profile: "baseline" | "main" | "high"): string[] => [
  ...["aq-mode=1", "partitions=i8x8,i4x4", "deblock=0,0", "mbtree=1", "rc-lookahead=10"],
  ...[`cabac=${profile === "baseline" ? 0 : 1}`, `8x8dct=${profile === "high" ? 1 : 0}`],
];

function x264Arguments({ profile, parameterId, reorder }: SpliceOptions & { codec: "h264" }): string[] {
  const bFrames = profile === "baseline" ? 0 : Math.min(2, reorder * 2);
  const parameters = [
    ...[`sps-id=${parameterId}`, ...GROUPS, `bframes=${bFrames}`, `b-pyramid=${reorder > 1 ? "normal" : "none"}`],
    ...worthwhile(profile),
  ];
  const preset = ["-c:v", "libx264", "-preset", "ultrafast", "-profile:v", profile, "-crf", "20"];
  return [...preset, "-x264-params", parameters.join(":")];
}

/** At these settings the pieces are as like the source as x264's: x265's scale of quality is another one. */
function x265Arguments(reorder: number, threads: number): string[] {
  const parameters = [
    ...[...GROUPS, `bframes=${Math.min(2, reorder * 2)}`, `b-pyramid=${reorder > 1 ? 1 : 0}`],
    // Nothing but parameter sets and slices; and no more threads than this process is meant to have.
    ...["info=0", "log-level=error", `pools=${threads}`, "frame-threads=1"],
  ];
  const preset = ["-c:v", "libx265", "-preset", "superfast", "-profile:v", "main", "-crf", "22", "-tag:v", "hvc1"];
  return [...preset, "-x265-params", parameters.join(":")];
}
