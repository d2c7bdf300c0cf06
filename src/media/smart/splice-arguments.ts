/** The command line that encodes pieces which stand between copied H.264 packets. Pure. */
import type { Probed, VideoStream } from "../../domain/media";
import type { SmartPiece } from "../../domain/smart-plan";
import type { Ticks } from "../../domain/time";
import { inputArguments, passFramesThrough, QUIET, secondsText } from "../arguments";
import { PROGRESS } from "../ffmpeg";
import { beforeFrame, countedFrames } from "../picture-filters";

export type SpliceOptions = {
  /** The id of the pieces' parameter sets: one that the source does not use. */
  parameterId: number;
  profile: "baseline" | "main" | "high";
  /** How many frames the source's decoder holds back. */
  reorder: number;
  color: VideoStream["color"];
  pixelFormat: string;
  /** Bits per second; null when the source's rate is not known. */
  ceiling: number | null;
};

/** x264's names of the profiles that can be matched: by the number in the source's parameter sets. */
export const SPLICE_PROFILES: Record<number, SpliceOptions["profile"]> = { 66: "baseline", 77: "main", 100: "high" };

export type SpliceInput = {
  /** The feed of the pieces, and the source's container time that is its 0. */
  path: string;
  fileStart: Ticks;
  probed: Probed;
  pieces: readonly SmartPiece[];
  threads: number;
  libavutil: number;
};

/** Decodes a feed and encodes its pieces one after the other. x264 only: it lets the id of its parameter sets be chosen. */
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
    ...[...encoderArguments(splice, pieces), ...threads],
  ];
}

/**
 * What of the slower presets saves bits, or keeps the picture, at next to no cost: with it the fastest one is as good as "veryfast" at a
 * fifth more of the bits and half of the time. ffmpeg lets these parameters go beyond the profile.
 */
const worthwhile = (profile: SpliceOptions["profile"]): string[] => [
  ...["aq-mode=1", "partitions=i8x8,i4x4", "deblock=0,0", "mbtree=1", "rc-lookahead=10"],
  ...[`cabac=${profile === "baseline" ? 0 : 1}`, `8x8dct=${profile === "high" ? 1 : 0}`],
];

function encoderArguments(splice: SpliceOptions, pieces: readonly SmartPiece[]): string[] {
  const { ceiling, color } = splice;
  const tag = (option: string, value: string | null) => (value === null ? [] : [option, value]);
  const bFrames = splice.profile === "baseline" ? 0 : Math.min(2, splice.reorder * 2);
  const parameters = [
    `sps-id=${splice.parameterId}`,
    ...["keyint=600", "min-keyint=1", "scenecut=0", "open-gop=0", `bframes=${bFrames}`],
    `b-pyramid=${splice.reorder > 1 ? "normal" : "none"}`,
    ...worthwhile(splice.profile),
  ];
  let count = 0;
  const starts = pieces.map(({ from, to }) => {
    const start = `eq(n,${count})`;
    count += to - from;
    return start;
  });
  return [
    ...["-c:v", "libx264", "-preset", "ultrafast", "-profile:v", splice.profile, "-crf", "22"],
    ...(ceiling === null ? [] : ["-maxrate", String(ceiling), "-bufsize", String(ceiling * 2)]),
    ...[...tag("-color_primaries", color.primaries), ...tag("-color_trc", color.transfer)],
    ...[...tag("-colorspace", color.matrix), ...tag("-color_range", color.range)],
    ...["-force_key_frames", `expr:${starts.join("+")}`, "-forced-idr", "1"],
    ...["-x264-params", parameters.join(":")],
  ];
}
