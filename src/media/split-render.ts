/** A render whose chunks are planned on one machine and encoded on others, then joined from its work folder. */
import { join } from "node:path";
import { chooseChunkSizes, type PlaceSpeed } from "../domain/chunk-sizes";
import type { RenderRequest } from "../domain/media";
import { placeSegments } from "../domain/render-plan";
import { TICKS_PER_SECOND } from "../domain/time";
import {
  type ChunkedPlan,
  createAudioName,
  createChunkNames,
  findZscale,
  getThreadCount,
  planChunks,
} from "./chunked-plan";
import { type ChunkSettings, type ChunkTask, encodeChunk } from "./chunks/encode";
import { openChunkSource, openExcerptSource } from "./chunks/excerpt";
import { parseChunkSizes } from "./chunks/sizes-file";
import type { VideoEncoder } from "./encoder-arguments";
import type { Ffmpeg, RecordingFile } from "./ffmpeg";
import { getSourceVersion } from "./source-version";
import { encodeAudioTrack } from "./video-render";

/** Shorter renders stay on one machine. */
export const MIN_SPLIT_SECONDS = 30;

const OTHER_MACHINE = "The chunk was planned for another source, ffmpeg or encoder.";

/** The settings that all chunks of a split render share, as plain JSON. The source and its probe result are files. */
export type SplitSettings = Omit<ChunkSettings, "sourcePath" | "probed" | "threads">;

/** A chunk as plain JSON. `name` is the name of its file. */
export type SplitTask = { name: string; task: ChunkTask };

/**
 * The plan of a split render. `whole`: it runs on one machine. `sizes`: chunk sizes, for `writeChunkSizes`. `audio`:
 * the name of the audio file; null without audio.
 */
export type SplitPlan =
  | { strategy: "whole" }
  | {
      strategy: "chunked";
      settings: SplitSettings;
      tasks: SplitTask[];
      sizes: number[];
      frameCount: number;
      audio: string | null;
      seconds: number;
    };

export type SplitOptions = {
  ffmpeg: Ffmpeg;
  encoder: VideoEncoder;
  /** The machines that will encode, with speeds in output pixels per second and slot. */
  places: readonly { slots: number; pixelsPerSecond: number | null }[];
  /** The sizes of an earlier attempt, which are used if they fit. */
  sizes: readonly number[] | null;
  signal?: AbortSignal | undefined;
};

/** About 1080p at 25 frames per second, on one core. */
export const FALLBACK_PIXELS_PER_SECOND = 52e6;

/** Plans the chunks of a render. Errors: the signal's reason; a plain `Error` if the source is missing. */
export async function planSplit(request: RenderRequest, options: SplitOptions): Promise<SplitPlan> {
  const { ffmpeg, encoder, signal } = options;
  const { output, probed } = request;
  if (output.video === null || output.matchesSource || probed.frames === null) return { strategy: "whole" };
  const timeline = placeSegments(probed, request.segments);
  const seconds = timeline.duration / TICKS_PER_SECOND;
  if (seconds < MIN_SPLIT_SECONDS) return { strategy: "whole" };
  using source = await openExcerptSource(request.sourcePath, probed, signal);
  const sizes = parseChunkSizes(options.sizes, timeline.frameCount) ?? chooseSizes(request, timeline, options);
  const plan = planChunks(request, timeline, { encoder, threads: 1, sizes, order: source?.order ?? null });
  const version = await getSourceVersion(request.sourcePath);
  const names = createChunkNames(plan, {
    ffmpeg,
    hasZscale: await findZscale(plan.settings, ffmpeg),
    source: version,
  });
  return {
    strategy: "chunked",
    settings: toSplitSettings(plan.settings),
    tasks: plan.tasks.map((task, n) => ({ name: names[n]!, task })),
    sizes,
    frameCount: plan.frameCount,
    audio: output.audio === null ? null : createAudioName(request, timeline, { ffmpeg, source: version }),
    seconds,
  };
}

/** Sizes are in frames of the source, speeds in frames of the output. */
function chooseSizes(
  { output, probed }: RenderRequest,
  timeline: { frameCount: number; duration: number },
  { places }: SplitOptions,
): number[] {
  const { width, height, frameRate } = output.video!;
  const rate = frameRate ?? probed.frames!.rate;
  const outputFrames = Math.max(1, (timeline.duration / TICKS_PER_SECOND) * (rate.num / rate.den));
  const framesPerPixel = timeline.frameCount / outputFrames / (width * height);
  const speeds = places.map(
    ({ slots, pixelsPerSecond }): PlaceSpeed => ({
      slots,
      framesPerSecond: pixelsPerSecond === null ? null : pixelsPerSecond * framesPerPixel,
    }),
  );
  return chooseChunkSizes(timeline.frameCount, speeds, FALLBACK_PIXELS_PER_SECOND * framesPerPixel);
}

function toSplitSettings({ width, height, frameRate, quality, encoder, disableBFrames }: ChunkedPlan["settings"]) {
  return { width, height, frameRate, quality, encoder, disableBFrames };
}

export type EncodeSplitOptions = Omit<RecordingFile, "path"> & {
  sourcePath: string;
  settings: SplitSettings;
  chunk: SplitTask;
  /** The folder for the file. */
  workDir: string;
  /** Number of chunks that this machine encodes at the same time. */
  maxProcesses: number;
  onProgress?: ((share: number) => void) | undefined;
};

/**
 * Encodes one chunk to a file with its name. Errors: those of `encodeChunk`; a plain `Error` if this machine would
 * produce a different file, because its source or its ffmpeg differs.
 */
export async function encodeSplitChunk(options: EncodeSplitOptions): Promise<{ repaired: boolean }> {
  const { ffmpeg, sourcePath, probed, chunk, signal } = options;
  const { task } = chunk;
  const settings = { ...options.settings, sourcePath, probed, threads: getThreadCount(options.maxProcesses) };
  const hasZscale = await findZscale(settings, ffmpeg);
  const source = await getSourceVersion(sourcePath);
  const [name] = createChunkNames({ settings, tasks: [task] }, { ffmpeg, hasZscale, source });
  if (name !== chunk.name) throw new Error(OTHER_MACHINE);
  using packetSource = await openChunkSource(sourcePath, probed, task.chunk, signal);
  return await encodeChunk({
    ffmpeg,
    hasZscale,
    settings,
    task,
    path: join(options.workDir, name),
    packetSource,
    signal,
    onFrames: (frames) => options.onProgress?.(Math.min(1, frames / task.frameCount)),
  });
}

/** Encodes the audio of a split render. Errors: those of `encodeSplitChunk` and of `encodeAudioTrack`. */
export async function encodeSplitAudio(
  request: RenderRequest,
  options: {
    ffmpeg: Ffmpeg;
    name: string;
    signal?: AbortSignal | undefined;
    onProgress?: ((share: number) => void) | undefined;
  },
): Promise<void> {
  const { ffmpeg, signal, onProgress = () => {} } = options;
  const timeline = placeSegments(request.probed, request.segments);
  const source = await getSourceVersion(request.sourcePath);
  if (createAudioName(request, timeline, { ffmpeg, source }) !== options.name) throw new Error(OTHER_MACHINE);
  await encodeAudioTrack(request, timeline, { ffmpeg, signal }, onProgress);
}
