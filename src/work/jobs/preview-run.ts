/**
 * Makes the preview of a prepared recording: audio, video in chunks, index and storyboard. Finished files stay in the
 * work folder for the next attempt. ffmpeg runs with the lowest priority, so that the work of others is not delayed.
 */
import { lstat, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { getMediaFolder, type MediaFolder } from "../../blobs/folders";
import { listNames } from "../../blobs/trash";
import { AppError } from "../../domain/errors";
import { JobKilled, JobYielded } from "../../domain/jobs";
import type { MediaInfo } from "../../domain/media";
import { PREVIEW_VERSION, type PreviewFacts, planStoryboard, type Storyboard } from "../../domain/preview";
import { toSeconds } from "../../domain/time";
import { createFolders, writeAtomic } from "../../lib/atomic-file";
import { hasZscaleFilter } from "../../media/chunks/scale";
import { findOutputColors, isHdr } from "../../media/color";
import { countKernelKills, createWorkLimits, startFfmpeg, toFfmpegError } from "../../media/ffmpeg";
import {
  buildPreviewAudioArguments,
  buildPreviewChunkArguments,
  buildPreviewMuxArguments,
  PREVIEW_CHUNK_SECONDS,
} from "../../media/preview/encode";
import { buildStoryboardArguments, getSheetName } from "../../media/preview/storyboard";
import type { IndexedTracks } from "../../media/preview/write-index";
import { type JobChild, openJobChild, type RunOptions } from "../job-child/child";
import { toMediaOptions } from "../job-child/plan-child";
import { commitFile, openScratchFolder, type ScratchFolder } from "../job-child/scratch";
import { isValidTrack, readPreviewFacts } from "../previews/files";
import { listBlobs, removePartFiles } from "./blob-files";
import type { BlobRef, JobOutput, RunContext } from "./definition";
import type { MediaTools } from "./media-tools";

export type PreviewInput = {
  /** `audio`: that which was transcribed; null without audio. */
  blobs: { source: BlobRef; audio: BlobRef | null };
  info: MediaInfo;
};

/** `blobs` are all files in the output folder but the source. */
export type PreviewOutput = JobOutput;

type PreviewTools = Pick<MediaTools, "ffmpeg" | "jobCommand" | "maxFileBytes" | "sandbox">;

type Work = {
  tools: PreviewTools;
  input: PreviewInput;
  context: RunContext;
  source: string;
  /** The files in the output folder by their names in an asset's folder. */
  files: MediaFolder;
  scratch: ScratchFolder;
  child: JobChild;
};

/** The share of each part, after a recording with video; the rest is the video. */
const AUDIO_SHARE = 0.1;
const STORYBOARD_SHARE = 0.05;

/**
 * Makes the preview. Errors: `AppError` `processing_failed`, `storage_full`; `JobYielded` between two chunks;
 * `JobKilled`; the signal's reason when aborted.
 */
export async function runPreview(
  tools: PreviewTools,
  input: PreviewInput,
  context: RunContext,
): Promise<PreviewOutput> {
  const { outputDir, workDir } = context;
  const { info } = input;
  const source = context.getInputPath(input.blobs.source.name);
  const files = getMediaFolder(outputDir);
  await createFolders(outputDir);
  await mkdir(workDir, { recursive: true });
  await removePartFiles(outputDir);
  await using scratch = await openScratchFolder(join(workDir, "scratch"));
  const audio = input.blobs.audio === null ? [] : [context.getInputPath(input.blobs.audio.name)];
  await using child = openJobChild({
    ...toMediaOptions(tools, input.blobs.source.bytes),
    view: { readOnly: [source, outputDir, ...audio], writable: [scratch.path], devices: false },
    priority: "lowest",
  });
  const work: Work = { tools, input, context, source, files, scratch, child };
  const run = { signal: context.signal, recordingSeconds: toSeconds(info.duration) };
  report(context, 0);
  // Older versions prepared recordings without them.
  if (audio.length > 0)
    await scratch.createOnce(files.peaks, (outputPath) => child.run("peaks", { audio: audio[0]!, outputPath }, run));
  if (info.audio.length > 0)
    await scratch.createOnce(files.loudness, (outputPath) =>
      child.run("loudness", { ffmpeg: tools.ffmpeg, source, info, outputPath }, run),
    );
  // Older versions made previews without it.
  if ((await readPreviewFacts(files)) === null) await makePreview(work, run);
  return { blobs: await listBlobs(outputDir, input.blobs.source.name) };
}

/** Creates the files that pages play and draw. */
async function makePreview(work: Work, run: RunOptions): Promise<void> {
  const { files, scratch, child } = work;
  await encodePreview(work);
  // Both are made again together: the index is of this very file.
  const index = join(scratch.path, "preview.index");
  const tracks = await child.run("indexPreview", { preview: files.preview, outputPath: index }, run);
  await commitFile(index, files.previewIndex);
  const storyboard = tracks.video === null ? null : await makeStoryboard(work);
  const facts: PreviewFacts = { version: PREVIEW_VERSION, ...checkTracks(tracks), storyboard };
  await writeAtomic(files.previewFacts, JSON.stringify(facts));
  await rm(files.oldPreview, { force: true });
}

const report = (context: RunContext, share: number): void =>
  context.progress({ share, stage: "video", stageShare: share });

/** Writes the preview unless an earlier attempt has. */
async function encodePreview({ tools, input, context, source, files, scratch }: Work): Promise<void> {
  const { info } = input;
  if (await Bun.file(files.preview).exists()) return;
  const described = { path: source, info, libavutil: tools.ffmpeg.libavutil };
  const wallSeconds = 600 + 20 * toSeconds(info.duration);
  const ffmpeg = (args: string[], limits: { wallSeconds: number; stdin?: string[] }) =>
    runLowPriority(tools, context, { args, readOnly: [source, context.workDir], writable: scratch.path, ...limits });
  const audioPath = join(context.workDir, "audio.mp4");
  if (info.audio.length > 0)
    await scratch.createOnce(info.video === null ? files.preview : audioPath, (path) =>
      ffmpeg(buildPreviewAudioArguments(described, path), { wallSeconds }),
    );
  if (info.video === null) return;
  report(context, AUDIO_SHARE);

  const hasZscale = isHdr(info.video) && (await hasZscaleFilter(tools.ffmpeg));
  const count = Math.max(1, Math.ceil(toSeconds(info.duration) / PREVIEW_CHUNK_SECONDS));
  const chunks = Array.from({ length: count }, (_, n) => join(context.workDir, `chunk-${n}.ts`));
  for (const [n, path] of chunks.entries()) {
    if (await Bun.file(path).exists()) continue;
    if (context.shouldYield()) throw new JobYielded();
    await scratch.createOnce(path, async (outputPath) => {
      const args = buildPreviewChunkArguments(described, { n, count, hasZscale, outputPath });
      await ffmpeg(args, { wallSeconds: 600 + 60 * PREVIEW_CHUNK_SECONDS });
      // No frame is shown in this minute.
      if ((await lstat(outputPath).catch(() => null)) === null) await Bun.write(outputPath, "");
    });
    report(context, AUDIO_SHARE + ((1 - AUDIO_SHARE - STORYBOARD_SHARE) * (n + 1)) / count);
  }
  await scratch.createOnce(files.preview, (path) =>
    ffmpeg(buildPreviewMuxArguments(info.audio.length > 0 ? audioPath : null, path), { wallSeconds, stdin: chunks }),
  );
}

async function makeStoryboard({ tools, input, context, files, scratch }: Work): Promise<Storyboard> {
  const planned = planStoryboard(toSeconds(input.info.duration));
  const outputDir = join(scratch.path, "sheets");
  await mkdir(outputDir);
  const colors = findOutputColors(input.info.video!);
  const args = buildStoryboardArguments({ preview: files.preview, storyboard: planned, colors, outputDir });
  const wallSeconds = 300 + toSeconds(input.info.duration);
  await runLowPriority(tools, context, { args, readOnly: [files.preview], writable: scratch.path, wallSeconds });
  if ((await listNames(outputDir)).length < planned.sheets)
    throw new AppError("processing_failed", "The storyboard could not be created.");
  for (let n = 0; n < planned.sheets; n++) await commitFile(join(outputDir, getSheetName(n)), files.storyboardSheet(n));
  return planned;
}

/** Runs ffmpeg in the sandbox. `stdin`: files that it reads one after the other. */
async function runLowPriority(
  { ffmpeg, sandbox, maxFileBytes }: PreviewTools,
  { signal }: RunContext,
  run: { args: string[]; readOnly: string[]; writable: string; wallSeconds: number; stdin?: string[] },
): Promise<void> {
  const killsBefore = countKernelKills();
  const child = startFfmpeg({
    ffmpeg,
    arguments: run.args,
    limits: { ...createWorkLimits(run.wallSeconds), fileSizeBytes: maxFileBytes() },
    sandbox: { sandbox, view: { readOnly: run.readOnly, writable: [run.writable], devices: false } },
    stdin: run.stdin ? "pipe" : undefined,
    priority: "lowest",
    signal,
  });
  if (run.stdin) await writeFiles(child.stdin, run.stdin).catch(() => {});
  const outcome = await child.outcome;
  signal.throwIfAborted();
  if (!outcome.ok || outcome.noSpace) throw countKernelKills() > killsBefore ? new JobKilled() : toFfmpegError(outcome);
}

async function writeFiles(
  stdin: { write(chunk: Uint8Array): Promise<void>; end(): Promise<void> },
  paths: string[],
): Promise<void> {
  for (const path of paths) for await (const bytes of Bun.file(path).stream()) await stdin.write(bytes);
  await stdin.end();
}

/** Returns the tracks that the child found. The child parsed the file, so its result is not trusted. */
function checkTracks({ video, audio }: IndexedTracks): IndexedTracks {
  for (const track of [video, audio])
    if (track !== null && !isValidTrack(track))
      throw new AppError("processing_failed", "The preview could not be indexed.");
  if (video === null && audio === null) throw new AppError("processing_failed", "The preview is empty.");
  return { video, audio };
}
