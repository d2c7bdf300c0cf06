/** Encodes the pieces of a smart render, each process from a feed of only the packets that its pieces need. */
import { createHash } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Probed } from "../../domain/media";
import type { SmartPiece } from "../../domain/smart-plan";
import type { Semaphore } from "../../lib/semaphore";
import { outputFile } from "../arguments";
import { type Ffmpeg, runFfmpeg, workLimits } from "../ffmpeg";
import { writeFeed } from "../packets/feed";
import { NotSpliced } from "../packets/source";
import { countFrames } from "../packets/video-track";
import { inParallel } from "../parallel";
import { writeWhole } from "../work-files";
import type { SmartSource } from "./source";
import { spliceArguments } from "./splice-arguments";

/** Pieces that one process encodes, in order. */
export type SpliceTask = { pieces: SmartPiece[]; frameCount: number };

const PIECES_USUAL = 16;

/** Tasks may be so much larger than even ones to keep two pieces together. */
const TOGETHER_SHARE = 1.25;

/**
 * Divides pieces into tasks of about the same size: as many for each of the `jobs` that run at a time, of about `frames` and not many pieces
 * each. `shares` tells whether a piece needs some of what is decoded for the one before it: such pieces stay together where there is room.
 */
export function groupSplices(
  pieces: readonly SmartPiece[],
  frames: number,
  jobs: number,
  shares: (before: SmartPiece, piece: SmartPiece) => boolean,
): SpliceTask[] {
  const total = pieces.reduce((sum, { from, to }) => sum + to - from, 0);
  const wanted = Math.max(total / frames, pieces.length / PIECES_USUAL);
  const size = total / (wanted <= 1 ? 1 : jobs * Math.max(1, Math.round(wanted / jobs)));
  const tasks: SpliceTask[] = [];
  let before = 0;
  let last = -1;
  for (const piece of pieces) {
    const length = piece.to - piece.from;
    // A piece belongs to the task that its middle falls into.
    const n = Math.floor((before + length / 2) / size);
    const open = tasks.at(-1);
    const fits = open !== undefined && open.frameCount + length <= size * TOGETHER_SHARE;
    if (open !== undefined && (n === last || (fits && shares(open.pieces.at(-1)!, piece)))) {
      open.pieces.push(piece);
      open.frameCount += length;
    } else {
      tasks.push({ pieces: [piece], frameCount: length });
      last = n;
    }
    before += length;
  }
  return tasks;
}

type Job = {
  ffmpeg: Ffmpeg;
  source: SmartSource;
  sourcePath: string;
  probed: Probed;
  tasks: readonly SpliceTask[];
  workDir: string;
  jobs: number;
  threads: number;
  signal?: AbortSignal;
  shouldPause?: () => boolean;
  encoderSemaphore?: Semaphore;
  onFrames: (frames: number) => void;
};

/**
 * Encodes every task that the work folder does not hold yet; the files in order. Errors: `NotSpliced` when a piece does not come out as
 * planned; `AppError` `storage_full`, `processing_failed`; the signal's reason.
 */
export async function encodeSplices(job: Job): Promise<{ paths: string[]; reused: number }> {
  const { size, mtimeMs } = await stat(job.sourcePath);
  const { probed, ffmpeg, source } = job;
  const paths = job.tasks.map(({ pieces }) => {
    const input = { path: "", fileStart: 0, probed, pieces, threads: 1, libavutil: ffmpeg.libavutil };
    const depends = [size, mtimeMs, ffmpeg.version, spliceArguments(input, source.splice)];
    const key = createHash("sha256").update(JSON.stringify(depends)).digest("hex");
    return join(job.workDir, `splice-${key.slice(0, 24)}.mp4`);
  });
  const done = new Float64Array(job.tasks.length);
  const report = (n: number, frames: number) => {
    done[n] = Math.max(done[n]!, frames);
    job.onFrames(done.reduce((sum, value) => sum + value, 0));
  };
  let reused = 0;
  await inParallel(
    job.tasks.length,
    job.jobs,
    job.signal,
    async (n, signal) => {
      const task = job.tasks[n]!;
      if (await Bun.file(paths[n]!).exists()) reused++;
      else {
        const encode = () =>
          encodeTask(job, task, paths[n]!, signal, (frames) => report(n, Math.min(frames, task.frameCount)));
        await (job.encoderSemaphore?.run(signal, encode) ?? encode());
      }
      report(n, task.frameCount);
    },
    job.shouldPause,
  );
  return { paths, reused };
}

async function encodeTask(
  job: Job,
  task: SpliceTask,
  path: string,
  signal: AbortSignal,
  onFrames: (frames: number) => void,
): Promise<void> {
  const { ffmpeg, probed, source, threads } = job;
  const { pieces } = task;
  const feedPath = `${path}.feed.mp4`;
  try {
    const leadMost = Number.POSITIVE_INFINITY;
    const fileStart = await writeFeed(source, { pieces, rotation: 0, path: feedPath, leadMost });
    await writeWhole(path, async (part) => {
      const input = { path: feedPath, fileStart, probed, pieces, threads, libavutil: ffmpeg.libavutil };
      await runFfmpeg({
        ffmpeg,
        arguments: [...spliceArguments(input, source.splice), "-f", "mp4", ...outputFile(part)],
        limits: workLimits(300 + task.frameCount * 10),
        onProgress: ({ frames }) => onFrames(frames),
        signal,
      });
      const found = await countFrames(part);
      if (found !== task.frameCount) throw new NotSpliced(`a chunk has ${found} frames, not ${task.frameCount}`);
    });
  } finally {
    await rm(feedPath, { force: true });
  }
}
