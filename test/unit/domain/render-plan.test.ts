import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ProbedMedia, RenderSegment } from "../../../src/domain/media";
import { chooseEqualSizes, divideIntoChunks, getOutputTime, placeSegments } from "../../../src/domain/render-plan";
import { type FrameTimes, getFrameTime } from "../../../src/domain/time";

const NTSC: FrameTimes = { kind: "constant", rate: { num: 30_000, den: 1_001 }, first: 20_000, count: 3_000 };

function source(frames: FrameTimes | null, duration = 101_000_000): ProbedMedia {
  return {
    info: { type: "video", demuxer: "mov", duration, startPts: 0, video: null, audio: [], timecode: null },
    frames,
  };
}

const at = (start: number, end: number): RenderSegment => ({ start, end, startFrame: null, endFrame: null });

const plans = fc
  .uniqueArray(fc.integer({ min: 0, max: 100_000_000 }), { minLength: 2, maxLength: 60 })
  .map((edges) => edges.sort((a, b) => a - b))
  .map((edges) => edges.flatMap((edge, n) => (n % 2 === 1 ? [at(edges[n - 1]!, edge)] : [])));

describe("placing segments", () => {
  test("the whole source starts with its audio and ends with the longer track", () => {
    const { segments, duration } = placeSegments(source(NTSC), null);
    expect(segments).toEqual([
      { start: 0, end: 101_000_000, outputStart: 0, outputEnd: 101_000_000, frames: { from: 0, to: 3_000 } },
    ]);
    expect(duration).toBe(101_000_000);
  });

  test("starts are rounded down to a frame, ends up", () => {
    const { segments } = placeSegments(source(NTSC), [at(1_000_000, 2_000_000)]);
    const { start, end, frames } = segments[0]!;
    expect(start).toBe(getFrameTime(NTSC, frames!.from));
    expect(end).toBe(getFrameTime(NTSC, frames!.to));
    expect(start).toBeLessThanOrEqual(1_000_000);
    expect(end).toBeGreaterThanOrEqual(2_000_000);
  });

  test("segments that meet in a frame are merged", () => {
    const { segments } = placeSegments(source(NTSC), [at(1_000_000, 2_000_000), at(2_010_000, 3_000_000)]);
    expect(segments).toHaveLength(1);
  });

  test("audio without video is cut at the exact times", () => {
    const { segments, duration } = placeSegments(source(null), [at(1_000_001, 2_000_000), at(3_000_000, 3_500_007)]);
    expect(segments.map(({ outputStart, outputEnd }) => [outputStart, outputEnd])).toEqual([
      [0, 999_999],
      [999_999, 1_500_006],
    ]);
    expect(duration).toBe(1_500_006);
  });

  test("audio beyond the last frame extends that frame", () => {
    const { segments } = placeSegments(source(NTSC), [at(100_500_000, 101_000_000)]);
    expect(segments[0]).toMatchObject({ end: 101_000_000, frames: { from: 2_999, to: 3_000 } });
  });

  test("the output has no gaps, and its duration matches the number of frames", () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const { segments, duration, frameCount } = placeSegments(source({ ...NTSC, first: 0 }, 100_100_000), plan);
        let out = 0;
        for (const segment of segments) {
          expect(segment.outputStart).toBe(out);
          expect(Math.abs(segment.outputEnd - segment.outputStart - (segment.end - segment.start))).toBeLessThanOrEqual(
            2,
          );
          out = segment.outputEnd;
        }
        expect(duration).toBe(out);
        expect(Math.abs(duration - (frameCount * 1_001_000_000) / 30_000)).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe("dividing into chunks", () => {
  const limits = { maxGapFrames: 20, maxSegments: 4 };

  test("every kept frame is in one chunk, in order, within the sizes", () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const timeline = placeSegments(source(NTSC), plan);
        const chunks = divideIntoChunks(timeline, NTSC, {
          targets: chooseEqualSizes(timeline.frameCount, 100),
          ...limits,
        });
        const list = (ranges: { from: number; to: number }[]) =>
          ranges.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, n) => from + n));
        expect(list(chunks.flatMap((chunk) => chunk.segments))).toEqual(list(timeline.segments.map((s) => s.frames!)));
        let out = 0;
        for (const chunk of chunks) {
          expect(chunk.outputStart).toBe(out);
          expect(chunk.frameCount).toBeLessThanOrEqual(100);
          expect(chunk.segments.length).toBeLessThanOrEqual(limits.maxSegments);
          expect(chunk.frameCount).toBe(list(chunk.segments).length);
          for (let n = 1; n < chunk.segments.length; n++)
            expect(chunk.segments[n]!.from - chunk.segments[n - 1]!.to).toBeLessThanOrEqual(limits.maxGapFrames);
          out = chunk.outputEnd;
        }
        expect(out).toBe(timeline.duration);
      }),
    );
  });

  test("a long segment is divided evenly", () => {
    const timeline = placeSegments(source(NTSC), null);
    const chunks = divideIntoChunks(timeline, NTSC, {
      targets: chooseEqualSizes(timeline.frameCount, 900),
      ...limits,
    });
    expect(chunks.map((chunk) => chunk.frameCount)).toEqual([750, 750, 750, 750]);
    expect(getOutputTime(timeline.segments[0]!, NTSC, 750)).toBe(chunks[1]!.outputStart);
  });

  test("chunks end where few frames are decoded twice, and have about the same size", () => {
    const group = fc.integer({ min: 10, max: 80 });
    fc.assert(
      fc.property(plans, group, (plan, length) => {
        const timeline = placeSegments(source(NTSC), plan);
        const startBefore = (frame: number) => frame - (frame % length);
        const targets = chooseEqualSizes(timeline.frameCount, 300);
        const wide = { targets, maxGapFrames: Number.POSITIVE_INFINITY, maxSegments: 100 };
        const plain = divideIntoChunks(timeline, NTSC, wide);
        const chunks = divideIntoChunks(timeline, NTSC, { ...wide, findRandomAccessFrame: startBefore });
        const list = (ranges: { from: number; to: number }[]) =>
          ranges.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, n) => from + n));
        expect(list(chunks.flatMap((chunk) => chunk.segments))).toEqual(list(timeline.segments.map((s) => s.frames!)));
        expect(chunks.at(-1)!.outputEnd).toBe(timeline.duration);
        expect(chunks.length).toBe(plain.length);
        for (const [n, chunk] of chunks.entries()) {
          expect(chunk.outputStart).toBe(n === 0 ? 0 : chunks[n - 1]!.outputEnd);
          expect(chunk.frameCount).toBe(list(chunk.segments).length);
          expect(chunk.frameCount).toBeLessThanOrEqual(300 * 1.25);
        }
        if (chunks.length !== 2) return;
        const twice = ([one, two]: typeof chunks) =>
          Math.max(0, one!.segments.at(-1)!.to - startBefore(two!.segments[0]!.from));
        expect(twice(chunks)).toBeLessThanOrEqual(twice(plain));
      }),
    );
  });

  test("a chunk of a long segment ends at a random access point", () => {
    const timeline = placeSegments(source(NTSC), null);
    const targets = chooseEqualSizes(timeline.frameCount, 800);
    const startBefore = (frame: number) => frame - (frame % 250);
    const chunks = divideIntoChunks(timeline, NTSC, {
      targets,
      ...limits,
      findRandomAccessFrame: startBefore,
    });
    expect(chunks.map((chunk) => chunk.frameCount)).toEqual([750, 750, 750, 750]);
    const shifted = divideIntoChunks(timeline, NTSC, {
      targets,
      ...limits,
      findRandomAccessFrame: (n) => n - (n % 260),
    });
    expect(shifted.map((chunk) => chunk.segments[0]!.from)).toEqual([0, 780, 1_560, 2_340]);
  });
});
