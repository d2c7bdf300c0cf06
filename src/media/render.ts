/** Renders a source, whole or cut, to a finished file: the one entry point. */
import { mkdir, stat } from "node:fs/promises";
import { AppError } from "../domain/errors";
import type { RenderRequest, RenderResult } from "../domain/media";
import { changesAsked } from "../domain/render-output";
import { placeSegments, type Timeline } from "../domain/render-plan";
import type { Semaphore } from "../lib/semaphore";
import type { RenderTools } from "./chunked";
import { VIDEO_ENCODERS } from "./encoder-arguments";
import type { Ffmpeg } from "./ffmpeg";
import { NotSpliced } from "./packets/source";
import { Paused } from "./parallel";
import { renderSound } from "./sound";
import { renderChunked, renderSmart } from "./video-render";
import { warningsFor } from "./warnings";
import { asStorageError } from "./work-files";

/**
 * Renders. A repeated call with the same work folder goes on where the last one stopped. Logs `render.smart` or `render.chunked` with
 * figures, `render.fallback` with the reason why a way was left. Errors: `AppError` `storage_full`, `processing_failed`; the signal's reason
 * when aborted, within three seconds and without an output file; `Paused` between two chunks of a picture when `shouldPause` says so.
 */
export async function renderMedia(
  request: RenderRequest,
  tools: {
    ffmpeg: Ffmpeg;
    encoder: string;
    jobs: number;
    signal?: AbortSignal;
    shouldPause?: () => boolean;
    encoderSemaphore?: Semaphore;
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
    const resolved: RenderTools = { ...tools, jobs: Math.max(1, tools.jobs), encoder };
    const made = await make(request, timeline, resolved, progress);
    tools.signal?.throwIfAborted();
    const { size } = await stat(request.outputPath);
    progress(1);
    const warnings = [...warningsFor(request, made.strategy === "smart"), ...made.warnings];
    return { ...made, sizeBytes: size, duration: timeline.duration, warnings };
  } catch (error) {
    tools.signal?.throwIfAborted();
    throw asStorageError(error);
  }
}

type Report = (share: number) => void;
type Made = Pick<RenderResult, "strategy" | "encodedShare" | "reasons" | "warnings">;

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

/** The fastest way that gives the right result; the next one when it turns out not to. */
async function make(request: RenderRequest, timeline: Timeline, tools: RenderTools, progress: Report): Promise<Made> {
  if (request.output.video === null) return await renderAudio(request, timeline, tools, progress);
  const reasons = changesAsked(request.probed, request.output);
  if (request.output.matchesSource)
    try {
      return { strategy: "smart", reasons, ...(await renderSmart(request, timeline, tools, progress)) };
    } catch (error) {
      const reason = whyNotSpliced(error, tools.signal);
      tools.log?.("render.fallback", { from: "smart", to: "chunked", reason });
      reasons.push(reason);
    }
  const chunked = { strategy: "chunked", encodedShare: 1, reasons } as const;
  try {
    return { ...chunked, warnings: await renderChunked(request, timeline, tools, progress) };
  } catch (error) {
    const graphics = tools.encoder !== "libx264";
    if (!graphics || !(error instanceof AppError) || error.code !== "processing_failed") throw error;
    tools.log?.("render.fallback", { from: tools.encoder, to: "libx264", reason: reasonOf(error) });
    const warnings = await renderChunked(request, timeline, { ...tools, encoder: "libx264" }, progress);
    return { ...chunked, warnings: [...warnings, `the encoder ${tools.encoder} failed; libx264 was used`] };
  }
}

/** A damaged source makes its reader fail in ways of its own. Throws what another way to render would meet too. */
function whyNotSpliced(error: unknown, signal: AbortSignal | undefined): string {
  signal?.throwIfAborted();
  if (error instanceof NotSpliced) return error.message;
  const cause = asStorageError(error);
  if (cause instanceof AppError || cause instanceof Paused || !(cause instanceof Error)) throw cause;
  return `the source's packets cannot be read: ${cause.message}`;
}

function reasonOf(error: AppError): string {
  const { cause } = error.details;
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
}

async function renderAudio(
  request: RenderRequest,
  timeline: Timeline,
  tools: RenderTools,
  progress: Report,
): Promise<Made> {
  await renderSound({
    ...{ ffmpeg: tools.ffmpeg, path: request.sourcePath, probed: request.probed, slices: timeline.segments },
    ...{ format: request.output.format, bitrate: request.output.audio!.bitrate, outputPath: request.outputPath },
    workDir: request.workDir,
    lanes: tools.jobs,
    onProgress: (share) => progress(share * 0.99),
    ...(tools.signal === undefined ? {} : { signal: tools.signal }),
  });
  return { strategy: "audio", encodedShare: null, reasons: [], warnings: [] };
}
