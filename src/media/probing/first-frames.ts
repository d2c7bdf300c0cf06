/** Describes a file with ffmpeg and decodes its first frames: the proof that it can be decoded, and when it starts. */
import { AppError } from "../../domain/errors";
import type { Ticks } from "../../domain/time";
import { buildInputArguments } from "../arguments";
import { createProbeLimits, type Ffmpeg, tryFfmpeg } from "../ffmpeg";
import { type MediaDescription, parseDescription } from "./description";

type ProbeSource = { ffmpeg: Ffmpeg; path: string; demuxer: string; wallSeconds: number; signal?: AbortSignal };

const MAX_LINES = 4_000;

/** What ffmpeg says about the file. Errors: `AppError` `corrupt_media` when it cannot even open it. */
export async function readDescription(source: ProbeSource): Promise<MediaDescription> {
  const lines: string[] = [];
  const outcome = await tryFfmpeg({
    ffmpeg: source.ffmpeg,
    arguments: ["-hide_banner", "-nostdin", "-v", "info", ...buildInputArguments(source)],
    limits: createProbeLimits(source.wallSeconds),
    onLine: (line) => {
      if (lines.length < MAX_LINES) lines.push(line);
    },
    ...(source.signal === undefined ? {} : { signal: source.signal }),
  });
  const from = lines.findIndex((line) => line.startsWith("Input #0"));
  if (from < 0) {
    const cause = new Error(outcome.message);
    const hint = lines.some((line) => line.includes("moov atom not found")) ? ": it is not complete" : "";
    throw new AppError("corrupt_media", `the file cannot be read${hint}`, { cause });
  }
  return parseDescription(lines.slice(from));
}

/**
 * When the first picture and the first sound that can be decoded are presented: container time; null when none can. `interlaced`: the
 * picture is made of two fields, which not every container says.
 */
export type FirstFrames = { video: Ticks | null; audio: Ticks | null; interlaced: boolean };

/** Decodes the beginning of the first video and the first audio stream. */
export async function decodeFirstFrames(
  source: ProbeSource & { hasVideo: boolean; hasAudio: boolean; pixelsMax: number },
): Promise<FirstFrames> {
  const [video, audio] = await Promise.all([
    source.hasVideo ? decodeFirstFrame(source, "0:V:0", "-vf", "settb=1/1000000,showinfo", "-frames:v") : null,
    source.hasAudio ? decodeFirstFrame(source, "0:a:0", "-af", "asettb=1/1000000,ashowinfo", "-frames:a") : null,
  ]);
  return { video: video?.time ?? null, audio: audio?.time ?? null, interlaced: video?.interlaced ?? false };
}

async function decodeFirstFrame(
  source: ProbeSource & { pixelsMax: number },
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
      ...buildInputArguments({ ...source, extra: ["-max_pixels", String(source.pixelsMax)] }),
      ...["-map", stream, filterOption, filters, framesOption, "1", "-f", "null", "-"],
    ],
    limits: createProbeLimits(source.wallSeconds),
    onLine: (line) => {
      const shown = /^\[Parsed_a?showinfo_1 @ .*\bpts: *(-?\d+)\b/.exec(line);
      if (shown !== null) first ??= { time: Number(shown[1]), interlaced: / i:[TB] /.test(line) };
    },
    ...(source.signal === undefined ? {} : { signal: source.signal }),
  });
  return first;
}
