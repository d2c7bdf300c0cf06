/** Converts kept segments to a render plan: exact output times, and chunks that are encoded separately. */
import type { ProbedMedia, RenderSegment } from "./media";
import {
  type FrameTimes,
  getFrameAtOrAfter,
  getFrameAtOrBefore,
  getFrameCount,
  getFrameTime,
  type Rational,
  TICKS_PER_SECOND,
  type Ticks,
} from "./time";

/** A kept segment and its position in the output. `start` and `end` are source times. No `frames` without video. */
export type PlacedSegment = {
  start: Ticks;
  end: Ticks;
  outputStart: Ticks;
  outputEnd: Ticks;
  frames: { from: number; to: number } | null;
};

export type RenderTimeline = { segments: PlacedSegment[]; duration: Ticks; frameCount: number };

/**
 * Snaps segments to the source's frames (starts down, ends up), merges adjacent ones, and places them one after
 * another. `null` means the whole source. At the start and end of the file, audio may extend beyond the video: the
 * first frame is then shown earlier, the last one longer.
 */
export function placeSegments(probed: ProbedMedia, segments: readonly RenderSegment[] | null): RenderTimeline {
  const whole: RenderSegment = { start: 0, end: probed.info.duration, startFrame: null, endFrame: null };
  const snapped = (segments ?? [whole])
    .map((segment) => snapSegment(segment, probed))
    .filter((segment) => segment.end > segment.start);
  const placed: PlacedSegment[] = [];
  for (const segment of snapped) {
    const before = placed.at(-1);
    if (before !== undefined && isAdjacent(before, segment)) extendSegment(before, segment);
    else placed.push({ ...segment, outputStart: 0, outputEnd: 0 });
  }
  let outputTime: Ticks = 0;
  let frames = 0;
  // Ticks are rounded. At a constant rate, durations are counted in frames, so that errors do not accumulate.
  let beyondFrames: Ticks = 0;
  for (const segment of placed) {
    segment.outputStart = outputTime;
    if (segment.frames !== null) frames += segment.frames.to - segment.frames.from;
    if (segment.frames !== null && probed.frames?.kind === "constant") {
      beyondFrames += segment.end - segment.start - getRangeDuration(probed.frames, segment.frames);
      outputTime = toConstantRateTime(probed.frames.rate, frames) + beyondFrames;
    } else outputTime += segment.end - segment.start;
    segment.outputEnd = outputTime;
  }
  return { segments: placed, duration: outputTime, frameCount: frames };
}

const toConstantRateTime = (rate: Rational, frames: number): Ticks =>
  Math.round((frames * rate.den * TICKS_PER_SECOND) / rate.num);

const getRangeDuration = (frames: FrameTimes, range: { from: number; to: number }): Ticks =>
  getFrameTime(frames, range.to) - getFrameTime(frames, range.from);

type SnappedSegment = Omit<PlacedSegment, "outputStart" | "outputEnd">;

function snapSegment(segment: RenderSegment, probed: ProbedMedia): SnappedSegment {
  const { frames, info } = probed;
  const start = Math.max(0, Math.min(segment.start, info.duration));
  const end = Math.max(start, Math.min(segment.end, info.duration));
  if (frames === null) return { start, end, frames: null };
  const count = getFrameCount(frames);
  const from = Math.min(count - 1, segment.startFrame ?? getFrameAtOrBefore(frames, start));
  const to = Math.min(count, Math.max(from + 1, segment.endFrame ?? getFrameAtOrAfter(frames, end)));
  const videoEnd = getFrameTime(frames, count);
  return {
    start: from === 0 ? Math.min(start, getFrameTime(frames, 0)) : getFrameTime(frames, from),
    end: to === count ? Math.max(videoEnd, end) : getFrameTime(frames, to),
    frames: { from, to },
  };
}

function isAdjacent(before: PlacedSegment, next: SnappedSegment): boolean {
  if (before.frames !== null && next.frames !== null) return next.frames.from <= before.frames.to;
  return next.start <= before.end;
}

function extendSegment(before: PlacedSegment, next: SnappedSegment): void {
  before.end = Math.max(before.end, next.end);
  if (before.frames !== null && next.frames !== null) before.frames.to = Math.max(before.frames.to, next.frames.to);
}

/** Returns the time at which frame `n` of a segment is shown in the output. */
export function getOutputTime(segment: PlacedSegment, frames: FrameTimes, n: number): Ticks {
  if (n <= segment.frames!.from) return segment.outputStart;
  return segment.outputStart + getFrameTime(frames, n) - segment.start;
}

/** Frames `[from, to)` of a segment within a chunk. Source time `sourceStart` becomes `outputStart`. */
export type ChunkSegment = { from: number; to: number; sourceStart: Ticks; outputStart: Ticks };

/** The segments that one process decodes and encodes, in order. */
export type RenderChunk = { segments: ChunkSegment[]; outputStart: Ticks; outputEnd: Ticks; frameCount: number };

export type ChunkSizes = {
  /** Frame counts, in order, that add up to the timeline; approximate ones with `findRandomAccessFrame`. */
  targets: readonly number[];
  /** Segments farther apart than this get separate chunks, because the frames between them would also be decoded. */
  maxGapFrames: number;
  maxSegments: number;
  /** Returns the last random access point at or before a frame. Chunks then end where few frames are decoded twice. */
  findRandomAccessFrame?: ((frame: number) => number) | undefined;
};

/** Returns equal sizes of at most `maxFrames` that add up to `frameCount`. */
export function chooseEqualSizes(frameCount: number, maxFrames: number): number[] {
  const mean = Math.ceil(frameCount / Math.max(1, Math.ceil(frameCount / maxFrames)));
  const sizes: number[] = [];
  for (let left = frameCount; left > 0; left -= mean) sizes.push(Math.min(mean, left));
  return sizes;
}

/** Divides a timeline into chunks of about the target sizes. A segment may start in one chunk and end in the next. */
export function divideIntoChunks(timeline: RenderTimeline, frames: FrameTimes, sizes: ChunkSizes): RenderChunk[] {
  const chunks: RenderChunk[] = [];
  let maxFrames = 0;
  let done = 0;
  for (const [n, segment] of timeline.segments.entries()) {
    const { from, to } = segment.frames!;
    for (let at = from; at < to; ) {
      const sourceStart = at === from ? segment.start : getFrameTime(frames, at);
      const outputStart = getOutputTime(segment, frames, at);
      let chunk = findOpenChunk(chunks, at, maxFrames, sizes);
      if (chunk === null) {
        chunk = { segments: [], outputStart, outputEnd: outputStart, frameCount: 0 };
        chunks.push(chunk);
        const target = findTarget(sizes.targets, done);
        maxFrames =
          sizes.findRandomAccessFrame === undefined
            ? target.frames
            : chooseChunkFrames(timeline, n, at, done, target, sizes.findRandomAccessFrame);
      }
      const segmentEnd = Math.min(to, at + maxFrames - chunk.frameCount);
      chunk.segments.push({ from: at, to: segmentEnd, sourceStart, outputStart });
      chunk.outputEnd = segmentEnd === to ? segment.outputEnd : getOutputTime(segment, frames, segmentEnd);
      chunk.frameCount += segmentEnd - at;
      done += segmentEnd - at;
      at = segmentEnd;
    }
  }
  return chunks;
}

/** The size of a chunk, and the number of output frames at its end. */
type ChunkTarget = { frames: number; end: number };

/** Returns the target of a chunk that starts after `done` frames. Skips chunks that are nearly covered already. */
function findTarget(targets: readonly number[], done: number): ChunkTarget {
  let end = 0;
  let last = 1;
  for (const frames of targets) {
    end += frames;
    last = frames;
    if (end > done + frames / 2) return { frames, end };
  }
  return { frames: last, end: Math.max(end, done + last) };
}

/** Maximum deviation from a chunk's target size to avoid decoding frames twice, as a share. */
const MAX_SIZE_DEVIATION = 0.12;
/** Cost of a frame of deviation, which delays the slowest process, relative to a frame that is decoded twice. */
const SIZE_DEVIATION_COST = 0.25;

/**
 * Returns the size in frames of a chunk that starts at frame `at` of a segment, after `done` frames of the output. The
 * chunk has about the size of its target, and ends where the next one decodes the fewest frames twice.
 */
function chooseChunkFrames(
  { segments, frameCount }: RenderTimeline,
  segment: number,
  at: number,
  done: number,
  target: ChunkTarget,
  findRandomAccessFrame: (frame: number) => number,
): number {
  const left = frameCount - done;
  const slack = Math.floor(target.frames * MAX_SIZE_DEVIATION);
  const ideal = Math.min(target.frames + slack, target.end - done);
  if (left <= ideal + slack) return left;
  let best = ideal;
  let lowest = Number.POSITIVE_INFINITY;
  let count = 0;
  for (let n = segment; n < segments.length && count <= ideal + slack; n++) {
    const { from, to } = segments[n]!.frames!;
    const first = n === segment ? at : from;
    for (let frame = first; frame < to; frame++, count++) {
      if (count < ideal - slack || count === 0) continue;
      if (count > ideal + slack) break;
      const before = frame > first ? frame : segments[n - 1]!.frames!.to;
      const cost = Math.max(0, before - findRandomAccessFrame(frame)) + Math.abs(count - ideal) * SIZE_DEVIATION_COST;
      if (cost < lowest) [best, lowest] = [count, cost];
    }
  }
  return Math.max(1, best);
}

/** Returns the last chunk if it includes a segment that starts at frame `from`. */
function findOpenChunk(
  chunks: readonly RenderChunk[],
  from: number,
  maxFrames: number,
  sizes: ChunkSizes,
): RenderChunk | null {
  const lastChunk = chunks.at(-1);
  if (lastChunk === undefined || lastChunk.frameCount >= maxFrames || lastChunk.segments.length >= sizes.maxSegments)
    return null;
  return from - lastChunk.segments.at(-1)!.to <= sizes.maxGapFrames ? lastChunk : null;
}

/** Presentation times of the output's frames in seconds, then the end. `constantRate` is null if durations differ. */
export type OutputTimes = { times: Float64Array; constantRate: Rational | null };

/** Returns the output times of a timeline whose frames keep the times of the source. */
export function toSourceOutputTimes(timeline: RenderTimeline, frames: FrameTimes): OutputTimes {
  const hasSourceTimes = timeline.segments.every(
    (segment) => segment.start === getFrameTime(frames, segment.frames!.from),
  );
  const constantRate = frames.kind === "constant" && hasSourceTimes ? frames.rate : null;
  const times = new Float64Array(timeline.frameCount + 1);
  let at = 0;
  for (const segment of timeline.segments)
    for (let n = segment.frames!.from; n < segment.frames!.to; n++, at++)
      times[at] =
        constantRate === null
          ? getOutputTime(segment, frames, n) / TICKS_PER_SECOND
          : (at * constantRate.den) / constantRate.num;
  times[at] = timeline.duration / TICKS_PER_SECOND;
  return { times, constantRate };
}

/** Returns the output times of `count` frames at a constant rate. */
export function toConstantOutputTimes(count: number, rate: Rational): OutputTimes {
  return { times: Float64Array.from({ length: count + 1 }, (_, n) => (n * rate.den) / rate.num), constantRate: rate };
}
