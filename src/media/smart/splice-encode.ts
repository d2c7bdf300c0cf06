/** Encodes the segments of a smart render, each process from an excerpt with only the packets that its segments need. */

import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ProbedMedia } from "../../domain/media";
import type { SpliceSegment } from "../../domain/smart-plan";
import { createFileKey } from "../../lib/hash";
import type { Semaphore } from "../../lib/semaphore";
import { buildOutputArguments } from "../arguments";
import { writeAtomically } from "../atomic-output";
import { createWorkLimits, type Ffmpeg, runFfmpeg } from "../ffmpeg";
import { writeExcerpt } from "../packets/excerpt";
import { SpliceError } from "../packets/source";
import { countFrames } from "../packets/video-track";
import { runParallel } from "../parallel";
import type { SmartSource } from "./source";
import { buildSpliceArguments } from "./splice-arguments";

/** Segments that one process encodes, in order. */
export type SpliceTask = { segments: SpliceSegment[]; frameCount: number };

const MAX_TYPICAL_SEGMENTS = 16;

/** How far a task may exceed the mean size to keep two segments together. */
const MAX_OVERSIZE = 1.25;

/**
 * Groups segments into tasks of about equal size, the same number for each of the `maxProcesses` parallel processes, with about `frames`
 * frames and not many segments each. `sharesPackets` returns whether a segment needs packets that are decoded for the one before it: such
 * segments stay together where there is room.
 */
export function groupSpliceTasks(
  segments: readonly SpliceSegment[],
  frames: number,
  jobs: number,
  shares: (before: SpliceSegment, piece: SpliceSegment) => boolean,
): SpliceTask[] {
  const total = segments.reduce((sum, { from, to }) => sum + to - from, 0);
  const wanted = Math.max(total / frames, segments.length / MAX_TYPICAL_SEGMENTS);
  const size = total / (wanted <= 1 ? 1 : jobs * Math.max(1, Math.round(wanted / jobs)));
  const tasks: SpliceTask[] = [];
  let before = 0;
  let last = -1;
  for (const piece of segments) {
    const length = piece.to - piece.from;
    // A segment belongs to the task that contains its middle.
    const n = Math.floor((before + length / 2) / size);
    const open = tasks.at(-1);
    const fits = open !== undefined && open.frameCount + length <= size * MAX_OVERSIZE;
    if (open !== undefined && (n === last || (fits && shares(open.segments.at(-1)!, piece)))) {
      open.segments.push(piece);
      open.frameCount += length;
    } else {
      tasks.push({ segments: [piece], frameCount: length });
      last = n;
    }
    before += length;
  }
  return tasks;
}

type EncodeSplicesOptions = {
  ffmpeg: Ffmpeg;
  source: SmartSource;
  sourcePath: string;
  probed: ProbedMedia;
  tasks: readonly SpliceTask[];
  workDir: string;
  maxProcesses: number;
  threads: number;
  signal?: AbortSignal;
  shouldYield?: () => boolean;
  encoderSemaphore?: Semaphore;
  onFrames: (frames: number) => void;
};

/**
 * Encodes every task that is not in the work folder yet. Returns the files in order. Errors: `SpliceError` when the output is not as
 * planned; `AppError` `storage_full`, `processing_failed`; the signal's reason.
 */
export async function encodeSplices(job: EncodeSplicesOptions): Promise<{ paths: string[]; reused: number }> {
  const { size, mtimeMs } = await stat(job.sourcePath);
  const { probed, ffmpeg, source } = job;
  const paths = job.tasks.map(({ segments }) => {
    const input = { path: "", excerptStart: 0, probed, segments, threads: 1, libavutil: ffmpeg.libavutil };
    const depends = [size, mtimeMs, ffmpeg.version, buildSpliceArguments(input, source.splice)];
    const key = createFileKey(depends);
    return join(job.workDir, `splice-${key}.mp4`);
  });
  const done = new Float64Array(job.tasks.length);
  const report = (n: number, frames: number) => {
    done[n] = Math.max(done[n]!, frames);
    job.onFrames(done.reduce((sum, value) => sum + value, 0));
  };
  let reused = 0;
  await runParallel(
    job.tasks.length,
    job.maxProcesses,
    job.signal,
    async (n, signal) => {
      const task = job.tasks[n]!;
      if (await Bun.file(paths[n]!).exists()) reused++;
      else {
        const encode = () =>
          encodeSpliceTask(job, task, paths[n]!, signal, (frames) => report(n, Math.min(frames, task.frameCount)));
        await (job.encoderSemaphore?.run(signal, encode) ?? encode());
      }
      report(n, task.frameCount);
    },
    job.shouldYield,
  );
  return { paths, reused };
}

async function encodeSpliceTask(
  job: EncodeSplicesOptions,
  task: SpliceTask,
  path: string,
  signal: AbortSignal,
  onFrames: (frames: number) => void,
): Promise<void> {
  const { ffmpeg, probed, source, threads } = job;
  const { segments } = task;
  const feedPath = `${path}.feed.mp4`;
  try {
    const leadMost = Number.POSITIVE_INFINITY;
    const excerptStart = await writeExcerpt(source, {
      frameRanges: segments,
      rotation: 0,
      path: feedPath,
      maxLeadPackets: leadMost,
    });
    await writeAtomically(path, async (part) => {
      const input = { path: feedPath, excerptStart, probed, segments, threads, libavutil: ffmpeg.libavutil };
      await runFfmpeg({
        ffmpeg,
        arguments: [...buildSpliceArguments(input, source.splice), "-f", "mp4", ...buildOutputArguments(part)],
        limits: createWorkLimits(300 + task.frameCount * 10),
        onProgress: ({ frames }) => onFrames(frames),
        signal,
      });
      const found = await countFrames(part);
      if (found !== task.frameCount) throw new SpliceError(`a chunk has ${found} frames, not ${task.frameCount}`);
    });
  } finally {
    await rm(feedPath, { force: true });
  }
}
