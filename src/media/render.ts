/** Renders a source, whole or cut, to a finished file. This is the entry point of all renders. */
import { mkdir, stat } from "node:fs/promises";
import { AppError } from "../domain/errors";
import { JobYielded } from "../domain/jobs";
import type { RenderRequest, RenderResult } from "../domain/media";
import { listAudioChanges, listRequestedChanges } from "../domain/render-output";
import { placeSegments } from "../domain/render-plan";
import { toStorageError } from "../domain/storage-full";
import { createIncreasingProgress } from "../lib/progress";
import type { RenderTools } from "./chunked-render";
import { VIDEO_ENCODERS, type VideoEncoder } from "./encoder-arguments";
import { renderAudio } from "./leveled-audio";
import { SpliceError } from "./packets/source";
import type { ProgressListener } from "./render-progress";
import { type RenderRun, renderChunked, renderSmart } from "./video-render";
import { listRenderWarnings } from "./warnings";

/**
 * Renders to `request.outputPath`. A repeated call with the same work folder resumes where the last one stopped. Logs
 * `render.segments_encoded` or `render.chunks_encoded`, and `render.fell_back` with the reason for a change of
 * strategy. Errors: `AppError` `storage_full`, `processing_failed`; the signal's reason if aborted, within three
 * seconds and without an output file; `JobYielded` between two chunks of video if `shouldYield` returns true.
 */
export async function renderMedia(
  request: RenderRequest,
  tools: Omit<RenderTools, "encoder"> & {
    /** Called when video is encoded as a whole. Finding an encoder that works takes longer than most joins. */
    chooseEncoder(): Promise<string>;
    onProgress?: ProgressListener | undefined;
  },
): Promise<RenderResult> {
  const timeline = placeSegments(request.probed, request.segments);
  if (timeline.segments.length === 0) throw new AppError("processing_failed", "There is nothing to render.");
  // A fallback starts again from 0.
  const progress = createIncreasingProgress(tools.onProgress ?? (() => {}));
  try {
    await mkdir(request.workDir, { recursive: true });
    const runTools = { ...tools, maxProcesses: Math.max(1, tools.maxProcesses) };
    const rendered = await renderWithFallback({ request, timeline, tools: runTools, progress }, async () => {
      const chosen = await tools.chooseEncoder();
      const encoder = VIDEO_ENCODERS.find((name) => name === chosen);
      if (encoder === undefined) throw new AppError("processing_failed", `Unknown encoder ${chosen}.`);
      return encoder;
    });
    tools.signal?.throwIfAborted();
    const { size } = await stat(request.outputPath);
    await tools.cache?.save();
    progress(1);
    const warnings = [...listRenderWarnings(request, rendered.strategy === "smart"), ...rendered.warnings];
    const usesCache = (tools.cache?.hits() ?? 0) > 0;
    return { ...rendered, sizeBytes: size, duration: timeline.duration, warnings, usesCache };
  } catch (error) {
    tools.signal?.throwIfAborted();
    throw toStorageError(error);
  }
}

type StrategyResult = Pick<RenderResult, "strategy" | "encodedShare" | "reasons" | "warnings">;

/** Tries the strategies from the fastest to the most robust. */
async function renderWithFallback(run: RenderRun, chooseEncoder: () => Promise<VideoEncoder>): Promise<StrategyResult> {
  const { request, tools } = run;
  if (request.output.video === null) return await renderAudioOnly(run);
  const reasons = listRequestedChanges(request.probed, request.output);
  if (request.output.matchesSource)
    for (;;)
      try {
        return { strategy: "smart", reasons: listAudioChanges(request.output), ...(await renderSmart(run)) };
      } catch (error) {
        const reason = toFallbackReason(error, tools.signal);
        const { cache } = tools;
        if (cache !== undefined && cache.hits() > 0) {
          // An entry may be wrong although it is not damaged.
          tools.log?.("render.cache_dropped", { reason });
          await cache.reset();
          continue;
        }
        tools.log?.("render.fell_back", { from: "smart", to: "chunked", reason });
        await cache?.reset();
        reasons.push(reason);
        break;
      }
  const chunked = { strategy: "chunked", encodedShare: 1, reasons } as const;
  const encoder = await chooseEncoder();
  try {
    return { ...chunked, warnings: await renderChunked(run, encoder) };
  } catch (error) {
    const isHardwareEncoder = encoder !== "libx264";
    if (!isHardwareEncoder || !(error instanceof AppError) || error.code !== "processing_failed") throw error;
    tools.log?.("render.fell_back", { from: encoder, to: "libx264", reason: formatFailure(error) });
    const warnings = await renderChunked(run, "libx264");
    return { ...chunked, warnings: [...warnings, `Encoder ${encoder} failed; libx264 was used.`] };
  }
}

/**
 * Returns the reason why smart rendering failed, for the log. A damaged source makes its packet reader throw errors of
 * any kind. Rethrows errors that would also stop another strategy.
 */
function toFallbackReason(error: unknown, signal: AbortSignal | undefined): string {
  signal?.throwIfAborted();
  if (error instanceof SpliceError) return error.message;
  const cause = toStorageError(error);
  if (cause instanceof AppError || cause instanceof JobYielded || !(cause instanceof Error)) throw cause;
  return `The source's packets cannot be read: ${cause.message}`;
}

function formatFailure(error: AppError): string {
  const { cause } = error.details;
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
}

async function renderAudioOnly({ request, timeline, tools, progress }: RenderRun): Promise<StrategyResult> {
  const { bitrate, ...processing } = request.output.audio!;
  const warnings = await renderAudio({
    ffmpeg: tools.ffmpeg,
    path: request.sourcePath,
    probed: request.probed,
    segments: timeline.segments,
    format: request.output.format,
    bitrate,
    processing,
    voice: request.voice,
    outputPath: request.outputPath,
    workDir: request.workDir,
    maxEncoders: tools.maxProcesses,
    onProgress: (share) => progress(share * 0.99),
    signal: tools.signal,
  });
  return { strategy: "audio", encodedShare: null, reasons: [], warnings };
}
