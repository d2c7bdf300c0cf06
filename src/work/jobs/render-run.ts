/**
 * Renders a recording, whole or cut, in a child process. Finished chunks stay in the work folder for the next attempt.
 */
import { mkdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { getRenderOutputName } from "../../blobs/folders";
import type { RenderResult, ResolvedOutput } from "../../domain/media";
import { type Ticks, toSeconds } from "../../domain/time";
import { createFolders } from "../../lib/atomic-file";
import { withKnownFilters } from "../../media/chunks/scale";
import type { RenderCacheFiles } from "../../media/render-cache/cache-file";
import { openRunChild } from "../job-child/child";
import { toMediaOptions } from "../job-child/plan-child";
import { commitFile } from "../job-child/scratch";
import { shareSemaphore } from "../job-child/shared-semaphore";
import { findBlob, listBlobs, removePartFiles } from "./blob-files";
import type { BlobRef, JobOutput, RunContext } from "./definition";
import type { MediaTools } from "./media-tools";

/** `speechAnalysis` is used only for noise reduction. It is null or missing if the recording has no analysis. */
export type RenderBlobs = { source: BlobRef; probed: BlobRef; speechAnalysis?: BlobRef | null };

export type RenderInput = {
  blobs: RenderBlobs;
  /** A `PlanJson` as text; null renders the whole source. */
  plan: string | null;
  output: ResolvedOutput;
  /** Duration of the source. */
  duration: Ticks;
};

/** `blobs` has one element, the finished file. */
export type RenderOutput = JobOutput &
  Pick<RenderResult, "strategy" | "encodedShare" | "reasons" | "warnings"> & {
    /** As `describeMaker` returns it; missing when several places made the file. */
    madeWith?: string;
    /** Bytes of everything in the recording's folder but its source, where a cache is kept. */
    derivedBytes?: number | undefined;
  };

/**
 * Changes when the same plan copies other frames than before, or encodes them otherwise. The first one had no number.
 */
const RENDER_REVISION = 2;

/**
 * Returns the ffmpeg, the encoder and the revision of a render. With the same ones it is rendered with the same frames
 * again.
 */
export const describeMaker = async (tools: Pick<MediaTools, "ffmpeg" | "encoder">): Promise<string> =>
  `ffmpeg ${tools.ffmpeg.version}, ${await tools.encoder()}, revision ${RENDER_REVISION}`;

/**
 * Renders the cut or the whole recording to a file. Errors: `AppError` `storage_full`, `processing_failed`;
 * `JobYielded` between two chunks; `JobKilled`; the signal's reason when aborted, within three seconds.
 */
export async function runRender(tools: RenderRunTools, input: RenderInput, context: RunContext): Promise<RenderOutput> {
  const { usesCache, ...rendered } = await renderFile(tools, input, context);
  const maker = await describeMaker(tools).catch(() => null);
  // With other segments in one process, an encoder chooses other qualities: the frames may differ a little.
  return maker === null
    ? rendered
    : { ...rendered, madeWith: `${maker}${usesCache ? ", parts of earlier renders" : ""}` };
}

/** Returns the paths of the files that a render reads. */
export const getSourceFiles = ({ source, probed, speechAnalysis }: RenderBlobs, context: RunContext) => ({
  source: context.getInputPath(source.name),
  probed: context.getInputPath(probed.name),
  speechAnalysis: speechAnalysis ? context.getInputPath(speechAnalysis.name) : null,
});

/** Returns the paths that exist. */
export const listSourceFiles = ({ source, probed, speechAnalysis }: ReturnType<typeof getSourceFiles>): string[] =>
  speechAnalysis === null ? [source, probed] : [source, probed, speechAnalysis];

type RenderRunTools = Omit<MediaTools, "speech" | "temporaryFolder">;

/** Renders like `runRender`, but finds an encoder only if the render needs one. */
export async function renderFile(
  tools: RenderRunTools,
  input: RenderInput,
  context: RunContext,
): Promise<Omit<RenderOutput, "madeWith"> & { usesCache: boolean }> {
  const { signal, workDir, outputDir } = context;
  const name = getRenderOutputName(input.output.format);
  const renderedPath = join(workDir, name);
  const files = getSourceFiles(input.blobs, context);
  await createFolders(outputDir);
  await mkdir(workDir, { recursive: true });
  await removePartFiles(outputDir);
  const { plan, output } = input;
  const isCacheable = output.video !== null && output.matchesSource;
  const cache = isCacheable ? await openCacheSession(context, tools.maxFileBytes()) : null;
  // A shared child sees neither the devices of hardware encoders nor the cache.
  const shared = tools.sandbox.hasDevices || cache !== null ? null : tools.sharedChild;
  await using child = openRunChild(shared, {
    ...toMediaOptions(tools, input.blobs.source.bytes),
    view: { readOnly: [...listSourceFiles(files), ...(cache?.readOnly ?? [])], writable: [workDir], devices: true },
  });
  const permits = shareSemaphore(tools.encoderSemaphore);
  const isEncoded = output.video !== null && !output.matchesSource;
  const ffmpeg = isEncoded ? await withKnownFilters(tools.ffmpeg) : tools.ffmpeg;
  const jobs = Math.max(1, navigator.hardwareConcurrency);
  const running = child.run(
    "render",
    {
      ffmpeg,
      ...files,
      plan,
      output,
      workDir,
      outputPath: renderedPath,
      jobs,
      cache: cache?.files ?? null,
    },
    {
      signal,
      recordingSeconds: toSeconds(input.duration),
      shouldYield: context.shouldYield,
      callbacks: { ...permits.callbacks, chooseEncoder: tools.encoder },
      onProgress: (share) => context.progress({ share, stage: "rendering", stageShare: share }),
      onLog: context.log,
    },
  );
  const result = await running.finally(permits.releaseAll);
  await child.end();
  // The render may have been deleted in the meantime, with its folder.
  await createFolders(outputDir);
  const bytes = await commitFile(renderedPath, join(outputDir, name));
  const derivedBytes = await cache?.commit(input.blobs.source.name);
  const { strategy, encodedShare, reasons, warnings, usesCache } = result;
  context.log("render.finished", { strategy, encoded_share: encodedShare, reasons, warnings });
  return {
    blobs: [{ name, bytes }],
    strategy,
    encodedShare,
    reasons,
    warnings,
    derivedBytes,
    usesCache,
  };
}

/** Maximum size as a share of the free disk space. */
const MAX_DISK_SHARE = 1 / 8;

/**
 * Prepares the files for a child process; null where no cache is kept. `maxFileBytes`: how large a file may become now.
 */
async function openCacheSession(
  context: Pick<RunContext, "renderCache" | "workDir" | "log">,
  maxFileBytes: number | null,
) {
  const { renderCache, workDir, log } = context;
  if (renderCache === undefined) return null;
  const { path } = renderCache;
  const maxBytes = Math.min(renderCache.maxBytes, (maxFileBytes ?? Number.POSITIVE_INFINITY) * MAX_DISK_SHARE);
  const newPath = join(workDir, "render.cache.new");
  await rm(newPath, { recursive: true, force: true });
  // An attempt that was killed may have left it. Another render that writes it at this moment loses its cache.
  await rm(`${path}.part`, { force: true });
  const hasCache = (await findBlob(path)) !== null;
  const files: RenderCacheFiles = { path: hasCache ? path : null, newPath, maxBytes: Math.floor(maxBytes) };
  return {
    files,
    /** Paths that the child reads. */
    readOnly: hasCache ? [path] : [],
    /**
     * Replaces the cache with the file that the child has written, if any. Returns the bytes of everything in the
     * recording's folder but its source: an attempt that was killed may have replaced the cache without storing them.
     * The render is complete, so problems are only logged.
     */
    commit: async (sourceName: string) => {
      const written = await findBlob(newPath);
      if (written !== null && written.bytes <= maxBytes)
        try {
          // Fails when the recording was deleted in the meantime, with its folder.
          await commitFile(newPath, path);
          log("render.cache_saved", { bytes: written.bytes, file: basename(path) });
        } catch (error) {
          log("render.cache_lost", { error: String(error) });
        }
      const blobs = await listBlobs(dirname(path), sourceName);
      return blobs.reduce((sum, { bytes }) => sum + bytes, 0);
    },
  };
}
