/**
 * Renders with video: encodes video and audio in parallel, then muxes both into one file while the splices are checked.
 */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../domain/errors";
import { JobYielded } from "../domain/jobs";
import type { RenderRequest } from "../domain/media";
import type { RenderTimeline } from "../domain/render-plan";
import { type Rational, TICKS_PER_SECOND } from "../domain/time";
import { runTogether } from "../lib/run-together";
import { assignChunkTimes, chooseLocalSizes, createAudioName, getThreadCount, planChunks } from "./chunked-plan";
import { encodeChunks, type RenderTools } from "./chunked-render";
import { chooseTimescale, concatChunks, muxTracks } from "./chunks/concat";
import { openExcerptSource } from "./chunks/excerpt";
import { readChunkSizes, writeChunkSizes } from "./chunks/sizes-file";
import type { VideoEncoder } from "./encoder-arguments";
import { checkLoudness, renderAudio } from "./leveled-audio";
import { SpliceError } from "./packets/source";
import { createRenderProgress, type ProgressListener, type RenderStage, type RenderWorkload } from "./render-progress";
import { checkSplices, encodeSmartSegments, listCheckWindows, planSmartRender, writeSmartVideo } from "./smart-render";
import { getSourceVersion } from "./source-version";
import { REPAIRED_WARNING } from "./warnings";

export type RenderRun = {
  request: RenderRequest;
  timeline: RenderTimeline;
  tools: RenderTools;
  progress: ProgressListener;
};

type VideoStrategy = {
  codec: "h264" | "hevc";
  encoding: RenderWorkload["encoding"];
  frameCount: number;
  encodedCount: number;
  constantRate: Rational | null;
  /** Encodes to files in the work folder: the slow part. */
  encode(signal: AbortSignal, onFrames: (frames: number) => void): Promise<void>;
  /** Writes the video track as a separate file. */
  write(path: string, signal: AbortSignal | undefined, onFrames: (frames: number) => void): Promise<void>;
  /** Number of frames that the check of the video track decodes. */
  checkedCount: number;
  /** Checks the file that `write` has written. Muxing copies its packets. */
  check(path: string, signal: AbortSignal, onFrames: (frames: number) => void): Promise<void>;
  warnings: string[];
  /** For the audio, if the video has one too. */
  cache?: RenderTools["cache"];
};

/** Encodes the video in chunks. Returns warnings. Errors: those of `encodeChunks`, `concatChunks`, `muxTracks`. */
export async function renderChunked(run: RenderRun, encoder: VideoEncoder): Promise<string[]> {
  const { request, timeline, tools } = run;
  const warnings: string[] = [];
  let paths: string[] = [];
  using packetSource = await openExcerptSource(request.sourcePath, request.probed, tools.signal);
  const plan = planChunks(request, timeline, {
    encoder,
    threads: getThreadCount(tools.maxProcesses),
    sizes: await openChunkSizes(request.workDir, timeline.frameCount, tools.maxProcesses),
    order: packetSource?.order ?? null,
  });
  return await renderVideo(run, {
    codec: "h264",
    encoding: "whole",
    frameCount: plan.frameCount,
    encodedCount: plan.frameCount,
    constantRate: plan.outputTimes.constantRate,
    warnings,
    async encode(signal, onFrames) {
      const encoded = await encodeChunks(plan, request.workDir, { ...tools, signal }, packetSource, onFrames);
      paths = encoded.paths;
      tools.log?.("render.chunks_encoded", {
        chunks: paths.length,
        reused_chunks: encoded.reused,
        repaired_chunks: encoded.repaired,
        frames: plan.frameCount,
        encoder,
      });
      if (encoded.repaired > 0) warnings.push(REPAIRED_WARNING);
    },
    async write(outputPath, signal, onFrames) {
      const rate = plan.outputTimes.constantRate;
      await concatChunks({
        chunks: assignChunkTimes(plan, paths),
        constantRate: rate === null ? null : rate.num / rate.den,
        outputPath,
        signal,
        onFrames,
      });
    },
    checkedCount: 0,
    check: async () => {},
  });
}

/** Returns the sizes of an earlier attempt, or chooses sizes for this machine and writes them for the next attempt. */
async function openChunkSizes(workDir: string, frameCount: number, maxProcesses: number): Promise<number[]> {
  const found = await readChunkSizes(workDir, frameCount);
  if (found !== null) return found;
  const sizes = chooseLocalSizes(frameCount, maxProcesses);
  await writeChunkSizes(workDir, sizes);
  return sizes;
}

/** Copies packets where possible. Errors: `SpliceError` if the video must be encoded; those of `renderChunked`. */
export async function renderSmart(run: RenderRun): Promise<{ warnings: string[]; encodedShare: number }> {
  const { request, timeline, tools } = run;
  const plan = await planSmartRender(request, timeline, tools);
  using source = plan.source;
  const encodedShare = plan.encodedCount / plan.frameCount;
  let paths: string[] = [];
  const warnings = await renderVideo(run, {
    codec: source.bitstream.codec,
    encoding: `${source.bitstream.codec} segments`,
    frameCount: plan.frameCount,
    encodedCount: plan.missingCount,
    constantRate: plan.outputTimes.constantRate,
    cache: tools.cache,
    warnings: [],
    async encode(signal, onFrames) {
      const encoded = await encodeSmartSegments(plan, request, { ...tools, signal }, onFrames).catch(
        rethrowAsSpliceError,
      );
      paths = encoded.paths;
      tools.log?.("render.segments_encoded", {
        frames: plan.frameCount,
        encoded_frames: plan.encodedCount,
        cached_frames: plan.encodedCount - plan.missingCount,
        encoded_share: encodedShare,
        segments: plan.segments.length,
        tasks: paths.length,
        reused_tasks: encoded.reused,
      });
    },
    write: (path, signal, onFrames) => writeSmartVideo(plan, paths, path, signal, onFrames),
    checkedCount: listCheckWindows(plan).reduce((sum, { from, to }) => sum + to - from, 0),
    check: (path, checkSignal, onFrames) =>
      checkSplices(plan, path, request.workDir, { ...tools, signal: checkSignal }, onFrames),
  });
  return { warnings, encodedShare };
}

/** Rethrows `processing_failed` as `SpliceError`, after which a full encode may succeed. Other errors are final. */
function rethrowAsSpliceError(error: unknown): never {
  if (error instanceof AppError && error.code === "processing_failed") throw new SpliceError(error.message);
  throw error;
}

async function renderVideo(
  { request, timeline, tools, progress }: RenderRun,
  strategy: VideoStrategy,
): Promise<string[]> {
  const { workDir, outputPath, output, probed } = request;
  const { ffmpeg, signal } = tools;
  const { encoding, encodedCount, checkedCount, frameCount } = strategy;
  const report = createRenderProgress(
    {
      encoding,
      encodedFrames: encodedCount,
      checkedFrames: checkedCount,
      frames: frameCount,
      processes: tools.maxProcesses,
      pixels: output.video!.width * output.video!.height,
      audioSeconds: output.audio === null ? 0 : probed.info.duration / TICKS_PER_SECOND,
    },
    progress,
  );
  const toFrameListener = (stage: RenderStage, count: number) => (frames: number) =>
    report(stage, frames / Math.max(1, count));
  const videoName = `video-${randomUUID()}.mp4`;
  const videoPath = join(workDir, videoName);
  const written = Promise.withResolvers<void>();
  const checked = Promise.withResolvers<void>();
  for (const { promise } of [written, checked]) promise.catch(() => {});
  const renderTrack = async (taskSignal: AbortSignal): Promise<void> => {
    try {
      await strategy.encode(taskSignal, toFrameListener("video", encodedCount));
      await strategy.write(videoPath, taskSignal, toFrameListener("write", frameCount));
      report("write", 1);
      written.resolve();
      await strategy.check(videoPath, taskSignal, toFrameListener("check", checkedCount));
      checked.resolve();
    } catch (error) {
      for (const { reject } of [written, checked]) reject(error);
      // The audio ends with this error, but is completed first: it has no resumable chunks, so a resumed render would
      // encode it again.
      if (!(error instanceof JobYielded)) throw error;
    }
  };
  let audioName: string | null = null;
  const renderAudioAndMux = async (taskSignal: AbortSignal): Promise<void> => {
    if (output.audio !== null) {
      const audioTools = { ffmpeg, signal: taskSignal, cache: strategy.cache };
      const audio = await encodeAudioTrack(request, timeline, audioTools, (share) => report("audio", share));
      audioName = audio.name;
      strategy.warnings.push(...audio.warnings);
    }
    await written.promise;
    const muxing = muxTracks({
      ffmpeg,
      workDir,
      videoName,
      audioName,
      frameCount,
      format: output.format,
      outputPath,
      codec: strategy.codec,
      timescale: chooseTimescale(strategy.constantRate),
      onFrames: toFrameListener("mux", frameCount),
      signal: taskSignal,
    });
    // If the check fails too, its error is the reason.
    await muxing.catch((error: unknown) => checked.promise.then(() => Promise.reject(error)));
    report("mux", 1);
  };
  try {
    await runTogether(signal, [renderTrack, renderAudioAndMux]);
  } catch (error) {
    await rm(outputPath, { force: true });
    // The next attempt may be one without the cache.
    if (audioName !== null && (strategy.cache?.hits() ?? 0) > 0) await rm(join(workDir, audioName), { force: true });
    throw error;
  } finally {
    await rm(videoPath, { force: true });
  }
  return strategy.warnings;
}

/**
 * Writes the audio of a video to the work folder, under a name that is a hash of its inputs, unless it exists. Errors:
 * those of `renderAudio`.
 */
export async function encodeAudioTrack(
  request: RenderRequest,
  timeline: RenderTimeline,
  tools: Pick<RenderTools, "ffmpeg" | "signal" | "cache">,
  onProgress: ProgressListener,
): Promise<{ name: string; warnings: string[] }> {
  const { ffmpeg, signal, cache } = tools;
  const name = createAudioName(request, timeline, { ffmpeg, source: await getSourceVersion(request.sourcePath) });
  const path = join(request.workDir, name);
  const { bitrate, ...processing } = request.output.audio!;
  const options = {
    ffmpeg,
    path: request.sourcePath,
    probed: request.probed,
    segments: timeline.segments,
    format: "mp4" as const,
    bitrate,
    processing,
    voice: request.voice,
    outputPath: path,
    workDir: request.workDir,
    // The other cores encode video.
    maxEncoders: 1,
    signal,
    cache,
    onProgress,
  };
  let warnings: string[] = [];
  if (!(await Bun.file(path).exists())) warnings = await renderAudio(options);
  else if (processing.loudness !== undefined) warnings = await checkLoudness(options, processing.loudness);
  onProgress(1);
  return { name, warnings };
}
