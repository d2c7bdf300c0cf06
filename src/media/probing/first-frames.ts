/** Describes a file with ffmpeg and decodes its first frames, which shows that it can be decoded and when it starts. */
import { AppError } from "../../domain/errors";
import type { Ticks } from "../../domain/time";
import { buildInputArguments } from "../arguments";
import { createProbeLimits, type FfmpegOutcome, type RecordingFile, tryFfmpeg } from "../ffmpeg";
import { type MediaDescription, parseDescription } from "./description";

type ProbeSource = Omit<RecordingFile, "probed"> & { demuxer: string; wallSeconds: number; maxPixels: number };

const MAX_LINES = 4_000;

/** The time of a frame in the container, and whether it is interlaced, which not every container declares. */
export type FirstFrame = { time: Ticks; interlaced: boolean };

/** Null for a kind of stream that the file does not have, or whose frames cannot be decoded. */
type FirstFrames = { video: FirstFrame | null; audio: FirstFrame | null };

/**
 * Returns ffmpeg's description of the file and its first frames, those of video only with `hasVideo`. One process finds
 * all. Errors: `AppError` `corrupt_media` when ffmpeg cannot open the file.
 */
export async function describe(
  source: ProbeSource & { hasVideo: boolean },
): Promise<{ description: MediaDescription; first: FirstFrames }> {
  const lines: string[] = [];
  const streams = source.hasVideo ? [...VIDEO, ...AUDIO] : AUDIO;
  const { first, outcome } = await decodeFirstFrames(source, streams, (line) => {
    if (lines.length < MAX_LINES) lines.push(line);
  });
  const from = lines.findIndex((line) => line.startsWith("Input #0"));
  if (from < 0) {
    const cause = new Error(outcome.message);
    const hint = lines.some((line) => line.includes("moov atom not found")) ? ": it is incomplete." : ".";
    throw new AppError("corrupt_media", `The file cannot be read${hint}`, { cause });
  }
  const end = lines.findIndex((line, n) => n > from && /^(Stream mapping:|Output #0)/.test(line));
  return { description: parseDescription(lines.slice(from, end < 0 ? undefined : end)), first };
}

/**
 * Returns the first frame of video or audio alone. A process for both finds nothing if the file lacks one of them, or
 * if one decoder cannot be opened.
 */
export const decodeFirstFrame = async (source: ProbeSource, kind: keyof FirstFrames): Promise<FirstFrame | null> =>
  (await decodeFirstFrames(source, { video: VIDEO, audio: AUDIO }[kind])).first[kind];

/** An output for each: ffmpeg closes all streams of an output when one has its frames. */
const OUTPUT = ["-f", "null", "-"];
const VIDEO = ["-map", "0:V:0", "-vf", "settb=1/1000000,showinfo", "-frames:v", "1", ...OUTPUT];
const AUDIO = ["-map", "0:a:0", "-af", "asettb=1/1000000,ashowinfo", "-frames:a", "1", ...OUTPUT];

async function decodeFirstFrames(
  source: ProbeSource,
  streams: readonly string[],
  onLine: (line: string) => void = () => {},
): Promise<{ first: FirstFrames; outcome: FfmpegOutcome }> {
  const first: FirstFrames = { video: null, audio: null };
  const outcome = await tryFfmpeg({
    ffmpeg: source.ffmpeg,
    arguments: [
      ...["-hide_banner", "-nostdin", "-v", "info", "-nostats", "-copyts"],
      ...buildInputArguments({ ...source, extra: ["-max_pixels", String(source.maxPixels)] }),
      ...streams,
    ],
    limits: createProbeLimits(source.wallSeconds),
    onLine: (line) => {
      onLine(line);
      const showinfo = /^\[Parsed_(a?)showinfo_1 @ .*\bpts: *(-?\d+)\b/.exec(line);
      if (showinfo === null) return;
      const kind = showinfo[1] === "a" ? "audio" : "video";
      first[kind] ??= { time: Number(showinfo[2]), interlaced: / i:[TB] /.test(line) };
    },
    signal: source.signal,
  });
  return { first, outcome };
}
