/** Encodes the segments of a smart render. Each process reads an excerpt with only the packets that it needs. */
import { rm } from "node:fs/promises";
import type { ProbedMedia } from "../../domain/media";
import type { SpliceSegment } from "../../domain/smart-plan";
import { createFileKey } from "../../lib/hash";
import { buildOutputArguments } from "../arguments";
import { writeAtomically } from "../atomic-output";
import type { Chunk } from "../chunks/board";
import { encodeLocally, type LocalOptions } from "../chunks/local";
import { createWorkLimits, type Ffmpeg, runFfmpeg } from "../ffmpeg";
import { writeExcerpt } from "../packets/excerpt";
import { SpliceError } from "../packets/source";
import { countFrames } from "../packets/video-track";
import { getSourceVersion } from "../source-version";
import type { SmartSource } from "./source";
import { buildSpliceArguments, buildSpliceIdentity } from "./splice-arguments";

/** Segments that one process encodes, in order. */
export type SpliceTask = { segments: SpliceSegment[]; frameCount: number };

const MAX_TYPICAL_SEGMENTS = 32;

/** Maximum number of segments of a task. ffmpeg 5.1 rejects sums of more than 100 terms, which select them. */
const MAX_SEGMENTS = 64;

/** A task may exceed the mean size by this factor to keep two segments together. */
const MAX_OVERSIZE = 1.25;

/**
 * Groups segments into tasks of about equal size, the same number for each of the `maxProcesses` parallel processes,
 * with about `frames` frames and not many segments each. `sharesPackets` returns whether a segment needs packets that
 * are decoded for the one before it: such segments stay together if there is room.
 */
export function groupSpliceTasks(
  segments: readonly SpliceSegment[],
  frames: number,
  maxProcesses: number,
  sharesPackets: (before: SpliceSegment, segment: SpliceSegment) => boolean,
): SpliceTask[] {
  const total = segments.reduce((sum, { from, to }) => sum + to - from, 0);
  const taskCount = Math.max(total / frames, segments.length / MAX_TYPICAL_SEGMENTS);
  const size = total / (taskCount <= 1 ? 1 : maxProcesses * Math.max(1, Math.round(taskCount / maxProcesses)));
  const tasks: SpliceTask[] = [];
  let before = 0;
  let last = -1;
  for (const segment of segments) {
    const length = segment.to - segment.from;
    // A segment belongs to the task that contains its middle.
    const n = Math.floor((before + length / 2) / size);
    const open = tasks.at(-1);
    const hasRoom = open !== undefined && open.segments.length < MAX_SEGMENTS;
    const fits = hasRoom && open.frameCount + length <= size * MAX_OVERSIZE;
    if (hasRoom && (n === last || (fits && sharesPackets(open.segments.at(-1)!, segment)))) {
      open.segments.push(segment);
      open.frameCount += length;
    } else {
      tasks.push({ segments: [segment], frameCount: length });
      last = n;
    }
    before += length;
  }
  return tasks;
}

type EncodeSplicesOptions = Omit<LocalOptions<Chunk>, "chunks" | "encode"> & {
  ffmpeg: Ffmpeg;
  source: SmartSource;
  sourcePath: string;
  probed: ProbedMedia;
  tasks: readonly SpliceTask[];
  threads: number;
};

/**
 * Encodes every task that is not in the work folder yet. Returns the files in order. Errors: `SpliceError` if the
 * output is not as planned; `AppError` `storage_full`, `processing_failed`; the signal's reason.
 */
export async function encodeSplices(options: EncodeSplicesOptions): Promise<{ paths: string[]; reused: number }> {
  const version = await getSourceVersion(options.sourcePath);
  const { probed, ffmpeg, source } = options;
  const chunks = options.tasks.map((task) => {
    const input = { probed, segments: task.segments, libavutil: ffmpeg.libavutil };
    const key = createFileKey([version, ffmpeg.version, buildSpliceIdentity(input, source.splice)]);
    return { name: `splice-${key}.mp4`, frames: task.frameCount, task };
  });
  return await encodeLocally({
    ...options,
    chunks,
    encode: ({ task }, { path, signal, onFrames }) => encodeSpliceTask(options, task, path, signal, onFrames),
  });
}

async function encodeSpliceTask(
  options: EncodeSplicesOptions,
  task: SpliceTask,
  path: string,
  signal: AbortSignal,
  onFrames: (frames: number) => void,
): Promise<void> {
  const { ffmpeg, probed, source, threads } = options;
  const { segments } = task;
  const excerptPath = `${path}.excerpt.mp4`;
  try {
    const maxLeadPackets = Number.POSITIVE_INFINITY;
    const excerptStart = await writeExcerpt(source, {
      frameRanges: segments,
      rotation: 0,
      path: excerptPath,
      maxLeadPackets,
    });
    await writeAtomically(path, async (tempPath) => {
      const input = { path: excerptPath, excerptStart, probed, segments, threads, libavutil: ffmpeg.libavutil };
      await runFfmpeg({
        ffmpeg,
        arguments: [...buildSpliceArguments(input, source.splice), "-f", "mp4", ...buildOutputArguments(tempPath)],
        limits: createWorkLimits(300 + task.frameCount * 10),
        onProgress: ({ frames }) => onFrames(frames),
        signal,
      });
      const found = await countFrames(tempPath);
      if (found !== task.frameCount)
        throw new SpliceError(`An encoded task has ${found} frames, expected ${task.frameCount}.`);
    });
  } finally {
    await rm(excerptPath, { force: true });
  }
}
