/** Plans the video of a chunked render: its chunks, and the file names that a resumed render looks for. */
import type { RenderRequest } from "../domain/media";
import {
  chooseEqualSizes,
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
import type { TimedChunk } from "./chunks/concat";
import { buildChunkArguments, type ChunkSettings, type ChunkTask } from "./chunks/encode";
import { canUseZscale, hasZscaleFilter } from "./chunks/scale";
import { isHdr } from "./color";
import type { VideoEncoder, VideoQuality } from "./encoder-arguments";
import type { Ffmpeg } from "./ffmpeg";
import type { SourceVersion } from "./source-version";

/** The chunks of a render with video. They follow each other without gaps. */
export type ChunkedPlan = { settings: ChunkSettings; tasks: ChunkTask[]; frameCount: number; outputTimes: OutputTimes };

const MIN_CHUNK_FRAMES = 500;
const MAX_CHUNK_FRAMES = 900;
/** With seeking, everything between the segments of a chunk is decoded too. An excerpt leaves it out. */
const SEEK_LIMITS = { maxGapFrames: 90, maxSegments: 8 };
const EXCERPT_LIMITS = { maxGapFrames: Number.POSITIVE_INFINITY, maxSegments: 16 };
/** Outputs this short are encoded without reordering: ffmpeg 4 loses the last of four or five reordered frames. */
const MAX_FRAMES_WITHOUT_REORDERING = 12;
/** Maximum bitrate of a render at constant quality, relative to the source's. */
const MAX_BITRATE_SHARE = 1.3;
const MIN_MAX_BITRATE_BPS = 400_000;
/** Codecs that need fewer bits than H.264 for the same quality. */
const EFFICIENT_CODECS = /^(hevc|vp9|av1|vvc)$/;

/** The inputs of a plan besides the request. */
export type ChunkingOptions = {
  encoder: VideoEncoder;
  /** Number of threads of each encoder process. */
  threads: number;
  /** Sizes of the chunks in frames of the timeline, in order. */
  sizes: readonly number[];
  /** The packets of the source, or null when chunks seek in it. Chunks end where few frames are decoded twice. */
  order: PacketOrder | null;
};

export function planChunks(
  request: RenderRequest,
  timeline: RenderTimeline,
  { encoder, threads, sizes, order }: ChunkingOptions,
): ChunkedPlan {
  const { probed, output } = request;
  const frames = probed.frames!;
  const video = output.video!;
  const chunks = divideIntoChunks(timeline, frames, {
    targets: sizes,
    ...(order === null ? SEEK_LIMITS : EXCERPT_LIMITS),
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
    encoder,
    disableBFrames: frameCount <= MAX_FRAMES_WITHOUT_REORDERING,
    threads,
  };
  const times =
    video.frameRate === null
      ? toSourceOutputTimes(timeline, frames)
      : toConstantOutputTimes(frameCount, video.frameRate);
  return { settings, tasks, frameCount, outputTimes: times };
}

/** Returns sizes that balance the load of the processes, and with which a resumed render can reuse most of its work. */
export const chooseLocalSizes = (frameCount: number, maxProcesses: number): number[] =>
  chooseEqualSizes(frameCount, chooseChunkSize(frameCount, maxProcesses));

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

/** Creates the task of a chunk with resampled frames: those at the grid points, of the whole render, in its span. */
function createResampledTask(chunk: RenderChunk, rate: Rational): ChunkTask {
  const first = toGridIndex(chunk.outputStart, rate);
  const phase = toGridTime(first, rate) - chunk.outputStart;
  return { chunk, timing: { kind: "resampled", rate, phase }, frameCount: toGridIndex(chunk.outputEnd, rate) - first };
}

/** Returns the index of the first frame of a constant rate that is shown at or after `time`. */
const toGridIndex = (time: Ticks, rate: Rational): number =>
  Math.ceil((time * rate.num) / (rate.den * TICKS_PER_SECOND) - 1e-4);

const toGridTime = (n: number, rate: Rational): Ticks => Math.round((n * rate.den * TICKS_PER_SECOND) / rate.num);

/** The inputs of the file names of a render besides its commands. */
export type NameFacts = { ffmpeg: Ffmpeg; hasZscale: boolean; source: SourceVersion };

/**
 * Returns the file names of the chunks. A name is a hash of all inputs of its chunk, so that an existing file need not
 * be encoded again. It is the same on every machine.
 */
export function createChunkNames(
  plan: { settings: ChunkSettings; tasks: readonly ChunkTask[] },
  { ffmpeg, hasZscale, source }: NameFacts,
): string[] {
  const settings = { ...plan.settings, sourcePath: "", threads: 1 };
  return plan.tasks.map((task) => {
    const command = buildChunkArguments(settings, task, { libavutil: ffmpeg.libavutil, hasZscale, fromStart: false });
    return `chunk-${createFileKey([source, ffmpeg.version, command])}.mp4`;
  });
}

/** Returns the name of a render's audio file, created like those of chunks. */
export function createAudioName(request: RenderRequest, timeline: RenderTimeline, facts: Omit<NameFacts, "hasZscale">) {
  const { bitrate, ...processing } = request.output.audio!;
  const inputs = [facts.source, facts.ffmpeg.version, bitrate, timeline.segments, request.probed.info];
  const isProcessed = Object.keys(processing).length > 0;
  return `audio-${createFileKey(isProcessed ? [...inputs, processing, request.voice ?? null] : inputs)}.m4a`;
}

/** Returns whether the encoder may use zscale for this video. */
export async function findZscale(settings: ChunkSettings, ffmpeg: Ffmpeg): Promise<boolean> {
  const video = settings.probed.info.video!;
  return (isHdr(video) || canUseZscale(video, settings)) && (await hasZscaleFilter(ffmpeg));
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
