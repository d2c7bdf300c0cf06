/** The encoder's arguments for pieces that stand between copied H.264 packets. Pure. */
import type { VideoStream } from "../domain/media";
import type { VideoQuality } from "./encoder-arguments";

export type SpliceOptions = {
  /** The id of the pieces' parameter sets: one that the source does not use. */
  parameterId: number;
  profile: "baseline" | "main" | "high";
  /** How many frames the source's decoder holds back. */
  reorder: number;
  color: VideoStream["color"];
};

/** x264's names of the profiles that can be matched: by the number in the source's parameter sets. */
export const SPLICE_PROFILES: Record<number, SpliceOptions["profile"]> = { 66: "baseline", 77: "main", 100: "high" };

/**
 * x264 only: it lets the id of its parameter sets be chosen. `starts` are the frames that begin a piece: each must be a point at which
 * decoding can begin.
 */
export function spliceArguments(quality: VideoQuality, splice: SpliceOptions, starts: readonly number[]): string[] {
  const ceiling = "ceiling" in quality ? quality.ceiling : quality.bitrate;
  const { primaries, transfer, matrix, range } = splice.color;
  const tag = (option: string, value: string | null) => (value === null ? [] : [option, value]);
  const bFrames = splice.profile === "baseline" ? 0 : Math.min(2, splice.reorder * 2);
  const parameters = [
    `sps-id=${splice.parameterId}`,
    ...["keyint=600", "min-keyint=1", "scenecut=0", "open-gop=0", `bframes=${bFrames}`],
    `b-pyramid=${splice.reorder > 1 ? "normal" : "none"}`,
  ];
  return [
    ...["-c:v", "libx264", "-preset", "veryfast", "-profile:v", splice.profile, "-crf", "20"],
    ...(ceiling === null ? [] : ["-maxrate", String(ceiling), "-bufsize", String(ceiling * 2)]),
    ...[...tag("-color_primaries", primaries), ...tag("-color_trc", transfer), ...tag("-colorspace", matrix)],
    ...tag("-color_range", range),
    ...["-force_key_frames", `expr:${starts.map((start) => `eq(n,${start})`).join("+")}`, "-forced-idr", "1"],
    ...["-x264-params", parameters.join(":")],
  ];
}
