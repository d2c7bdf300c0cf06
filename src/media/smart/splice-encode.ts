/**
 * Encodes the pieces of a smart render. Only the packets that a piece needs are put into a small file for the decoder: no seeking, and
 * nothing is decoded in vain that no other frame refers to.
 */
import { createHash } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Probed } from "../../domain/media";
import type { SmartPiece } from "../../domain/smart-plan";
import type { Rational } from "../../domain/time";
import type { Lanes } from "../../lib/lanes";
import { outputFile } from "../arguments";
import { type Ffmpeg, runFfmpeg, workLimits } from "../ffmpeg";
import { NotSpliced, neededFor, packetsFrom } from "../packets/source";
import { describeStream } from "../packets/stream";
import { countFrames, type TrackPacket, writeVideoTrack } from "../packets/video-track";
import { inParallel } from "../parallel";
import { writeWhole } from "../work-files";
import type { SmartSource } from "./source";
import { type Stretch, spliceArguments } from "./splice-arguments";

/** Pieces that one process encodes, in order. */
export type SpliceTask = { pieces: SmartPiece[]; frameCount: number };

const PIECES_USUAL = 16;

/**
 * Divides pieces into tasks of about the same size: as many for each of the `jobs` that run at a time, of about `frames` and not many pieces
 * each.
 */
export function groupSplices(pieces: readonly SmartPiece[], frames: number, jobs: number): SpliceTask[] {
  const total = pieces.reduce((sum, { from, to }) => sum + to - from, 0);
  const wanted = Math.max(total / frames, pieces.length / PIECES_USUAL);
  const size = total / (wanted <= 1 ? 1 : jobs * Math.ceil(wanted / jobs));
  const tasks: SpliceTask[] = [];
  let before = 0;
  let last = -1;
  for (const piece of pieces) {
    const length = piece.to - piece.from;
    // A piece belongs to the task that its middle falls into.
    const n = Math.floor((before + length / 2) / size);
    const open = tasks.at(-1);
    if (open !== undefined && n === last) {
      open.pieces.push(piece);
      open.frameCount += length;
    } else tasks.push({ pieces: [piece], frameCount: length });
    last = n;
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
  lanes?: Lanes;
  onFrames: (frames: number) => void;
};

/**
 * Encodes every task that the work folder does not hold yet; the files in order. Errors: `NotSpliced` when a piece does not come out as
 * planned; `AppError` `storage_full`, `processing_failed`; the signal's reason.
 */
export async function encodeSplices(job: Job): Promise<{ paths: string[]; reused: number }> {
  const { size, mtimeMs } = await stat(job.sourcePath);
  const paths = job.tasks.map(({ pieces }) => {
    const depends = [size, mtimeMs, job.ffmpeg.version, job.source.splice, pieces];
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
        await (job.lanes?.use(signal, encode) ?? encode());
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
  const { rate } = probed.frames!;
  const leadPath = `${path}.lead.mp4`;
  try {
    const stretches = await writeLead(source, task, rate, leadPath);
    await writeWhole(path, async (part) => {
      const input = { path: leadPath, rate, stretches, threads, libavutil: ffmpeg.libavutil };
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
    await rm(leadPath, { force: true });
  }
}

/** Writes what the decoder needs for a task, as frames of equal length; returns where in it the pieces are. */
async function writeLead(source: SmartSource, task: SpliceTask, rate: Rational, path: string): Promise<Stretch[]> {
  const stretches: Stretch[] = [];
  const step = rate.den / rate.num;
  async function* packets(): AsyncGenerator<TrackPacket> {
    let first = 0;
    for (const piece of task.pieces) {
      const isKept = (frame: number) => frame >= piece.from && frame < piece.to;
      const needed = await Array.fromAsync(packetsFrom(source, await neededFor(source, piece), isKept));
      const shown = needed.map(({ frame }) => frame).sort((a, b) => a - b);
      stretches.push({ from: first + shown.indexOf(piece.from), to: first + shown.indexOf(piece.to - 1) + 1 });
      const places = new Map(shown.map((frame, n) => [frame, first + n]));
      for (const [n, { frame, data }] of needed.entries()) {
        const timestamp = places.get(frame)! * step;
        yield { data, type: n === 0 ? "key" : "delta", timestamp, duration: step };
      }
      first += needed.length;
    }
  }
  const { config, stream } = source;
  await writeWhole(path, (part) =>
    writeVideoTrack({
      ...{ path: part, rotation: 0, constantRate: rate.num / rate.den, packets: packets() },
      config: { ...config, description: describeStream(stream) },
    }),
  );
  return stretches;
}
