/** The picture of a chunked render: what is encoded how, side by side, resumable. */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { RenderRequest } from "../domain/media";
import {
  type Chunk,
  divideIntoChunks,
  evenOutputTimes,
  type OutputTimes,
  ownOutputTimes,
  type Timeline,
} from "../domain/render-plan";
import { type PacketOrder, startBefore } from "../domain/smart-plan";
import { type FrameTimes, type Rational, TICKS_PER_SECOND, type Ticks } from "../domain/time";
import type { Semaphore } from "../lib/semaphore";
import { type ChunkSettings, type ChunkTask, chunkArguments, encodeChunk } from "./chunks/encode";
import type { JoinedChunk } from "./chunks/join";
import { knowsZscale, scalesFast } from "./chunks/scale";
import { isHdr } from "./color";
import type { VideoEncoder, VideoQuality } from "./encoder-arguments";
import type { Ffmpeg } from "./ffmpeg";
import type { PacketSource } from "./packets/source";
import { inParallel } from "./parallel";

export type RenderTools = {
  ffmpeg: Ffmpeg;
  encoder: VideoEncoder;
  /** How many chunks are encoded at a time. */
  jobs: number;
  signal?: AbortSignal;
  /** Asked between two chunks: whether to end with `Paused`, for a later render to go on. */
  shouldPause?: () => boolean;
  /** What all renders of this server share: without them, `jobs` is the only bound. */
  encoderSemaphore?: Semaphore;
  log?: (event: string, fields: object) => void;
};

/** What a render with a picture is made of: the chunks follow each other without a gap. */
export type ChunkedPlan = { settings: ChunkSettings; tasks: ChunkTask[]; frameCount: number; output: OutputTimes };

const CHUNK_FRAMES = { least: 500, most: 900 };
/** Where the source is sought in, all that lies between the pieces of a chunk is decoded too; a feed leaves it out. */
const SOUGHT = { gapFrames: 90, pieces: 8 };
const FED = { gapFrames: Number.POSITIVE_INFINITY, pieces: 16 };
/** So few frames are not reordered; four and five are what goes wrong. */
const TINY_FRAMES = 12;
/** How far above the source's rate a render of the same quality may go. */
const CEILING_SHARE = 1.3;
const CEILING_LEAST = 400_000;
/** Codecs that need fewer bits than H.264 for the same picture. */
const DENSE_CODECS = /^(hevc|vp9|av1|vvc)$/;

/**
 * Divides the work. Pure but for the number of cores. `isFed`: chunks get only the packets that they need; with their order, chunks end
 * where little is decoded twice.
 */
export function planChunks(
  request: RenderRequest,
  timeline: Timeline,
  tools: RenderTools,
  isFed: boolean,
  order: PacketOrder | null = null,
): ChunkedPlan {
  const { probed, output } = request;
  const frames = probed.frames!;
  const video = output.video!;
  const chunks = divideIntoChunks(timeline, frames, {
    frames: chunkFrames(timeline.frameCount, tools.jobs),
    ...(isFed ? FED : SOUGHT),
    ...(order === null ? {} : { startBefore: (frame: number) => startBefore(frame, order) }),
  });
  const tasks = chunks
    .map((chunk) => (video.frameRate === null ? countedTask(chunk, frames) : resampledTask(chunk, video.frameRate)))
    .filter((task) => task.frameCount > 0);
  const frameCount = tasks.reduce((sum, task) => sum + task.frameCount, 0);
  const settings: ChunkSettings = {
    sourcePath: request.sourcePath,
    probed,
    width: video.width,
    height: video.height,
    rate: video.frameRate ?? frames.rate,
    quality: qualityFor(request),
    encoder: tools.encoder,
    isTiny: frameCount <= TINY_FRAMES,
    threads: threadsFor(tools.jobs),
  };
  const times =
    video.frameRate === null ? ownOutputTimes(timeline, frames) : evenOutputTimes(frameCount, video.frameRate);
  return { settings, tasks, frameCount, output: times };
}

/** So many that every process gets as much work as the others, and a repeated render finds most of it done. */
function chunkFrames(total: number, jobs: number): number {
  const wanted = Math.min(CHUNK_FRAMES.most, Math.max(CHUNK_FRAMES.least, total / (jobs * 3)));
  if (total <= wanted) return wanted;
  const rounds = Math.max(1, Math.round(total / (jobs * wanted)));
  return Math.min(CHUNK_FRAMES.most, Math.ceil(total / (jobs * rounds)));
}

/** Threads of one process when `jobs` run side by side. */
export const threadsFor = (jobs: number): number => Math.max(1, Math.ceil(navigator.hardwareConcurrency / jobs));

function qualityFor(request: RenderRequest): VideoQuality {
  const video = request.output.video!;
  if (video.bitrate !== null) return { bitrate: video.bitrate };
  const source = request.probed.info.video!;
  if (source.bitrate === null) return { ceiling: null };
  const pixels = Math.min(1, (video.width * video.height) / (source.width * source.height));
  const share = CEILING_SHARE * (DENSE_CODECS.test(source.codec) ? 2 : 1) * pixels ** 0.75;
  return { ceiling: Math.max(CEILING_LEAST, Math.round(source.bitrate * share)) };
}

const countedTask = (chunk: Chunk, frames: FrameTimes): ChunkTask => ({
  chunk,
  timing: { kind: "counted", rate: frames.rate },
  frameCount: chunk.frameCount,
});

/** Output frames lie on one grid over the whole render; a chunk has those that fall into it. */
function resampledTask(chunk: Chunk, rate: Rational): ChunkTask {
  const first = gridIndex(chunk.outStart, rate);
  const phase = gridTime(first, rate) - chunk.outStart;
  return { chunk, timing: { kind: "resampled", rate, phase }, frameCount: gridIndex(chunk.outEnd, rate) - first };
}

/** The first frame of a rate that is shown at or after a time. */
const gridIndex = (time: Ticks, rate: Rational): number =>
  Math.ceil((time * rate.num) / (rate.den * TICKS_PER_SECOND) - 1e-4);

const gridTime = (n: number, rate: Rational): Ticks => Math.round((n * rate.den * TICKS_PER_SECOND) / rate.num);

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
  const hasZscale = (isHdr(video) || scalesFast(video, settings)) && (await knowsZscale(tools.ffmpeg));
  const paths = (await chunkNames(plan, tools, hasZscale)).map((name) => join(workDir, name));
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
  await inParallel(
    tasks.length,
    tools.jobs,
    tools.signal,
    async (n, signal) => {
      const task = tasks[n]!;
      const path = paths[n]!;
      if (await Bun.file(path).exists()) reused++;
      else {
        const encode = () =>
          encodeChunk({
            ...{ ffmpeg: tools.ffmpeg, hasZscale, settings, task, path, signal },
            ...(feed === null ? {} : { feed }),
            onFrames: (frames) => report(n, frames),
          });
        const result = await (tools.encoderSemaphore?.run(signal, encode) ?? encode());
        if (result.repaired) repaired++;
      }
      report(n, task.frameCount);
    },
    tools.shouldPause,
  );
  return { paths, repaired, reused };
}

/** A chunk's name holds everything that it depends on, so that what is found again is what would be made again. */
async function chunkNames(
  plan: Parameters<typeof encodeChunks>[0],
  tools: RenderTools,
  hasZscale: boolean,
): Promise<string[]> {
  const { size, mtimeMs } = await stat(plan.settings.sourcePath);
  const { libavutil, version } = tools.ffmpeg;
  return plan.tasks.map((task) => {
    const command = chunkArguments({ ...plan.settings, threads: 1 }, task, { libavutil, hasZscale, fromStart: false });
    const key = createHash("sha256")
      .update(JSON.stringify([size, mtimeMs, version, command]))
      .digest("hex");
    return `chunk-${key.slice(0, 24)}.mp4`;
  });
}

/** Each chunk with its part of the output's times. */
export function joinedChunks(plan: ChunkedPlan, paths: readonly string[]): JoinedChunk[] {
  let first = 0;
  return plan.tasks.map((task, n) => {
    const times = plan.output.times.subarray(first, first + task.frameCount + 1);
    first += task.frameCount;
    return { path: paths[n]!, times };
  });
}
