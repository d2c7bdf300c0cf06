/** The chunked render: chunks encoded side by side, joined without encoding again, with one exact sound track. */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../domain/errors";
import type { RenderRequest, ResolvedOutput } from "../domain/media";
import { type Chunk, divideIntoChunks, type Timeline } from "../domain/render-plan";
import { type FrameTimes, frameTime, type Rational, TICKS_PER_SECOND, type Ticks } from "../domain/time";
import { outputFile, QUIET, secondsText } from "./arguments";
import { type ChunkSettings, type ChunkTask, chunkArguments, countFrames, encodeChunk } from "./chunk-encode";
import { isHdr } from "./color";
import type { VideoEncoder, VideoQuality } from "./encoder-arguments";
import { type Ffmpeg, hasFilter, runFfmpeg, workLimits } from "./ffmpeg";
import { writeWhole } from "./work-files";

export type RenderTools = {
  ffmpeg: Ffmpeg;
  encoder: VideoEncoder;
  /** How many chunks are encoded at a time. */
  jobs: number;
  signal?: AbortSignal;
  log?: (event: string, fields: object) => void;
};

/** What a render with a picture is made of, resolved once. */
export type ChunkedPlan = { settings: ChunkSettings; tasks: ChunkTask[]; frameCount: number };

const CHUNK_FRAMES = { least: 150, most: 900 };
const GAP_FRAMES = 90;
const PIECES = 8;
/** How far above the source's rate a render of the same quality may go. */
const CEILING_SHARE = 1.3;
const CEILING_LEAST = 400_000;
/** Codecs that need fewer bits than H.264 for the same picture. */
const DENSE_CODECS = /^(hevc|vp9|av1|vvc)$/;

/** Divides the work. Pure. */
export function planChunks(request: RenderRequest, timeline: Timeline, tools: RenderTools): ChunkedPlan {
  const { probed, output } = request;
  const frames = probed.frames!;
  const video = output.video!;
  const rate = video.frameRate ?? frames.rate;
  const wanted = Math.ceil(timeline.frameCount / (tools.jobs * 3));
  const chunks = divideIntoChunks(timeline, frames, {
    frames: Math.min(CHUNK_FRAMES.most, Math.max(CHUNK_FRAMES.least, wanted)),
    gapFrames: GAP_FRAMES,
    pieces: PIECES,
  });
  const settings: ChunkSettings = {
    sourcePath: request.sourcePath,
    probed,
    width: video.width,
    height: video.height,
    rate,
    timescale: timescaleFor(rate, video.frameRate === null && frames.kind === "listed"),
    quality: qualityFor(request),
    encoder: tools.encoder,
    threads: Math.max(1, Math.ceil(navigator.hardwareConcurrency / tools.jobs)),
  };
  const tasks = chunks
    .map((chunk) => taskFor(chunk, frames, video, settings.timescale))
    .filter((task) => task.frameCount > 0);
  return { settings, tasks, frameCount: tasks.reduce((sum, task) => sum + task.frameCount, 0) };
}

/** A track timescale that holds the rate exactly. */
function timescaleFor(rate: Rational, variable: boolean): number {
  if (variable || rate.num > 200_000) return 90_000;
  return rate.num < 1_000 ? rate.num * 1_000 : rate.num;
}

function qualityFor(request: RenderRequest): VideoQuality {
  const video = request.output.video!;
  if (video.bitrate !== null) return { bitrate: video.bitrate };
  const source = request.probed.info.video!;
  if (source.bitrate === null) return { ceiling: null };
  const pixels = Math.min(1, (video.width * video.height) / (source.width * source.height));
  const share = CEILING_SHARE * (DENSE_CODECS.test(source.codec) ? 2 : 1) * pixels ** 0.75;
  return { ceiling: Math.max(CEILING_LEAST, Math.round(source.bitrate * share)) };
}

function taskFor(
  chunk: Chunk,
  frames: FrameTimes,
  video: NonNullable<ResolvedOutput["video"]>,
  timescale: number,
): ChunkTask {
  if (video.frameRate !== null) return resampledTask(chunk, video.frameRate);
  const straight = chunk.pieces.every((piece) => piece.sourceStart === frameTime(frames, piece.from));
  const timing =
    frames.kind === "constant" && straight
      ? ({ kind: "counted", rate: frames.rate } as const)
      : ({ kind: "timed", timescale } as const);
  return { chunk, timing, frameCount: chunk.frameCount };
}

/** Output frames lie on one grid over the whole render; a chunk has those that fall into it. */
function resampledTask(chunk: Chunk, rate: Rational): ChunkTask {
  const index = (time: Ticks) => Math.ceil((time * rate.num) / (rate.den * TICKS_PER_SECOND) - 1e-6);
  const first = index(chunk.outStart);
  const count = index(chunk.outEnd) - first;
  const phase = Math.round((first * rate.den * TICKS_PER_SECOND) / rate.num) - chunk.outStart;
  return { chunk, timing: { kind: "resampled", rate, phase, count }, frameCount: count };
}

/**
 * Encodes every chunk that the work folder does not hold yet, and returns their file names in order. Errors: as `encodeChunk`.
 */
export async function encodeChunks(
  plan: ChunkedPlan,
  workDir: string,
  tools: RenderTools,
  onFrames: (frames: number) => void,
): Promise<string[]> {
  const { tasks, settings } = plan;
  const hasZscale = isHdr(settings.probed.info.video!) && (await hasFilter(tools.ffmpeg, "zscale"));
  const names = await chunkNames(plan, tools, hasZscale);
  const done = new Float64Array(tasks.length);
  const report = (n: number, frames: number) => {
    done[n] = Math.max(done[n]!, Math.min(frames, tasks[n]!.frameCount));
    onFrames(done.reduce((sum, value) => sum + value, 0));
  };
  await inParallel(tasks.length, tools.jobs, tools.signal, async (n, signal) => {
    const path = join(workDir, names[n]!);
    const task = tasks[n]!;
    if (!(await Bun.file(path).exists()))
      await encodeChunk({
        ffmpeg: tools.ffmpeg,
        hasZscale,
        settings,
        task,
        path,
        signal,
        onFrames: (frames) => report(n, frames),
      });
    report(n, task.frameCount);
  });
  return names;
}

/** A chunk's name holds everything that it depends on, so that what is found again is what would be made again. */
async function chunkNames(plan: ChunkedPlan, tools: RenderTools, hasZscale: boolean): Promise<string[]> {
  const { size, mtimeMs } = await stat(plan.settings.sourcePath);
  return plan.tasks.map((task, n) => {
    const { libavutil, version } = tools.ffmpeg;
    const command = chunkArguments({ ...plan.settings, threads: 1 }, task, { libavutil, hasZscale, fromStart: false });
    const key = createHash("sha256")
      .update(JSON.stringify([size, mtimeMs, version, command]))
      .digest("hex");
    return `chunk-${String(n).padStart(5, "0")}-${key.slice(0, 16)}.mp4`;
  });
}

/** Runs numbered tasks, some at a time. The first failure stops the others, and all have ended when this returns or throws. */
export async function inParallel(
  count: number,
  width: number,
  outer: AbortSignal | undefined,
  run: (n: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const signal = outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal]);
  let next = 0;
  let failure: { error: unknown } | null = null;
  const worker = async () => {
    while (next < count && failure === null) {
      const n = next++;
      try {
        signal.throwIfAborted();
        await run(n, signal);
      } catch (error) {
        failure ??= { error };
        stop.abort(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(width, count)) }, worker));
  outer?.throwIfAborted();
  if (failure !== null) throw (failure as { error: unknown }).error;
}

/**
 * Joins the chunks and the sound into the finished file. Errors: `AppError` `storage_full`, `processing_failed`; the signal's reason.
 */
export async function joinChunks(options: {
  plan: ChunkedPlan;
  names: readonly string[];
  workDir: string;
  soundName: string | null;
  format: ResolvedOutput["format"];
  outputPath: string;
  tools: RenderTools;
}): Promise<void> {
  const { plan, names, workDir, soundName, tools } = options;
  const list = join(workDir, "chunks.txt");
  await writeWhole(list, (part) => Bun.write(part, concatList(plan, names)));
  await writeWhole(options.outputPath, async (part) => {
    await runFfmpeg({
      ffmpeg: tools.ffmpeg,
      cwd: workDir,
      arguments: [
        ...[...QUIET, "-protocol_whitelist", "file,pipe", "-format_whitelist", "concat,mov"],
        ...["-f", "concat", "-safe", "0", "-i", "file:chunks.txt"],
        ...(soundName === null ? [] : ["-f", "mov", "-i", `file:${soundName}`, "-map", "1:a:0"]),
        ...["-map", "0:v:0", "-c", "copy", "-map_metadata", "-1"],
        ...["-video_track_timescale", String(plan.settings.timescale), "-movflags", "+faststart"],
        ...["-f", options.format, ...outputFile(part)],
      ],
      limits: workLimits(3_600),
      ...(tools.signal === undefined ? {} : { signal: tools.signal }),
    });
    const found = await countFrames(part);
    if (found !== plan.frameCount)
      throw new AppError("processing_failed", "the picture could not be joined", {
        cause: new Error(`the joined file has ${found} frames, not ${plan.frameCount}`),
      });
  });
}

/** The concat demuxer's list. Durations are written out, rounded so that their sum never drifts. */
export function concatList(plan: ChunkedPlan, names: readonly string[]): string {
  const lines = ["ffconcat version 1.0"];
  let position = 0;
  let frames = 0;
  plan.tasks.forEach((task, n) => {
    frames += task.frameCount;
    const end = chunkEnd(task, frames);
    lines.push(`file '${names[n]}'`, `duration ${secondsText(end - position)}`);
    position = end;
  });
  return `${lines.join("\n")}\n`;
}

function chunkEnd(task: ChunkTask, framesSoFar: number): Ticks {
  const { timing, chunk } = task;
  if (timing.kind !== "resampled") return chunk.outEnd;
  return Math.round((framesSoFar * timing.rate.den * TICKS_PER_SECOND) / timing.rate.num);
}
