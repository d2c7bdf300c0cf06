/** The picture of a chunked render: what is encoded how, side by side, resumable. */
import { createHash } from "node:crypto";
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
  /** How many chunks are encoded at a time. */
  maxProcesses: number;
  signal?: AbortSignal;
  /** Asked between two chunks: whether to end with `Paused`, for a later render to go on. */
  shouldYield?: () => boolean;
  /** What all renders of this server share: without them, `jobs` is the only bound. */
  encoderSemaphore?: Semaphore;
  log?: (event: string, fields: object) => void;
};

/** What a render with a picture is made of: the chunks follow each other without a gap. */
export type ChunkedPlan = { settings: ChunkSettings; tasks: ChunkTask[]; frameCount: number; outputTimes: OutputTimes };

const CHUNK_FRAMES = { least: 500, most: 900 };
/** Where the source is sought in, all that lies between the pieces of a chunk is decoded too; a feed leaves it out. */
const SEEK_LIMITS = { maxGapFrames: 90, maxSegments: 8 };
const EXCERPT_LIMITS = { maxGapFrames: Number.POSITIVE_INFINITY, maxSegments: 16 };
/** So few frames are not reordered; four and five are what goes wrong. */
const MAX_FRAMES_WITHOUT_REORDERING = 12;
/** How far above the source's rate a render of the same quality may go. */
const MAX_BITRATE_SHARE = 1.3;
const MIN_MAX_BITRATE_BPS = 400_000;
/** Codecs that need fewer bits than H.264 for the same picture. */
const EFFICIENT_CODECS = /^(hevc|vp9|av1|vvc)$/;

/**
 * Divides the work. Pure but for the number of cores. `isFed`: chunks get only the packets that they need; with their order, chunks end
 * where little is decoded twice.
 */
export function planChunks(
  request: RenderRequest,
  timeline: RenderTimeline,
  tools: RenderTools,
  isFed: boolean,
  order: PacketOrder | null = null,
): ChunkedPlan {
  const { probed, output } = request;
  const frames = probed.frames!;
  const video = output.video!;
  const chunks = divideIntoChunks(timeline, frames, {
    maxFrames: chooseChunkSize(timeline.frameCount, tools.maxProcesses),
    ...(isFed ? EXCERPT_LIMITS : SEEK_LIMITS),
    ...(order === null ? {} : { findRandomAccessFrame: (frame: number) => getRandomAccessFrame(frame, order) }),
  });
  const tasks = chunks
    .map((chunk) =>
      video.frameRate === null ? createPassthroughTask(chunk, frames) : createResampledTask(chunk, video.frameRate),
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

/** So many that every process gets as much work as the others, and a repeated render finds most of it done. */
function chooseChunkSize(total: number, jobs: number): number {
  const wanted = Math.min(CHUNK_FRAMES.most, Math.max(CHUNK_FRAMES.least, total / (jobs * 3)));
  if (total <= wanted) return wanted;
  const rounds = Math.max(1, Math.round(total / (jobs * wanted)));
  return Math.min(CHUNK_FRAMES.most, Math.ceil(total / (jobs * rounds)));
}

/** Threads of one process when `jobs` run side by side. */
export const getThreadCount = (jobs: number): number => Math.max(1, Math.ceil(navigator.hardwareConcurrency / jobs));

function chooseQuality(request: RenderRequest): VideoQuality {
  const video = request.output.video!;
  if (video.bitrate !== null) return { bitrate: video.bitrate };
  const source = request.probed.info.video!;
  if (source.bitrate === null) return { maxBitrate: null };
  const pixels = Math.min(1, (video.width * video.height) / (source.width * source.height));
  const share = MAX_BITRATE_SHARE * (EFFICIENT_CODECS.test(source.codec) ? 2 : 1) * pixels ** 0.75;
  return { maxBitrate: Math.max(MIN_MAX_BITRATE_BPS, Math.round(source.bitrate * share)) };
}

const createPassthroughTask = (chunk: RenderChunk, frames: FrameTimes): ChunkTask => ({
  chunk,
  timing: { kind: "counted", rate: frames.rate },
  frameCount: chunk.frameCount,
});

/** Output frames lie on one grid over the whole render; a chunk has those that fall into it. */
function createResampledTask(chunk: RenderChunk, rate: Rational): ChunkTask {
  const first = toGridIndex(chunk.outputStart, rate);
  const phase = toGridTime(first, rate) - chunk.outputStart;
  return { chunk, timing: { kind: "resampled", rate, phase }, frameCount: toGridIndex(chunk.outputEnd, rate) - first };
}

/** The first frame of a rate that is shown at or after a time. */
const toGridIndex = (time: Ticks, rate: Rational): number =>
  Math.ceil((time * rate.num) / (rate.den * TICKS_PER_SECOND) - 1e-4);

const toGridTime = (n: number, rate: Rational): Ticks => Math.round((n * rate.den * TICKS_PER_SECOND) / rate.num);

export type EncodedChunks = {
  /** Files in the order of the tasks. */
  paths: string[];
  /** Chunks with frames that could not be decoded. */
  repaired: number;
  /** Chunks that the work folder held already. */
  reused: number;
};

/** Encodes every chunk that the work folder does not hold yet. Errors: as `encodeChunk`. */
export async function encodeChunks(
  plan: { settings: ChunkSettings; tasks: readonly ChunkTask[] },
  workDir: string,
  tools: RenderTools,
  feed: PacketSource | null,
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
            ...{ ffmpeg: tools.ffmpeg, hasZscale, settings, task, path, signal },
            ...(feed === null ? {} : { packetSource: feed }),
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

/** A chunk's name holds everything that it depends on, so that what is found again is what would be made again. */
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
    const key = createHash("sha256")
      .update(JSON.stringify([size, mtimeMs, version, command]))
      .digest("hex");
    return `chunk-${key.slice(0, 24)}.mp4`;
  });
}

/** Each chunk with its part of the output's times. */
export function assignChunkTimes(plan: ChunkedPlan, paths: readonly string[]): TimedChunk[] {
  let first = 0;
  return plan.tasks.map((task, n) => {
    const times = plan.outputTimes.times.subarray(first, first + task.frameCount + 1);
    first += task.frameCount;
    return { path: paths[n]!, times };
  });
}
