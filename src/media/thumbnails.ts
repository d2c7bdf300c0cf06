/** Thumbnails of a video: the poster, and the filmstrip along a timeline. */
import { rm } from "node:fs/promises";
import { TICKS_PER_SECOND, type Ticks } from "../domain/time";
import { buildInputArguments, buildOutputArguments, buildPassthroughArguments, QUIET_ARGUMENTS } from "./arguments";
import { writeAtomically } from "./atomic-output";
import { hasZscaleFilter } from "./chunks/scale";
import {
  buildColorFilters,
  buildJpegFilters,
  findOutputColors,
  findPixelColors,
  isHdr,
  JPEG_FORMAT_FILTERS,
} from "./color";
import { createProbeLimits, type RecordingFile, runFfmpeg, tryFfmpeg } from "./ffmpeg";

export type Filmstrip = {
  /** Frames side by side, each `width` by `height` pixels, at `(n + 0.5) / count` of the duration. */
  count: number;
  width: number;
  height: number;
};

const MAX_POSTER_SIDE_PIXELS = 1_280;
const FILMSTRIP_HEIGHT_PIXELS = 90;
const MAX_FILMSTRIP_FRAMES = 20;
const MIN_FILMSTRIP_INTERVAL_SECONDS = 0.5;
const MAX_STILL_WALL_SECONDS = 60;

/** Writes a frame near the start of the recording as JPEG. Errors: `AppError` `processing_failed`, `storage_full`. */
export async function createPoster(source: RecordingFile & { outputPath: string }): Promise<void> {
  const { duration } = source.probed.info;
  const video = source.probed.info.video!;
  const scale = Math.min(1, MAX_POSTER_SIDE_PIXELS / Math.max(video.width, video.height));
  const size = { width: toEven(video.width * scale), height: toEven(video.height * scale) };
  const at = Math.min(duration / 10, 5 * TICKS_PER_SECOND);
  const stills = await openStills(source);
  const isWritten = await writeStill(stills, { time: at, size, path: source.outputPath, isRequired: false });
  if (!isWritten) await writeStill(stills, { time: null, size, path: source.outputPath, isRequired: true });
}

/** Writes the filmstrip as one JPEG. Errors: `AppError` `processing_failed`, `storage_full`. */
export async function createFilmstrip(source: RecordingFile & { outputPath: string }): Promise<Filmstrip> {
  const { duration } = source.probed.info;
  const video = source.probed.info.video!;
  const height = FILMSTRIP_HEIGHT_PIXELS;
  const width = Math.max(16, Math.min(320, toEven((video.width * height) / video.height)));
  const count = Math.max(
    1,
    Math.min(MAX_FILMSTRIP_FRAMES, Math.floor(duration / (MIN_FILMSTRIP_INTERVAL_SECONDS * TICKS_PER_SECOND))),
  );
  const size = { width, height };
  const stills = await openStills(source);
  const getStillPath = (n: number) => `${source.outputPath}.${n}.still.jpg`;
  const writtenPaths: string[] = [];
  try {
    for (let n = 0; n < count; n++) {
      const time = Math.round((duration * (n + 0.5)) / count);
      const path = getStillPath(n);
      if (await writeStill(stills, { time, size, path, isRequired: false })) writtenPaths.push(path);
    }
    if (writtenPaths.length === 0) {
      await writeStill(stills, { time: null, size, path: getStillPath(0), isRequired: true });
      writtenPaths.push(getStillPath(0));
    }
    await writeTiles(source, writtenPaths, source.outputPath);
    return { count: writtenPaths.length, width, height };
  } finally {
    await Promise.all(writtenPaths.map((path) => rm(path, { force: true })));
  }
}

const toEven = (pixels: number): number => Math.max(2, 2 * Math.round(pixels / 2));

type StillSource = RecordingFile & { toneMaps: boolean };

async function openStills(source: RecordingFile): Promise<StillSource> {
  return { ...source, toneMaps: isHdr(source.probed.info.video!) && (await hasZscaleFilter(source.ffmpeg)) };
}

type StillOptions = {
  time: Ticks | null;
  size: { width: number; height: number };
  path: string;
  isRequired: boolean;
};

/** Writes the keyframe before a time, the cheapest frame to decode. Returns false if an optional one is missing. */
async function writeStill(source: StillSource, options: StillOptions): Promise<boolean> {
  const { info } = source.probed;
  const video = info.video!;
  const size = `${options.size.width}:${options.size.height}`;
  const filters = [
    ...(source.toneMaps ? [`scale=${size}`, ...buildColorFilters(video, true), "format=yuv420p"] : []),
    ...buildJpegFilters(size, source.toneMaps ? findOutputColors(video) : findPixelColors(video)),
    "setsar=1",
    ...JPEG_FORMAT_FILTERS,
  ];
  const createOptions = (tempPath: string) => ({
    ffmpeg: source.ffmpeg,
    arguments: [
      ...QUIET_ARGUMENTS,
      ...buildInputArguments({
        path: source.path,
        demuxer: info.demuxer,
        seekTo: options.time === null ? null : info.startPts + options.time,
        extra: ["-threads", "1", ...(options.time === null ? [] : ["-skip_frame", "nokey"])],
      }),
      ...["-map", "0:V:0", "-an", "-frames:v", "1", ...buildPassthroughArguments(source.ffmpeg.libavutil)],
      ...["-vf", filters.join(",")],
      ...["-c:v", "mjpeg", "-q:v", "4", "-f", "image2", "-update", "1", ...buildOutputArguments(tempPath)],
    ],
    limits: createProbeLimits(MAX_STILL_WALL_SECONDS),
    signal: source.signal,
  });
  return await writeAtomically(options.path, async (tempPath) => {
    const outcome = await tryFfmpeg(createOptions(tempPath));
    if (outcome.ok && (await Bun.file(tempPath).exists())) return true;
    if (options.isRequired) await runFfmpeg(createOptions(tempPath));
    throw new NoStillError();
  }).catch((error: unknown) => {
    if (error instanceof NoStillError && !options.isRequired) return false;
    throw error;
  });
}

class NoStillError extends Error {}

async function writeTiles(source: RecordingFile, stills: readonly string[], outputPath: string): Promise<void> {
  const inputs = stills.flatMap((path) => ["-f", "image2", "-pattern_type", "none", "-i", `file:${path}`]);
  const graph = stills.length === 1 ? "[0:v]null[strip]" : `hstack=inputs=${stills.length}[strip]`;
  await writeAtomically(outputPath, (tempPath) =>
    runFfmpeg({
      ffmpeg: source.ffmpeg,
      arguments: [
        ...QUIET_ARGUMENTS,
        ...inputs,
        ...["-filter_complex", graph, "-map", "[strip]", "-frames:v", "1"],
        ...["-c:v", "mjpeg", "-q:v", "5", "-f", "image2", "-update", "1", ...buildOutputArguments(tempPath)],
      ],
      limits: createProbeLimits(MAX_STILL_WALL_SECONDS),
      signal: source.signal,
    }),
  );
}
