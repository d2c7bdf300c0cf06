/** Thumbnails of a video: the poster, and the filmstrip along a timeline. */
import { randomUUID } from "node:crypto";
import { rename, rm } from "node:fs/promises";
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
import { createProbeLimits, type RecordingFile, runFfmpeg, toFfmpegError, tryFfmpeg } from "./ffmpeg";

export type Filmstrip = {
  /**
   * Frames side by side, each `width` by `height` pixels, at `(n + 0.5) / count` of the duration. A frame that cannot
   * be decoded is replaced by the nearest one.
   */
  count: number;
  width: number;
  height: number;
};

const MAX_POSTER_SIDE_PIXELS = 1_280;
const FILMSTRIP_HEIGHT_PIXELS = 90;
const MAX_FILMSTRIP_FRAMES = 20;
const MIN_FILMSTRIP_INTERVAL_SECONDS = 0.5;
const MAX_STILL_WALL_SECONDS = 60;
/**
 * Total pixels of the frames that one process decodes: twenty frames of 1080p in 8 bits. Each frame has its own
 * decoder.
 */
const MAX_PIXELS_PER_PROCESS = 42e6;

type ImageRequest = RecordingFile & {
  outputPath: string;
  log?: ((event: string, fields: object) => void) | undefined;
};

/** Writes a frame near the start of the recording as JPEG. Errors: `AppError` `processing_failed`, `storage_full`. */
export async function createPoster(source: ImageRequest): Promise<void> {
  const { duration } = source.probed.info;
  const video = source.probed.info.video!;
  const scale = Math.min(1, MAX_POSTER_SIDE_PIXELS / Math.max(video.width, video.height));
  const size = { width: toEven(video.width * scale), height: toEven(video.height * scale) };
  const at = Math.min(duration / 10, 5 * TICKS_PER_SECOND);
  const stills = await openStills(source);
  const still = { time: at, size, path: source.outputPath };
  await tryStills(stills, [still]);
  if (!(await Bun.file(still.path).exists())) await writeFirstStill(stills, still);
}

/** Writes the filmstrip as one JPEG. Errors: `AppError` `processing_failed`, `storage_full`. */
export async function createFilmstrip(recording: ImageRequest): Promise<Filmstrip> {
  const { duration } = recording.probed.info;
  const video = recording.probed.info.video!;
  const height = FILMSTRIP_HEIGHT_PIXELS;
  const width = Math.max(16, Math.min(320, toEven((video.width * height) / video.height)));
  const count = Math.max(
    1,
    Math.min(MAX_FILMSTRIP_FRAMES, Math.floor(duration / (MIN_FILMSTRIP_INTERVAL_SECONDS * TICKS_PER_SECOND))),
  );
  const size = { width, height };
  const source = await openStills(recording);
  const stills = Array.from({ length: count }, (_, n) => ({
    time: Math.round((duration * (n + 0.5)) / count),
    size,
    path: `${recording.outputPath}.${n}.still.jpg`,
  }));
  const framePixels = video.codedWidth * video.codedHeight * (video.bitDepth > 8 ? 2 : 1);
  const perProcess = Math.max(1, Math.floor(MAX_PIXELS_PER_PROCESS / framePixels));
  try {
    for (let n = 0; n < count; n += perProcess) await tryStills(source, stills.slice(n, n + perProcess));
    const found = await Promise.all(stills.map(({ path }) => Bun.file(path).exists()));
    if (!found.includes(true)) {
      await writeFirstStill(source, stills[0]!);
      found[0] = true;
    }
    const paths = stills.map((_, n) => stills[findNearest(found, n)]!.path);
    await writeTiles(recording, paths, recording.outputPath);
    return { count, width, height };
  } finally {
    await Promise.all(stills.map(({ path }) => rm(path, { force: true })));
  }
}

/** Returns the index of the true item nearest to `n`, the first of two. */
function findNearest(items: readonly boolean[], n: number): number {
  const indexes = items.flatMap((item, index) => (item ? [index] : []));
  return indexes.reduce((best, index) => (Math.abs(index - n) < Math.abs(best - n) ? index : best));
}

const toEven = (pixels: number): number => Math.max(2, 2 * Math.round(pixels / 2));

type StillSource = ImageRequest & { toneMaps: boolean };

async function openStills(source: ImageRequest): Promise<StillSource> {
  return { ...source, toneMaps: isHdr(source.probed.info.video!) && (await hasZscaleFilter(source.ffmpeg)) };
}

/**
 * A frame to write as a JPEG of this size: the keyframe before `time`, which is the cheapest to decode, or with null
 * the first frame.
 */
type Still = { time: Ticks | null; size: { width: number; height: number }; path: string };

/**
 * Returns the command line that writes stills to these paths. It has an input for each, because seeking is cheaper than
 * reading. Decoders, filters and encoders have one thread each: with more, many stills exceed the limit of address
 * space on a machine with many cores.
 */
function buildStillArguments(source: StillSource, stills: readonly Still[], paths: readonly string[]): string[] {
  const { info } = source.probed;
  const video = info.video!;
  const inputs = stills.map(({ time }) =>
    buildInputArguments({
      path: source.path,
      demuxer: info.demuxer,
      seekTo: time === null ? null : info.startPts + time,
      extra: ["-threads", "1", ...(time === null ? [] : ["-skip_frame", "nokey"])],
    }),
  );
  const outputs = stills.map(({ size: { width, height } }, n) => {
    const size = `${width}:${height}`;
    const filters = [
      ...(source.toneMaps ? [`scale=${size}`, ...buildColorFilters(video, true), "format=yuv420p"] : []),
      ...buildJpegFilters(size, source.toneMaps ? findOutputColors(video) : findPixelColors(video)),
      "setsar=1",
      ...JPEG_FORMAT_FILTERS,
    ];
    return [
      ...["-map", `${n}:V:0`, "-an", "-frames:v", "1", ...buildPassthroughArguments(source.ffmpeg.libavutil)],
      ...["-vf", filters.join(",")],
      ...["-c:v", "mjpeg", "-threads", "1", "-q:v", "4", "-f", "image2", "-update", "1"],
      ...buildOutputArguments(paths[n]!),
    ];
  });
  return [...QUIET_ARGUMENTS, "-filter_threads", "1", ...inputs.flat(), ...outputs.flat()];
}

const createStillRun = (source: StillSource, stills: readonly Still[], paths: readonly string[]) => ({
  ffmpeg: source.ffmpeg,
  arguments: buildStillArguments(source, stills, paths),
  limits: createProbeLimits(MAX_STILL_WALL_SECONDS * stills.length),
  signal: source.signal,
});

/**
 * Writes the stills that can be decoded, with one process, or if that fails, with one for each. Errors: the signal's
 * reason, `AppError` `storage_full`.
 */
async function tryStills(source: StillSource, stills: readonly Still[]): Promise<void> {
  const parts = stills.map(({ path }) => `${path}.${randomUUID()}.part`);
  try {
    const outcome = await tryFfmpeg(createStillRun(source, stills, parts));
    // Old versions exit with 0 when the disk is full.
    if (outcome.noSpace) throw toFfmpegError(outcome);
    if (outcome.ok) {
      for (const [n, part] of parts.entries()) if (await Bun.file(part).exists()) await rename(part, stills[n]!.path);
      return;
    }
    if (stills.length > 1) source.log?.("stills.retried", { stills: stills.length, error: outcome.message });
  } finally {
    await Promise.all(parts.map((part) => rm(part, { force: true })));
  }
  if (stills.length > 1) for (const still of stills) await tryStills(source, [still]);
}

/** Errors: `AppError` `processing_failed`, `storage_full`. */
const writeFirstStill = (source: StillSource, still: Still): Promise<void> =>
  writeAtomically(still.path, (part) => runFfmpeg(createStillRun(source, [{ ...still, time: null }], [part])));

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
