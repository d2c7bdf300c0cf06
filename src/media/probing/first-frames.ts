/** Describes a file with ffmpeg and decodes its first frames, which shows that it can be decoded and when it starts. */
import { AppError } from "../../domain/errors";
import type { Ticks } from "../../domain/time";
import { buildInputArguments } from "../arguments";
import { createProbeLimits, type FfmpegOutcome, type RecordingFile, tryFfmpeg } from "../ffmpeg";
import { type MediaDescription, parseDescription } from "./description";

type ProbeSource = Omit<RecordingFile, "probed"> & { demuxer: string; wallSeconds: number };

const MAX_LINES = 4_000;

/** The time of a frame in the container, and whether it is interlaced, which not every container declares. */
export type FirstFrame = { time: Ticks; interlaced: boolean };

/**
 * Returns ffmpeg's description of the file, and the first frame of the first audio stream that can be decoded (null: none). One process finds
 * both. Errors: `AppError` `corrupt_media` when ffmpeg cannot open the file.
 */
export async function describe(
  source: ProbeSource,
): Promise<{ description: MediaDescription; firstAudio: FirstFrame | null }> {
  const lines: string[] = [];
  const { first, outcome } = await decodeFirstFrame(source, AUDIO, [], (line) => {
    if (lines.length < MAX_LINES) lines.push(line);
  });
  const from = lines.findIndex((line) => line.startsWith("Input #0"));
  if (from < 0) {
    const cause = new Error(outcome.message);
    const hint = lines.some((line) => line.includes("moov atom not found")) ? ": it is incomplete." : ".";
    throw new AppError("corrupt_media", `The file cannot be read${hint}`, { cause });
  }
  const end = lines.findIndex((line, n) => n > from && /^(Stream mapping:|Output #0)/.test(line));
  return { description: parseDescription(lines.slice(from, end < 0 ? undefined : end)), firstAudio: first };
}

/** Returns the first frame of the first video stream that can be decoded, or null if no frame can. */
export const decodeFirstVideoFrame = async (source: ProbeSource & { maxPixels: number }): Promise<FirstFrame | null> =>
  (await decodeFirstFrame(source, VIDEO, ["-max_pixels", String(source.maxPixels)])).first;

const VIDEO = ["-map", "0:V:0", "-vf", "settb=1/1000000,showinfo", "-frames:v", "1"];
const AUDIO = ["-map", "0:a:0", "-af", "asettb=1/1000000,ashowinfo", "-frames:a", "1"];

async function decodeFirstFrame(
  source: ProbeSource,
  stream: readonly string[],
  extra: readonly string[],
  onLine: (line: string) => void = () => {},
): Promise<{ first: FirstFrame | null; outcome: FfmpegOutcome }> {
  let first: FirstFrame | null = null;
  const outcome = await tryFfmpeg({
    ffmpeg: source.ffmpeg,
    arguments: [
      ...["-hide_banner", "-nostdin", "-v", "info", "-nostats", "-copyts"],
      ...buildInputArguments({ ...source, extra }),
      ...[...stream, "-f", "null", "-"],
    ],
    limits: createProbeLimits(source.wallSeconds),
    onLine: (line) => {
      onLine(line);
      const showinfo = /^\[Parsed_a?showinfo_1 @ .*\bpts: *(-?\d+)\b/.exec(line);
      if (showinfo !== null) first ??= { time: Number(showinfo[1]), interlaced: / i:[TB] /.test(line) };
    },
    signal: source.signal,
  });
  return { first, outcome };
}
