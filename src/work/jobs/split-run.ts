/**
 * The pieces of a render that runs at several places: planning its chunks, and encoding one of them. Each runs in a
 * child process. `runRender` joins them.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../domain/errors";
import type { ResolvedOutput } from "../../domain/media";
import { type Ticks, toSeconds } from "../../domain/time";
import { withKnownFilters } from "../../media/chunks/scale";
import type { SplitOptions, SplitPlan, SplitSettings, SplitTask } from "../../media/split-render";
import type { RunOptions } from "../job-child/child";
import { type JobChild, openJobChild } from "../job-child/child";
import { getTimeLimits } from "../job-child/limits";
import type { JobOperations } from "../job-child/operations";
import { toMediaOptions } from "../job-child/plan-child";
import { commitFile, openScratchFolder } from "../job-child/scratch";
import { findBlob, removePartFiles } from "./blob-files";
import type { JobOutput, RunContext } from "./definition";
import type { MediaTools } from "./media-tools";
import { getSourceFiles, listSourceFiles, type RenderBlobs, type RenderInput } from "./render-run";

type SplitTools = Omit<MediaTools, "speech" | "temporaryFolder">;

export type SplitInput = RenderInput & Pick<SplitOptions, "places" | "sizes">;

/** `blobs` is empty. */
export type SplitOutput = JobOutput & { plan: SplitPlan };

/** Plans the chunks of a render. Errors: `JobKilled`; the signal's reason when aborted. */
export async function runSplit(tools: SplitTools, input: SplitInput, context: RunContext): Promise<SplitOutput> {
  const { plan, output, places, sizes } = input;
  const encoder = await tools.encoder();
  const ffmpeg = await withKnownFilters(tools.ffmpeg);
  await using child = openSplitChild(tools, input.blobs, context, []);
  const files = getSourceFiles(input.blobs, context);
  const fetched = openMissingParts(input.blobs, context);
  const options = { signal: context.signal, recordingSeconds: toSeconds(input.duration), onLog: context.log };
  const found = await child.run(
    "planSplit",
    { ffmpeg, ...files, plan, output, encoder, places, sizes, incomplete: fetched.incomplete },
    { ...options, ...fetched.getOptions("planSplit", options) },
  );
  return { blobs: [], plan: found };
}

/** A chunk of the video, or the audio of the whole render. */
export type SplitPiece =
  | { kind: "video"; settings: SplitSettings; chunk: SplitTask }
  | { kind: "audio"; name: string; plan: string | null; output: ResolvedOutput };

export type ChunkInput = {
  blobs: RenderBlobs;
  /** Duration of the source. */
  duration: Ticks;
  piece: SplitPiece;
  /** Number of executions that this place runs at the same time. They share its cores. */
  slots: number;
};

/** `blobs` has one element, the encoded file. `seconds`: how long encoding took. */
export type ChunkOutput = JobOutput & { seconds: number; repaired: boolean };

export const getPieceName = (piece: SplitPiece): string => (piece.kind === "video" ? piece.chunk.name : piece.name);

/** The names of the files of chunks, and of that of the audio. */
export const CHUNK_NAME = /^chunk-[0-9a-f]{24}\.mp4$/;
export const AUDIO_NAME = /^audio-[0-9a-f]{24}\.m4a$/;

export const isPieceName = (name: string): boolean => CHUNK_NAME.test(name) || AUDIO_NAME.test(name);

/**
 * Encodes one piece of a render to a file with its name. Errors: `AppError` `storage_full`, `processing_failed`;
 * `JobKilled`; a plain `Error` when this machine would make another file; the signal's reason when aborted, within
 * three seconds.
 */
export async function runChunk(tools: SplitTools, input: ChunkInput, context: RunContext): Promise<ChunkOutput> {
  const { outputDir, workDir, signal } = context;
  const { piece } = input;
  const name = getPieceName(piece);
  if (!isPieceName(name)) throw new AppError("processing_failed", "The chunk has no valid name.");
  await mkdir(outputDir, { recursive: true });
  await mkdir(workDir, { recursive: true });
  await removePartFiles(outputDir);
  const finished = await findBlob(join(outputDir, name));
  if (finished !== null) return { blobs: [finished], seconds: 0, repaired: false };
  await using scratch = await openScratchFolder(join(workDir, "chunk"));
  await using child = openSplitChild(tools, input.blobs, context, [scratch.path]);
  const encoded = await tools.encoderSemaphore.run(signal, async () => {
    const startedMs = performance.now();
    const fetched = openMissingParts(input.blobs, context);
    const repaired = await encodePiece(child, tools, input, context, { workDir: scratch.path, fetched });
    return { seconds: (performance.now() - startedMs) / 1000 - fetched.waitedSeconds(), repaired };
  });
  await child.end();
  const bytes = await commitFile(join(scratch.path, name), join(outputDir, name));
  return { blobs: [{ name, bytes }], ...encoded };
}

/** Returns whether frames were replaced with their neighbors. */
async function encodePiece(
  child: JobChild,
  tools: SplitTools,
  { piece, slots, blobs, duration }: ChunkInput,
  context: RunContext,
  { workDir, fetched }: { workDir: string; fetched: MissingParts },
): Promise<boolean> {
  const files = getSourceFiles(blobs, context);
  const options = {
    signal: context.signal,
    recordingSeconds: toSeconds(duration),
    onProgress: (share: number) => context.progress({ share, stage: "rendering", stageShare: share }),
    onLog: context.log,
  };
  if (piece.kind === "audio") {
    const { name, plan, output } = piece;
    const { ffmpeg } = tools;
    await child.run("encodeAudio", { ffmpeg, ...files, plan, output, name, workDir }, options);
    return false;
  }
  const { settings, chunk } = piece;
  const ffmpeg = await withKnownFilters(tools.ffmpeg);
  const result = await child.run(
    "encodeChunk",
    { ffmpeg, ...files, settings, chunk, workDir, jobs: Math.max(1, slots), incomplete: fetched.incomplete },
    { ...options, ...fetched.getOptions("encodeChunk", options) },
  );
  return result.repaired;
}

function openSplitChild(tools: SplitTools, blobs: RenderInput["blobs"], context: RunContext, writable: string[]) {
  return openJobChild({
    ...toMediaOptions(tools, blobs.source.bytes),
    view: { readOnly: listSourceFiles(getSourceFiles(blobs, context)), writable, devices: true },
  });
}

/** The network may be slow, and the CPU time stays limited. */
const MAX_WAIT_SECONDS = 24 * 3600;

/** Opens the parts of the source that are missing here, if any are. */
function openMissingParts({ source }: RenderInput["blobs"], context: RunContext) {
  const parts = context.findInputParts?.(source.name) ?? null;
  let waiting = 0;
  let waitedMs = 0;
  let sinceMs = 0;
  /** `range` comes from a process that reads an uploaded file, so `fetch` checks it. */
  const fetchParts = async (range: { first: number; last: number }, cancelled: AbortSignal): Promise<void> => {
    if (waiting++ === 0) sinceMs = performance.now();
    try {
      await parts!.fetch(range, AbortSignal.any([context.signal, cancelled]));
    } finally {
      if (--waiting === 0) waitedMs += performance.now() - sinceMs;
    }
  };
  return {
    /** For the input of the operation. */
    incomplete: parts && { bytes: parts.bytes, modifiedAt: parts.modifiedAt, partBytes: parts.partBytes },
    /** Returns the additional options of the operation. */
    getOptions: (
      operation: keyof JobOperations,
      { recordingSeconds }: { recordingSeconds: number },
    ): Pick<RunOptions, "callbacks" | "limits"> => {
      if (parts === null) return {};
      const { cpuSeconds, wallSeconds } = getTimeLimits(operation, recordingSeconds);
      return { callbacks: { fetchParts }, limits: { cpuSeconds, wallSeconds: wallSeconds + MAX_WAIT_SECONDS } };
    },
    /** Returns how long the child has waited. */
    waitedSeconds: () => waitedMs / 1000,
  };
}

type MissingParts = ReturnType<typeof openMissingParts>;
