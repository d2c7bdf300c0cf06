/** Renders a source, whole or cut, to a finished file: the one entry point. */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../domain/errors";
import type { RenderRequest, RenderResult } from "../domain/media";
import { placeSegments, type Timeline } from "../domain/render-plan";
import { TICKS_PER_SECOND } from "../domain/time";
import { joinPictures, muxTracks, timescaleFor } from "./chunk-join";
import { encodeChunks, planChunks, type RenderTools } from "./chunked";
import { VIDEO_ENCODERS } from "./encoder-arguments";
import type { Ffmpeg } from "./ffmpeg";
import { inParallel } from "./parallel";
import { renderSound } from "./sound";
import { warningsFor } from "./warnings";
import { asStorageError } from "./work-files";

/**
 * Renders. A repeated call with the same work folder goes on where the last one stopped. Errors: `AppError` `storage_full`,
 * `processing_failed`; the signal's reason when aborted, within three seconds and without an output file.
 */
export async function renderMedia(
  request: RenderRequest,
  tools: {
    ffmpeg: Ffmpeg;
    encoder: string;
    jobs: number;
    signal?: AbortSignal;
    onProgress?: (share: number) => void;
    log?: (event: string, fields: object) => void;
  },
): Promise<RenderResult> {
  const encoder = VIDEO_ENCODERS.find((name) => name === tools.encoder);
  if (encoder === undefined) throw new AppError("processing_failed", `unknown encoder ${tools.encoder}`);
  const timeline = placeSegments(request.probed, request.segments);
  if (timeline.segments.length === 0) throw new AppError("processing_failed", "nothing is left to render");
  const progress = monotonic(tools.onProgress);
  try {
    await mkdir(request.workDir, { recursive: true });
    const withEncoder = { ...tools, jobs: Math.max(1, tools.jobs), encoder };
    const strategy = request.output.video === null ? "audio" : "chunked";
    const found =
      strategy === "audio"
        ? await renderAudioOnly(request, timeline, withEncoder, progress)
        : await renderChunked(request, timeline, withEncoder, progress);
    tools.signal?.throwIfAborted();
    const { size } = await stat(request.outputPath);
    progress(1);
    return { strategy, sizeBytes: size, duration: timeline.duration, warnings: [...warningsFor(request), ...found] };
  } catch (error) {
    tools.signal?.throwIfAborted();
    throw asStorageError(error);
  }
}

type Report = (share: number) => void;

/** Progress never goes back, whatever is counted again. */
function monotonic(onProgress: Report | undefined): Report {
  let last = 0;
  return (share) => {
    const next = Math.min(1, share);
    if (next <= last) return;
    last = next;
    onProgress?.(next);
  };
}

async function renderAudioOnly(
  request: RenderRequest,
  timeline: Timeline,
  tools: RenderTools,
  progress: Report,
): Promise<string[]> {
  await renderSound({
    ffmpeg: tools.ffmpeg,
    path: request.sourcePath,
    probed: request.probed,
    slices: timeline.segments,
    format: request.output.format,
    bitrate: request.output.audio!.bitrate,
    outputPath: request.outputPath,
    onProgress: (share) => progress(share * 0.99),
    ...(tools.signal === undefined ? {} : { signal: tools.signal }),
  });
  return [];
}

/** Shares of the work: pixels encoded and seconds of sound, by what they cost; the rest is joining. */
const PIXELS_A_SECOND = 40e6;
const SOUND_SECONDS_A_SECOND = 80;
const ENCODE_SHARE = 0.97;

async function renderChunked(
  request: RenderRequest,
  timeline: Timeline,
  tools: RenderTools,
  progress: Report,
): Promise<string[]> {
  const plan = planChunks(request, timeline, tools);
  const pictureCost = (plan.frameCount * plan.settings.width * plan.settings.height) / PIXELS_A_SECOND;
  const soundCost =
    request.output.audio === null ? 0 : request.probed.info.duration / TICKS_PER_SECOND / SOUND_SECONDS_A_SECOND;
  let picture = 0;
  let sound = 0;
  const report = () =>
    progress((ENCODE_SHARE * (picture * pictureCost + sound * soundCost)) / Math.max(1e-9, pictureCost + soundCost));
  const encodePicture = (signal: AbortSignal) =>
    encodeChunks(plan, request.workDir, { ...tools, signal }, (frames) => {
      picture = frames / plan.frameCount;
      report();
    });
  const encodeSound = (signal: AbortSignal) =>
    soundTrack(request, timeline, tools.ffmpeg, signal, (share) => {
      sound = share;
      report();
    });

  let encoded: Awaited<ReturnType<typeof encodeChunks>> | null = null;
  let soundName: string | null = null;
  await inParallel(2, 2, tools.signal, async (n, signal) => {
    if (n === 0) encoded = await encodePicture(signal);
    else soundName = await encodeSound(signal);
  });
  const { chunks, repaired, reused } = encoded!;
  const { workDir, outputPath, output } = request;
  const fields = { chunks: chunks.length, reused, repaired, frames: plan.frameCount, encoder: tools.encoder };
  tools.log?.("render.chunked", fields);
  const rate = plan.output.constantRate;
  const pictureName = `picture-${randomUUID()}.mp4`;
  const { ffmpeg, signal } = tools;
  const cancel = signal === undefined ? {} : { signal };
  try {
    const constantRate = rate === null ? null : rate.num / rate.den;
    await joinPictures({ chunks, constantRate, outputPath: join(workDir, pictureName), ...cancel });
    const { format } = output;
    const { frameCount } = plan;
    const timescale = timescaleFor(rate);
    await muxTracks({ ffmpeg, workDir, pictureName, soundName, frameCount, timescale, format, outputPath, ...cancel });
  } finally {
    await rm(join(workDir, pictureName), { force: true });
  }
  return repaired > 0 ? ["some frames of the source could not be decoded; their neighbours stand for them"] : [];
}

/** The sound of a video, in the work folder under a name that holds what it depends on. Null when there is none. */
async function soundTrack(
  request: RenderRequest,
  timeline: Timeline,
  ffmpeg: Ffmpeg,
  signal: AbortSignal,
  onProgress: Report,
): Promise<string | null> {
  if (request.output.audio === null) return null;
  const { size, mtimeMs } = await stat(request.sourcePath);
  const { bitrate } = request.output.audio;
  const depends = [size, mtimeMs, ffmpeg.version, bitrate, timeline.segments, request.probed.info];
  const name = `sound-${createHash("sha256").update(JSON.stringify(depends)).digest("hex").slice(0, 16)}.m4a`;
  const path = join(request.workDir, name);
  if (!(await Bun.file(path).exists()))
    await renderSound({
      ffmpeg,
      path: request.sourcePath,
      probed: request.probed,
      slices: timeline.segments,
      format: "mp4",
      bitrate,
      outputPath: path,
      signal,
      onProgress,
    });
  onProgress(1);
  return name;
}
