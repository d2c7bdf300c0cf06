/** Reads the plan of a split render. A worker may have sent it, so that only numbers and names of the expected form are taken from it. */
import type { ResolvedOutput } from "../../domain/media";
import type { ChunkSegment } from "../../domain/render-plan";
import type { Rational } from "../../domain/time";
import { parseChunkSizes } from "../../media/chunks/sizes-file";
import type { VideoEncoder, VideoQuality } from "../../media/encoder-arguments";
import type { SplitPlan, SplitTask } from "../../media/split-render";
import { isPieceName } from "../jobs/split-run";

const MAX_TASKS = 20_000;
/** Of one chunk. Planning makes 16 at most. */
const MAX_SEGMENTS = 64;
const MAX_FRAMES = 100_000_000;

/** Returns the plan with the size and the encoder that the head knows. Throws a plain `Error` when it is not a plan of this output. */
export function parseSplitPlan(value: unknown, output: ResolvedOutput, encoder: string): SplitPlan {
  const plan = toObject(value);
  if (plan.strategy === "whole") return { strategy: "whole" };
  const settings = toObject(plan.settings);
  const { video, audio } = output;
  if (plan.strategy !== "chunked" || video === null || settings.encoder !== encoder) throw invalid();
  if (settings.width !== video.width || settings.height !== video.height) throw invalid();
  const tasks = toArray(plan.tasks, MAX_TASKS).map(parseTask);
  const frameCount = toInteger(plan.frameCount, 1, MAX_FRAMES);
  const sizes = parseChunkSizes(plan.sizes, null);
  const isComplete = tasks.reduce((sum, { task }) => sum + task.frameCount, 0) === frameCount;
  const areNamesUnique = new Set(tasks.map(({ name }) => name)).size === tasks.length;
  if (sizes === null || !isComplete || !areNamesUnique) throw invalid();
  return {
    strategy: "chunked",
    settings: {
      width: video.width,
      height: video.height,
      encoder: encoder as VideoEncoder,
      frameRate: parseRate(settings.frameRate),
      quality: parseQuality(settings.quality),
      disableBFrames: settings.disableBFrames === true,
    },
    tasks,
    sizes,
    frameCount,
    audio: audio === null ? null : toName(plan.audio),
    seconds: toNumber(plan.seconds, 0),
  };
}

const invalid = () => new Error("The plan of the split render is not valid.");

function parseTask(value: unknown): SplitTask {
  const { name, task } = toObject(value);
  const { chunk, timing, frameCount } = toObject(task);
  const { segments, outputStart, outputEnd, frameCount: sourceFrames } = toObject(chunk);
  return {
    name: toName(name),
    task: {
      chunk: {
        segments: toArray(segments, MAX_SEGMENTS).map(parseSegment),
        outputStart: toNumber(outputStart, 0),
        outputEnd: toNumber(outputEnd, 0),
        frameCount: toInteger(sourceFrames, 1, MAX_FRAMES),
      },
      timing: parseTiming(timing),
      frameCount: toInteger(frameCount, 1, MAX_FRAMES),
    },
  };
}

function parseSegment(value: unknown): ChunkSegment {
  const { from, to, sourceStart, outputStart } = toObject(value);
  return {
    from: toInteger(from, 0, MAX_FRAMES),
    to: toInteger(to, 0, MAX_FRAMES),
    sourceStart: toNumber(sourceStart),
    outputStart: toNumber(outputStart, 0),
  };
}

function parseTiming(value: unknown): SplitTask["task"]["timing"] {
  const { kind, rate, phase } = toObject(value);
  if (kind === "sequential") return { kind, rate: parseRate(rate) };
  if (kind !== "resampled") throw invalid();
  return { kind, rate: parseRate(rate), phase: toNumber(phase) };
}

function parseRate(value: unknown): Rational {
  const { num, den } = toObject(value);
  return { num: toInteger(num, 1, MAX_FRAMES), den: toInteger(den, 1, MAX_FRAMES) };
}

function parseQuality(value: unknown): VideoQuality {
  const { bitrate, maxBitrate } = toObject(value);
  if (bitrate !== undefined) return { bitrate: toNumber(bitrate, 1) };
  return { maxBitrate: maxBitrate === null ? null : toNumber(maxBitrate, 1) };
}

function toName(value: unknown): string {
  if (typeof value !== "string" || !isPieceName(value)) throw invalid();
  return value;
}

function toObject(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw invalid();
  return value as Record<string, unknown>;
}

function toArray(value: unknown, maxLength: number): unknown[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxLength) throw invalid();
  return value;
}

function toNumber(value: unknown, min = Number.NEGATIVE_INFINITY): number {
  if (typeof value !== "number" || !Number.isFinite(value) || value < min) throw invalid();
  return value;
}

function toInteger(value: unknown, min: number, max: number): number {
  if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) throw invalid();
  return value as number;
}
