/** Stills of a video: the poster, and the strip of small pictures along a timeline. */
import { rm } from "node:fs/promises";
import type { Probed } from "../domain/media";
import { TICKS_PER_SECOND, type Ticks } from "../domain/time";
import { inputArguments, outputFile, passFramesThrough, QUIET } from "./arguments";
import { colorFilters, isHdr } from "./color";
import { type Ffmpeg, hasFilter, probeLimits, runFfmpeg, tryFfmpeg } from "./ffmpeg";
import { writeWhole } from "./work-files";

type Source = { ffmpeg: Ffmpeg; path: string; probed: Probed; signal?: AbortSignal };

export type Filmstrip = {
  /** Pictures side by side, each `width` by `height` pixels, at `(n + 0.5) / count` of the duration. */
  count: number;
  width: number;
  height: number;
};

const POSTER_SIDE = 1_280;
const STRIP_HEIGHT = 90;
const STRIP_COUNT = 20;
const STRIP_SECONDS_APART = 0.5;
const STILL_SECONDS = 60;

/** Writes one picture, a little way into the recording, as JPEG. Errors: `AppError` `processing_failed`, `storage_full`. */
export async function makePoster(source: Source & { outputPath: string }): Promise<void> {
  const { duration } = source.probed.info;
  const video = source.probed.info.video!;
  const scale = Math.min(1, POSTER_SIDE / Math.max(video.width, video.height));
  const size = { width: even(video.width * scale), height: even(video.height * scale) };
  const at = Math.min(duration / 10, 5 * TICKS_PER_SECOND);
  const hdr = await needsToneMap(source);
  for (const time of [at, null]) {
    const written = await still(source, { time, size, path: source.outputPath, hdr, must: time === null });
    if (written) return;
  }
}

/** Writes the strip as one JPEG. Errors: `AppError` `processing_failed`, `storage_full`. */
export async function makeFilmstrip(source: Source & { outputPath: string }): Promise<Filmstrip> {
  const { duration } = source.probed.info;
  const video = source.probed.info.video!;
  const height = STRIP_HEIGHT;
  const width = Math.max(16, Math.min(320, even((video.width * height) / video.height)));
  const count = Math.max(1, Math.min(STRIP_COUNT, Math.floor(duration / (STRIP_SECONDS_APART * TICKS_PER_SECOND))));
  const hdr = await needsToneMap(source);
  const still_ = (n: number) => `${source.outputPath}.${n}.still.jpg`;
  const made: string[] = [];
  try {
    for (let n = 0; n < count; n++) {
      const time = Math.round((duration * (n + 0.5)) / count);
      const path = still_(n);
      if (await still(source, { time, size: { width, height }, path, hdr, must: false })) made.push(path);
    }
    if (made.length === 0) {
      await still(source, { time: null, size: { width, height }, path: still_(0), hdr, must: true });
      made.push(still_(0));
    }
    await tile(source, made, source.outputPath);
    return { count: made.length, width, height };
  } finally {
    await Promise.all(made.map((path) => rm(path, { force: true })));
  }
}

const even = (pixels: number): number => Math.max(2, 2 * Math.round(pixels / 2));

async function needsToneMap(source: Source): Promise<boolean> {
  return isHdr(source.probed.info.video!) && (await hasFilter(source.ffmpeg, "zscale"));
}

type Still = {
  time: Ticks | null;
  size: { width: number; height: number };
  path: string;
  hdr: boolean;
  must: boolean;
};

/** The keyframe before a time: the picture that costs least. False when there is none and it need not be. */
async function still(source: Source, what: Still): Promise<boolean> {
  const { info } = source.probed;
  const video = info.video!;
  const run = (part: string) => ({
    ffmpeg: source.ffmpeg,
    arguments: [
      ...QUIET,
      ...inputArguments({
        path: source.path,
        demuxer: info.demuxer,
        seekTo: what.time === null ? null : info.startPts + what.time,
        extra: ["-threads", "1", ...(what.time === null ? [] : ["-skip_frame", "nokey"])],
      }),
      ...["-map", "0:V:0", "-an", "-frames:v", "1", ...passFramesThrough(source.ffmpeg.libavutil)],
      ...[
        "-vf",
        [
          `scale=${what.size.width}:${what.size.height}`,
          "setsar=1",
          ...colorFilters(video, what.hdr),
          "format=yuvj420p",
        ].join(","),
      ],
      ...["-c:v", "mjpeg", "-q:v", "4", "-f", "image2", "-update", "1", ...outputFile(part)],
    ],
    limits: probeLimits(STILL_SECONDS),
    ...(source.signal === undefined ? {} : { signal: source.signal }),
  });
  return await writeWhole(what.path, async (part) => {
    const outcome = await tryFfmpeg(run(part));
    if (outcome.ok && (await Bun.file(part).exists())) return true;
    if (what.must) await runFfmpeg(run(part));
    throw new NoStill();
  }).catch((error: unknown) => {
    if (error instanceof NoStill && !what.must) return false;
    throw error;
  });
}

class NoStill extends Error {}

async function tile(source: Source, stills: readonly string[], outputPath: string): Promise<void> {
  const inputs = stills.flatMap((path) => ["-f", "image2", "-pattern_type", "none", "-i", `file:${path}`]);
  const graph = stills.length === 1 ? "[0:v]null[strip]" : `hstack=inputs=${stills.length}[strip]`;
  await writeWhole(outputPath, (part) =>
    runFfmpeg({
      ffmpeg: source.ffmpeg,
      arguments: [
        ...[...QUIET, ...inputs, "-filter_complex", graph, "-map", "[strip]", "-frames:v", "1"],
        ...["-c:v", "mjpeg", "-q:v", "5", "-f", "image2", "-update", "1", ...outputFile(part)],
      ],
      limits: probeLimits(STILL_SECONDS),
      ...(source.signal === undefined ? {} : { signal: source.signal }),
    }),
  );
}
