/** A render with a picture: picture and sound side by side, then one file of both. */
import { createHash, randomUUID } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../domain/errors";
import type { RenderRequest } from "../domain/media";
import type { Timeline } from "../domain/render-plan";
import { type Rational, TICKS_PER_SECOND } from "../domain/time";
import { encodeChunks, joinedChunks, planChunks, type RenderTools } from "./chunked";
import { openFeed } from "./chunks/feed";
import { joinPictures, muxTracks, timescaleFor } from "./chunks/join";
import type { Ffmpeg } from "./ffmpeg";
import { NotSpliced } from "./packets/source";
import { inParallel, Paused } from "./parallel";
import { type RenderWork, type Stage, stagedProgress } from "./render-progress";
import { checkedWindows, checkJoins, encodeSmart, planSmart, writeSmartPicture } from "./smart-render";
import { renderSound } from "./sound";

type Report = (share: number) => void;

/** One way to make a picture. */
type Maker = {
  codec: "h264" | "hevc";
  encoding: RenderWork["encoding"];
  frameCount: number;
  encodedCount: number;
  constantRate: Rational | null;
  /** Does the slow part. */
  encode(signal: AbortSignal, onFrames: (frames: number) => void): Promise<void>;
  /** Writes the picture as a file of its own. */
  write(path: string, signal: AbortSignal | undefined, onFrames: (frames: number) => void): Promise<void>;
  /** Frames that looking at the finished file decodes. */
  checkedCount: number;
  /** Looks at the finished file. */
  check(path: string, onFrames: (frames: number) => void): Promise<void>;
  warnings: string[];
};

/** Encodes the whole picture in chunks. Errors: as `encodeChunks`, `joinPictures` and `muxTracks`. Returns warnings. */
export async function renderChunked(
  request: RenderRequest,
  timeline: Timeline,
  tools: RenderTools,
  progress: Report,
): Promise<string[]> {
  const warnings: string[] = [];
  let paths: string[] = [];
  const feed = await openFeed(request.sourcePath, request.probed, tools.signal);
  const plan = planChunks(request, timeline, tools, feed !== null, feed?.order ?? null);
  try {
    return await makeVideo(request, timeline, tools, progress, {
      codec: "h264",
      encoding: "whole",
      frameCount: plan.frameCount,
      encodedCount: plan.frameCount,
      constantRate: plan.output.constantRate,
      warnings,
      async encode(signal, onFrames) {
        const encoded = await encodeChunks(plan, request.workDir, { ...tools, signal }, feed, onFrames);
        paths = encoded.paths;
        const { repaired, reused } = encoded;
        const fields = { chunks: paths.length, reused, repaired, frames: plan.frameCount, encoder: tools.encoder };
        tools.log?.("render.chunked", fields);
        if (repaired > 0)
          warnings.push("some frames of the source could not be decoded; their neighbours stand for them");
      },
      async write(outputPath, signal, onFrames) {
        const rate = plan.output.constantRate;
        await joinPictures({
          ...{
            chunks: joinedChunks(plan, paths),
            constantRate: rate === null ? null : rate.num / rate.den,
            outputPath,
            onFrames,
          },
          ...(signal === undefined ? {} : { signal }),
        });
      },
      checkedCount: 0,
      check: async () => {},
    });
  } finally {
    feed?.close();
  }
}

/** Copies what can be copied. Errors: `NotSpliced` with the reason why it must be rendered in chunks; else as `renderChunked`. */
export async function renderSmart(
  request: RenderRequest,
  timeline: Timeline,
  tools: RenderTools,
  progress: Report,
): Promise<{ warnings: string[]; encodedShare: number }> {
  const plan = await planSmart(request, timeline, tools);
  const encodedShare = plan.encodedCount / plan.frameCount;
  try {
    let paths: string[] = [];
    const warnings = await makeVideo(request, timeline, tools, progress, {
      codec: plan.source.stream.codec,
      encoding: `pieces of ${plan.source.stream.codec}`,
      frameCount: plan.frameCount,
      encodedCount: plan.encodedCount,
      constantRate: plan.output.constantRate,
      warnings: [],
      async encode(signal, onFrames) {
        const encoded = await encodeSmart(plan, request, { ...tools, signal }, onFrames).catch(asNotSpliced);
        paths = encoded.paths;
        tools.log?.("render.smart", {
          ...{ frames: plan.frameCount, encoded: plan.encodedCount, share: encodedShare },
          ...{ pieces: plan.pieces.length, chunks: paths.length, reused: encoded.reused },
        });
      },
      write: (path, signal, onFrames) => writeSmartPicture(plan, paths, path, signal, onFrames),
      checkedCount: checkedWindows(plan).reduce((sum, { from, to }) => sum + to - from, 0),
      check: (path, onFrames) => checkJoins(plan, path, request.workDir, tools, onFrames),
    });
    return { warnings, encodedShare };
  } finally {
    plan.source.close();
  }
}

/** A full disk is one for every way to render; anything else may go better from scratch. */
function asNotSpliced(error: unknown): never {
  if (error instanceof AppError && error.code === "processing_failed") throw new NotSpliced(error.message);
  throw error;
}

async function makeVideo(
  request: RenderRequest,
  timeline: Timeline,
  tools: RenderTools,
  progress: Report,
  maker: Maker,
): Promise<string[]> {
  const { workDir, outputPath, output, probed } = request;
  const { ffmpeg, signal } = tools;
  const { encoding, encodedCount, checkedCount, frameCount } = maker;
  const report = stagedProgress(
    {
      ...{ encoding, encodedFrames: encodedCount, checkedFrames: checkedCount, frames: frameCount, lanes: tools.jobs },
      pixels: output.video!.width * output.video!.height,
      soundSeconds: output.audio === null ? 0 : probed.info.duration / TICKS_PER_SECOND,
    },
    progress,
  );
  const framesOf = (stage: Stage, count: number) => (frames: number) => report(stage, frames / Math.max(1, count));
  let soundName: string | null = null;
  let paused: Paused | null = null;
  await inParallel(2, 2, signal, async (n, both) => {
    if (n === 1) soundName = await soundTrack(request, timeline, ffmpeg, both, (share) => report("sound", share));
    else
      await maker.encode(both, framesOf("picture", encodedCount)).catch((error: unknown) => {
        // The sound is not made of chunks: begun again, it would have been for nothing.
        if (!(error instanceof Paused)) throw error;
        paused = error;
      });
  });
  if (paused !== null) throw paused;
  const pictureName = `picture-${randomUUID()}.mp4`;
  try {
    await maker.write(join(workDir, pictureName), signal, framesOf("write", frameCount));
    report("write", 1);
    await muxTracks({
      ...{ ffmpeg, workDir, pictureName, soundName, frameCount, format: output.format, outputPath },
      codec: maker.codec,
      timescale: timescaleFor(maker.constantRate),
      onFrames: framesOf("mux", frameCount),
      ...(signal === undefined ? {} : { signal }),
    });
    report("mux", 1);
    await maker.check(outputPath, framesOf("check", checkedCount));
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
      // The other cores have the picture.
      ...{ bitrate, outputPath: path, workDir: request.workDir, lanes: 1, signal, onProgress },
    });
  onProgress(1);
  return name;
}
