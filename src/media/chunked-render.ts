/**
 * Plans the video of a chunked render, and encodes its chunks in parallel. An interrupted render resumes from the chunks that it finished.
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { RenderRequest } from "../domain/media";
import {
  divideIntoChunks,
  type OutputTimes,
  type RenderChunk,
  type RenderTimeline,
  toConstantOutputTimes,
  toSourceOutputTimes,
} from "../domain/render-plan";
import { getRandomAccessFrame, type PacketOrder } from "../domain/smart-plan";
import { type FrameTimes, type Rational, TICKS_PER_SECOND, type Ticks } from "../domain/time";
import { createFileKey } from "../lib/hash";
import type { Semaphore } from "../lib/semaphore";
import type { TimedChunk } from "./chunks/concat";
import { buildChunkArguments, type ChunkSettings, type ChunkTask, encodeChunk } from "./chunks/encode";
import { canUseZscale, hasZscaleFilter } from "./chunks/scale";
import { isHdr } from "./color";
import type { VideoEncoder, VideoQuality } from "./encoder-arguments";
import type { Ffmpeg } from "./ffmpeg";
import type { PacketSource } from "./packets/source";
import { runParallel } from "./parallel";

export type RenderTools = {
  ffmpeg: Ffmpeg;
  encoder: VideoEncoder;
  /** How many chunks are encoded at the same time. */
  maxProcesses: number;
  signal?: AbortSignal | undefined;
  /** Polled between two chunks. When true, the render ends with `RenderYielded`, and a later call resumes it. */
  shouldYield?: (() => boolean) | undefined;
  /** Shared by all renders of this server. Without it, `maxProcesses` is the only bound. */
  encoderSemaphore?: Semaphore | undefined;
  log?: ((event: string, fields: object) => void) | undefined;
};

/** The chunks of a render with video. They follow each other without gaps. */
export type ChunkedPlan = { settings: ChunkSettings; tasks: ChunkTask[]; frameCount: number; outputTimes: OutputTimes };

const MIN_CHUNK_FRAMES = 500;
const MAX_CHUNK_FRAMES = 900;
/** With seeking, everything between the segments of a chunk is decoded too. An excerpt leaves it out. */
const SEEK_LIMITS = { maxGapFrames: 90, maxSegments: 8 };
const EXCERPT_LIMITS = { maxGapFrames: Number.POSITIVE_INFINITY, maxSegments: 16 };
/** Outputs this short are encoded without reordering: ffmpeg 4 loses the last of four or five reordered frames. */
const MAX_FRAMES_WITHOUT_REORDERING = 12;
/** How far the bitrate of a render at constant quality may exceed the source's. */
const MAX_BITRATE_SHARE = 1.3;
const MIN_MAX_BITRATE_BPS = 400_000;
/** Codecs that need fewer bits than H.264 for the same quality. */
const EFFICIENT_CODECS = /^(hevc|vp9|av1|vvc)$/;

/**
 * Divides a timeline into chunks. Pure, except for the number of cores. `usesExcerpts`: chunks read only the packets that they need; with
 * the packet order, chunks end where few frames are decoded twice.
 */
export function planChunks(
  request: RenderRequest,
  timeline: RenderTimeline,
  tools: RenderTools,
  usesExcerpts: boolean,
  order: PacketOrder | null = null,
): ChunkedPlan {
  const { probed, output } = request;
  const frames = probed.frames!;
  const video = output.video!;
  const chunks = divideIntoChunks(timeline, frames, {
    maxFrames: chooseChunkSize(timeline.frameCount, tools.maxProcesses),
    ...(usesExcerpts ? EXCERPT_LIMITS : SEEK_LIMITS),
    findRandomAccessFrame: order === null ? undefined : (frame) => getRandomAccessFrame(frame, order),
  });
  const tasks = chunks
    .map((chunk) =>
      video.frameRate === null ? createSequentialTask(chunk, frames) : createResampledTask(chunk, video.frameRate),
    )
    .filter((task) => task.frameCount > 0);
  const frameCount = tasks.reduce((sum, task) => sum + task.frameCount, 0);
  const settings: ChunkSettings = {
    sourcePath: request.sourcePath,
    probed,
    width: video.width,
    height: video.height,
    frameRate: video.frameRate ?? frames.rate,
    quality: chooseQuality(request),
    encoder: tools.encoder,
    disableBFrames: frameCount <= MAX_FRAMES_WITHOUT_REORDERING,
    threads: getThreadCount(tools.maxProcesses),
  };
  const times =
    video.frameRate === null
      ? toSourceOutputTimes(timeline, frames)
      : toConstantOutputTimes(frameCount, video.frameRate);
  return { settings, tasks, frameCount, outputTimes: times };
}

/** Balances the load of the processes, and keeps chunks small enough for a resumed render to find most of its work done. */
function chooseChunkSize(frameCount: number, maxProcesses: number): number {
  const size = Math.min(MAX_CHUNK_FRAMES, Math.max(MIN_CHUNK_FRAMES, frameCount / (maxProcesses * 3)));
  if (frameCount <= size) return size;
  const rounds = Math.max(1, Math.round(frameCount / (maxProcesses * size)));
  return Math.min(MAX_CHUNK_FRAMES, Math.ceil(frameCount / (maxProcesses * rounds)));
}

/** Returns the number of threads for each of `maxProcesses` processes. */
export const getThreadCount = (maxProcesses: number): number =>
  Math.max(1, Math.ceil(navigator.hardwareConcurrency / maxProcesses));

function chooseQuality(request: RenderRequest): VideoQuality {
  const video = request.output.video!;
  if (video.bitrate !== null) return { bitrate: video.bitrate };
  const source = request.probed.info.video!;
  if (source.bitrate === null) return { maxBitrate: null };
  const pixels = Math.min(1, (video.width * video.height) / (source.width * source.height));
  const share = MAX_BITRATE_SHARE * (EFFICIENT_CODECS.test(source.codec) ? 2 : 1) * pixels ** 0.75;
  return { maxBitrate: Math.max(MIN_MAX_BITRATE_BPS, Math.round(source.bitrate * share)) };
}

const createSequentialTask = (chunk: RenderChunk, frames: FrameTimes): ChunkTask => ({
  chunk,
  timing: { kind: "sequential", rate: frames.rate },
  frameCount: chunk.frameCount,
});

/** Creates the task of a chunk whose frames are resampled: those at the grid points within its span. The grid is that of the whole render. */
function createResampledTask(chunk: RenderChunk, rate: Rational): ChunkTask {
  const first = toGridIndex(chunk.outputStart, rate);
  const phase = toGridTime(first, rate) - chunk.outputStart;
  return { chunk, timing: { kind: "resampled", rate, phase }, frameCount: toGridIndex(chunk.outputEnd, rate) - first };
}

/** Returns the index of the first frame of a constant rate that is shown at or after `time`. */
const toGridIndex = (time: Ticks, rate: Rational): number =>
  Math.ceil((time * rate.num) / (rate.den * TICKS_PER_SECOND) - 1e-4);

const toGridTime = (n: number, rate: Rational): Ticks => Math.round((n * rate.den * TICKS_PER_SECOND) / rate.num);

export type EncodedChunks = {
  /** Files in the order of the tasks. */
  paths: string[];
  /** Number of chunks with frames that could not be decoded. */
  repaired: number;
  /** Number of chunks that were already in the work folder. */
  reused: number;
};

/** Encodes every chunk that is not in the work folder yet. Errors: those of `encodeChunk`. */
export async function encodeChunks(
  plan: { settings: ChunkSettings; tasks: readonly ChunkTask[] },
  workDir: string,
  tools: RenderTools,
  packetSource: PacketSource | null,
  onFrames: (frames: number) => void,
): Promise<EncodedChunks> {
  const { tasks, settings } = plan;
  const video = settings.probed.info.video!;
  const hasZscale = (isHdr(video) || canUseZscale(video, settings)) && (await hasZscaleFilter(tools.ffmpeg));
  const paths = (await createChunkNames(plan, tools, hasZscale)).map((name) => join(workDir, name));
  const done = new Float64Array(tasks.length);
  let total = 0;
  let repaired = 0;
  let reused = 0;
  const report = (n: number, frames: number) => {
    const now = Math.max(done[n]!, Math.min(frames, tasks[n]!.frameCount));
    total += now - done[n]!;
    done[n] = now;
    onFrames(total);
  };
  await runParallel(
    tasks.length,
    tools.maxProcesses,
    tools.signal,
    async (n, signal) => {
      const task = tasks[n]!;
      const path = paths[n]!;
      if (await Bun.file(path).exists()) reused++;
      else {
        const encode = () =>
          encodeChunk({
            ffmpeg: tools.ffmpeg,
            hasZscale,
            settings,
            task,
            path,
            packetSource,
            signal,
            onFrames: (frames) => report(n, frames),
          });
        const result = await (tools.encoderSemaphore?.run(signal, encode) ?? encode());
        if (result.repaired) repaired++;
      }
      report(n, task.frameCount);
    },
    tools.shouldYield,
  );
  return { paths, repaired, reused };
}

/** Returns the file names of the chunks. A name is a hash of all inputs of its chunk, so that an existing file need not be encoded again. */
async function createChunkNames(
  plan: Parameters<typeof encodeChunks>[0],
  tools: RenderTools,
  hasZscale: boolean,
): Promise<string[]> {
  const { size, mtimeMs } = await stat(plan.settings.sourcePath);
  const { libavutil, version } = tools.ffmpeg;
  return plan.tasks.map((task) => {
    const command = buildChunkArguments({ ...plan.settings, threads: 1 }, task, {
      libavutil,
      hasZscale,
      fromStart: false,
    });
    const key = createFileKey([size, mtimeMs, version, command]);
    return `chunk-${key}.mp4`;
  });
}

/** Returns each chunk with its share of the output times. */
export function assignChunkTimes(plan: ChunkedPlan, paths: readonly string[]): TimedChunk[] {
  let first = 0;
  return plan.tasks.map((task, n) => {
    const times = plan.outputTimes.times.subarray(first, first + task.frameCount + 1);
    first += task.frameCount;
    return { path: paths[n]!, times };
  });
}
