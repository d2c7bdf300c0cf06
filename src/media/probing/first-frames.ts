/** Describes a file with ffmpeg and decodes its first frames, which shows that it can be decoded and when it starts. */
import { AppError } from "../../domain/errors";
import type { Ticks } from "../../domain/time";
import { buildInputArguments } from "../arguments";
import { createProbeLimits, type Ffmpeg, tryFfmpeg } from "../ffmpeg";
import { type MediaDescription, parseDescription } from "./description";

type ProbeSource = {
  ffmpeg: Ffmpeg;
  path: string;
  demuxer: string;
  wallSeconds: number;
  signal?: AbortSignal | undefined;
};

const MAX_LINES = 4_000;

/** Returns ffmpeg's description of the file. Errors: `AppError` `corrupt_media` when ffmpeg cannot open it. */
export async function readDescription(source: ProbeSource): Promise<MediaDescription> {
  const lines: string[] = [];
  const outcome = await tryFfmpeg({
    ffmpeg: source.ffmpeg,
    arguments: ["-hide_banner", "-nostdin", "-v", "info", ...buildInputArguments(source)],
    limits: createProbeLimits(source.wallSeconds),
    onLine: (line) => {
      if (lines.length < MAX_LINES) lines.push(line);
    },
    signal: source.signal,
  });
  const from = lines.findIndex((line) => line.startsWith("Input #0"));
  if (from < 0) {
    const cause = new Error(outcome.message);
    const hint = lines.some((line) => line.includes("moov atom not found")) ? ": it is incomplete." : ".";
    throw new AppError("corrupt_media", `The file cannot be read${hint}`, { cause });
  }
  return parseDescription(lines.slice(from));
}

/**
 * Container time of the first video and audio frame that can be decoded, or null. `interlaced`: whether the frame is
 * interlaced, which not every container declares.
 */
export type FirstFrames = { video: Ticks | null; audio: Ticks | null; interlaced: boolean };

/** Decodes the start of the first video and the first audio stream. */
export async function decodeFirstFrames(
  source: ProbeSource & { hasVideo: boolean; hasAudio: boolean; maxPixels: number },
): Promise<FirstFrames> {
  const [video, audio] = await Promise.all([
    source.hasVideo ? decodeFirstFrame(source, "0:V:0", "-vf", "settb=1/1000000,showinfo", "-frames:v") : null,
    source.hasAudio ? decodeFirstFrame(source, "0:a:0", "-af", "asettb=1/1000000,ashowinfo", "-frames:a") : null,
  ]);
  return { video: video?.time ?? null, audio: audio?.time ?? null, interlaced: video?.interlaced ?? false };
}

async function decodeFirstFrame(
  source: ProbeSource & { maxPixels: number },
  stream: string,
  filterOption: string,
  filters: string,
  framesOption: string,
): Promise<{ time: Ticks; interlaced: boolean } | null> {
  let first: { time: Ticks; interlaced: boolean } | null = null;
  await tryFfmpeg({
    ffmpeg: source.ffmpeg,
    arguments: [
      ...["-hide_banner", "-nostdin", "-v", "info", "-nostats", "-copyts"],
      ...buildInputArguments({ ...source, extra: ["-max_pixels", String(source.maxPixels)] }),
      ...["-map", stream, filterOption, filters, framesOption, "1", "-f", "null", "-"],
    ],
    limits: createProbeLimits(source.wallSeconds),
    onLine: (line) => {
      const showinfo = /^\[Parsed_a?showinfo_1 @ .*\bpts: *(-?\d+)\b/.exec(line);
      if (showinfo !== null) first ??= { time: Number(showinfo[1]), interlaced: / i:[TB] /.test(line) };
    },
    signal: source.signal,
  });
  return first;
}
