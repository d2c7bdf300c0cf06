/**
 * Encodes the pieces of a smart render. Only the packets that a piece needs are put into a small file for the decoder: no seeking, and
 * nothing is decoded in vain that no other frame refers to.
 */
import { createHash } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Probed } from "../domain/media";
import { neededPackets, type SmartPiece } from "../domain/smart-plan";
import type { Rational } from "../domain/time";
import { outputFile } from "./arguments";
import { type Ffmpeg, runFfmpeg, workLimits } from "./ffmpeg";
import { buildAvcConfig, isReferred, withLongLengths } from "./h264";
import { inParallel } from "./parallel";
import { NotSpliced, packetAt, type SmartSource, unitsOf } from "./smart-source";
import { type Stretch, spliceArguments } from "./splice-arguments";
import { countFrames, type TrackPacket, writeVideoTrack } from "./video-track";
import { writeWhole } from "./work-files";

/** Pieces that one process encodes, in order. */
export type SpliceTask = { pieces: SmartPiece[]; frameCount: number };

const PIECES_MOST = 16;

/** Divides pieces into tasks of at most `frames`, where a single piece does not need more. */
export function groupSplices(pieces: readonly SmartPiece[], frames: number): SpliceTask[] {
  const tasks: SpliceTask[] = [];
  for (const piece of pieces) {
    const length = piece.to - piece.from;
    const open = tasks.at(-1);
    if (open !== undefined && open.pieces.length < PIECES_MOST && open.frameCount + length <= frames) {
      open.pieces.push(piece);
      open.frameCount += length;
    } else tasks.push({ pieces: [piece], frameCount: length });
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
  await inParallel(job.tasks.length, job.jobs, job.signal, async (n, signal) => {
    const task = job.tasks[n]!;
    if (await Bun.file(paths[n]!).exists()) reused++;
    else await encodeTask(job, task, paths[n]!, signal, (frames) => report(n, Math.min(frames, task.frameCount)));
    report(n, task.frameCount);
  });
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
      const needed = await neededOf(source, piece);
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
  const { config, avc } = source;
  await writeWhole(path, (part) =>
    writeVideoTrack({
      ...{ path: part, rotation: 0, constantRate: rate.num / rate.den, packets: packets() },
      config: { ...config, description: buildAvcConfig(avc) },
    }),
  );
  return stretches;
}

/** The packets of a piece from the point where decoding begins, without those that neither it nor any other needs. */
async function neededOf(source: SmartSource, piece: SmartPiece): Promise<{ frame: number; data: Uint8Array }[]> {
  const range = neededPackets(piece, source.order);
  const needed: { frame: number; data: Uint8Array }[] = [];
  let place = range.from;
  for await (const packet of source.sink.packets(await packetAt(source, place))) {
    if (place >= range.to) break;
    const frame = source.order.frames[place]!;
    const isKept = frame >= piece.from && frame < piece.to;
    if (isKept || unitsOf(packet, source).some(isReferred))
      needed.push({ frame, data: withLongLengths(packet.data, source.avc.lengthSize) });
    place++;
  }
  if (place < range.to) throw new NotSpliced("the source ends before its table");
  return needed;
}
