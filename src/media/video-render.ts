/** A render with a picture: picture and sound side by side, then one file of both. */
import { createHash, randomUUID } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../domain/errors";
import type { RenderRequest } from "../domain/media";
import type { Timeline } from "../domain/render-plan";
import { type Rational, TICKS_PER_SECOND } from "../domain/time";
import { joinPictures, muxTracks, timescaleFor } from "./chunk-join";
import { encodeChunks, joinedChunks, planChunks, type RenderTools } from "./chunked";
import type { Ffmpeg } from "./ffmpeg";
import { inParallel } from "./parallel";
import { checkJoins, encodeSmart, planSmart, writeSmartPicture } from "./smart-render";
import { NotSpliced } from "./smart-source";
import { renderSound } from "./sound";

type Report = (share: number) => void;

/** One way to make a picture. */
type Maker = {
  frameCount: number;
  encodedCount: number;
  constantRate: Rational | null;
  /** Does the slow part. */
  encode(signal: AbortSignal, onFrames: (frames: number) => void): Promise<void>;
  /** Writes the picture as a file of its own. */
  write(path: string, signal: AbortSignal | undefined): Promise<void>;
  /** Looks at the finished file. */
  check(path: string): Promise<void>;
  warnings: string[];
};

/** Encodes the whole picture in chunks. Errors: as `encodeChunks`, `joinPictures` and `muxTracks`. Returns warnings. */
export async function renderChunked(
  request: RenderRequest,
  timeline: Timeline,
  tools: RenderTools,
  progress: Report,
): Promise<string[]> {
  const plan = planChunks(request, timeline, tools);
  const warnings: string[] = [];
  let paths: string[] = [];
  return await makeVideo(request, timeline, tools, progress, {
    frameCount: plan.frameCount,
    encodedCount: plan.frameCount,
    constantRate: plan.output.constantRate,
    warnings,
    async encode(signal, onFrames) {
      const encoded = await encodeChunks(plan, request.workDir, { ...tools, signal }, onFrames);
      paths = encoded.paths;
      const { repaired, reused } = encoded;
      const fields = { chunks: paths.length, reused, repaired, frames: plan.frameCount, encoder: tools.encoder };
      tools.log?.("render.chunked", fields);
      if (repaired > 0)
        warnings.push("some frames of the source could not be decoded; their neighbours stand for them");
    },
    async write(outputPath, signal) {
      const rate = plan.output.constantRate;
      await joinPictures({
        ...{ chunks: joinedChunks(plan, paths), constantRate: rate === null ? null : rate.num / rate.den, outputPath },
        ...(signal === undefined ? {} : { signal }),
      });
    },
    check: async () => {},
  });
}

/** Copies what can be copied. Errors: `NotSpliced` with the reason why it must be rendered in chunks; else as `renderChunked`. */
export async function renderSmart(
  request: RenderRequest,
  timeline: Timeline,
  tools: RenderTools,
  progress: Report,
): Promise<string[]> {
  const plan = await planSmart(request, timeline, tools);
  try {
    let paths: string[] = [];
    return await makeVideo(request, timeline, tools, progress, {
      frameCount: plan.frameCount,
      encodedCount: plan.encodedCount,
      constantRate: plan.output.constantRate,
      warnings: [],
      async encode(signal, onFrames) {
        const encoded = await encodeSmart(plan, request, { ...tools, signal }, onFrames).catch(asNotSpliced);
        paths = encoded.paths;
        tools.log?.("render.smart", {
          ...{ frames: plan.frameCount, encoded: plan.encodedCount, share: plan.encodedCount / plan.frameCount },
          ...{ pieces: plan.pieces.length, chunks: paths.length, reused: encoded.reused },
        });
      },
      write: (path, signal) => writeSmartPicture(plan, paths, path, signal),
      check: (path) => checkJoins(plan, path, request.workDir, tools),
    });
  } finally {
    plan.source.close();
  }
}

/** A full disk is one for every way to render; anything else may go better from scratch. */
function asNotSpliced(error: unknown): never {
  if (error instanceof AppError && error.code === "processing_failed") throw new NotSpliced(error.message);
  throw error;
}

/** What a frame and a second of sound cost: progress is measured by it. */
const PIXELS_A_SECOND = 40e6;
const SOUND_SECONDS_A_SECOND = 80;
const ENCODE_SHARE = 0.94;

async function makeVideo(
  request: RenderRequest,
  timeline: Timeline,
  tools: RenderTools,
  progress: Report,
  maker: Maker,
): Promise<string[]> {
  const { workDir, outputPath, output, probed } = request;
  const { ffmpeg, signal } = tools;
  const pictureCost = (maker.encodedCount * output.video!.width * output.video!.height) / PIXELS_A_SECOND;
  const soundCost = output.audio === null ? 0 : probed.info.duration / TICKS_PER_SECOND / SOUND_SECONDS_A_SECOND;
  let [picture, sound] = [0, 0];
  const report = () =>
    progress((ENCODE_SHARE * (picture * pictureCost + sound * soundCost)) / Math.max(1e-9, pictureCost + soundCost));
  let soundName: string | null = null;
  await inParallel(2, 2, signal, async (n, both) => {
    if (n === 0)
      await maker.encode(both, (frames) => {
        picture = frames / Math.max(1, maker.encodedCount);
        report();
      });
    else
      soundName = await soundTrack(request, timeline, ffmpeg, both, (share) => {
        sound = share;
        report();
      });
  });
  const pictureName = `picture-${randomUUID()}.mp4`;
  try {
    await maker.write(join(workDir, pictureName), signal);
    await muxTracks({
      ...{ ffmpeg, workDir, pictureName, soundName, frameCount: maker.frameCount, format: output.format, outputPath },
      timescale: timescaleFor(maker.constantRate),
      ...(signal === undefined ? {} : { signal }),
    });
    await maker.check(outputPath);
  } catch (error) {
    await rm(outputPath, { force: true });
    throw error;
  } finally {
    await rm(join(workDir, pictureName), { force: true });
  }
  return maker.warnings;
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
  const name = `sound-${createHash("sha256").update(JSON.stringify(depends)).digest("hex").slice(0, 24)}.m4a`;
  const path = join(request.workDir, name);
  if (!(await Bun.file(path).exists()))
    await renderSound({
      ...{
        ffmpeg,
        path: request.sourcePath,
        probed: request.probed,
        slices: timeline.segments,
        format: "mp4" as const,
      },
      ...{ bitrate, outputPath: path, signal, onProgress },
    });
  onProgress(1);
  return name;
}
