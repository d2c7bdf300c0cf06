/** The command line that encodes pieces which stand between copied H.264 packets. Pure. */
import type { VideoStream } from "../../domain/media";
import type { Rational } from "../../domain/time";
import { inputArguments, passFramesThrough, QUIET } from "../arguments";
import { PROGRESS } from "../ffmpeg";
import { countedFrames } from "../picture-filters";

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

/** Frames `[from, to)` of the file that is read. */
export type Stretch = { from: number; to: number };

/**
 * Reads a file of equally long frames and encodes stretches of it one after the other. x264 only: it lets the id of its parameter sets be
 * chosen. Each stretch begins where decoding can begin.
 */
export function spliceArguments(
  input: { path: string; rate: Rational; stretches: readonly Stretch[]; threads: number; libavutil: number },
  splice: SpliceOptions,
): string[] {
  const { rate, stretches } = input;
  const middle = (frame: number) => (((frame - 0.5) * rate.den) / rate.num).toFixed(6);
  const kept = stretches.map(({ from, to }) => `between(t,${middle(from)},${middle(to)})`).join("+");
  const timing = countedFrames(rate, input.libavutil);
  const count = stretches.reduce((sum, { from, to }) => sum + to - from, 0);
  const threads = ["-threads", String(input.threads)];
  return [
    ...[...QUIET, ...PROGRESS, "-copyts", ...inputArguments({ path: input.path, demuxer: "mov", extra: threads })],
    ...["-map", "0:v:0", "-vf", [`select='${kept}'`, ...timing.filters, `format=${splice.pixelFormat}`].join(",")],
    ...[...passFramesThrough(input.libavutil), ...timing.options, "-frames:v", String(count)],
    ...[...encoderArguments(splice, stretches), ...threads],
  ];
}

function encoderArguments(splice: SpliceOptions, stretches: readonly Stretch[]): string[] {
  const { ceiling, color } = splice;
  const tag = (option: string, value: string | null) => (value === null ? [] : [option, value]);
  const bFrames = splice.profile === "baseline" ? 0 : Math.min(2, splice.reorder * 2);
  const parameters = [
    `sps-id=${splice.parameterId}`,
    ...["keyint=600", "min-keyint=1", "scenecut=0", "open-gop=0", `bframes=${bFrames}`],
    `b-pyramid=${splice.reorder > 1 ? "normal" : "none"}`,
  ];
  let count = 0;
  const starts = stretches.map(({ from, to }) => {
    const start = `eq(n,${count})`;
    count += to - from;
    return start;
  });
  return [
    ...["-c:v", "libx264", "-preset", "veryfast", "-profile:v", splice.profile, "-crf", "20"],
    ...(ceiling === null ? [] : ["-maxrate", String(ceiling), "-bufsize", String(ceiling * 2)]),
    ...[...tag("-color_primaries", color.primaries), ...tag("-color_trc", color.transfer)],
    ...[...tag("-colorspace", color.matrix), ...tag("-color_range", color.range)],
    ...["-force_key_frames", `expr:${starts.join("+")}`, "-forced-idr", "1"],
    ...["-x264-params", parameters.join(":")],
  ];
}
