import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { SpliceSegment } from "../../../src/domain/smart-plan";
import { createRenderProgress, type RenderStage, type RenderWorkload } from "../../../src/media/render-progress";
import { groupSpliceTasks } from "../../../src/media/smart/splice-encode";

const segmentLists = fc
  .array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 200 })
  .map((lengths) =>
    lengths.map((length, n): SpliceSegment => ({ kind: "encode", from: n * 200, to: n * 200 + length })),
  );

describe("grouping the segments of a smart render", () => {
  test("every segment is in one task, in order, and tasks have about the same size", () => {
    const sizes = fc.record({ frames: fc.integer({ min: 30, max: 600 }), jobs: fc.integer({ min: 1, max: 8 }) });
    fc.assert(
      fc.property(segmentLists, sizes, fc.integer({ min: 1, max: 4 }), (all, { frames, jobs: maxProcesses }, every) => {
        const tasks = groupSpliceTasks(all, frames, maxProcesses, (_, segment) => (segment.from / 200) % every === 0);
        expect(tasks.flatMap((task) => task.segments)).toEqual(all);
        const total = all.reduce((sum, { from, to }) => sum + to - from, 0);
        const taskCount = Math.max(total / frames, all.length / 32);
        const count = taskCount <= 1 ? 1 : maxProcesses * Math.max(1, Math.round(taskCount / maxProcesses));
        for (const task of tasks) {
          expect(task.frameCount).toBe(task.segments.reduce((sum, { from, to }) => sum + to - from, 0));
          expect(task.frameCount).toBeLessThanOrEqual(Math.max((1.25 * total) / count, total / count + 120));
          expect(task.segments.length).toBeLessThanOrEqual(64);
        }
        expect(tasks.length).toBeLessThanOrEqual(count + all.length / 64);
      }),
    );
  });

  test("segments that share packets stay together where there is room", () => {
    const all = [0, 200, 400, 600].map((from): SpliceSegment => ({ kind: "encode", from, to: from + 60 }));
    const lengths = (sharesPackets: (before: SpliceSegment, segment: SpliceSegment) => boolean) =>
      groupSpliceTasks(all, 120, 2, sharesPackets).map((task) => task.segments.length);
    expect(lengths(() => false)).toEqual([2, 2]);
    expect(lengths(() => true)).toEqual([2, 2]);
    const small = [...all, { kind: "encode", from: 800, to: 830 } as const];
    expect(groupSpliceTasks(small, 135, 2, () => true).map((task) => task.segments.length)).toEqual([2, 3]);
    expect(groupSpliceTasks(small.toReversed(), 135, 2, () => true).map((task) => task.segments.length)).toEqual([
      3, 2,
    ]);
  });

  test("no task has more segments than a command line may select, however short they are", () => {
    const lengths = [...Array<number>(200).fill(125), ...Array<number>(150).fill(5)];
    const all = lengths.map((length, n): SpliceSegment => ({ kind: "encode", from: n * 200, to: n * 200 + length }));
    for (const sharesPackets of [() => false, () => true]) {
      const tasks = groupSpliceTasks(all, 600, 2, sharesPackets);
      expect(tasks.flatMap((task) => task.segments)).toEqual(all);
      expect(Math.max(...tasks.map((task) => task.segments.length))).toBe(64);
    }
  });
});

describe("render progress", () => {
  const workload: RenderWorkload = {
    encoding: "whole",
    encodedFrames: 900,
    pixels: 1280 * 720,
    frames: 3_000,
    checkedFrames: 300,
    audioSeconds: 100,
    processes: 2,
  };
  const stages: RenderStage[] = ["video", "audio", "write", "mux", "check"];

  test("increases with every stage in any order, and is not complete before the end", () => {
    const steps = fc.array(fc.tuple(fc.constantFrom(...stages), fc.double({ min: 0, max: 2, noNaN: true })));
    fc.assert(
      fc.property(steps, (reports) => {
        const reported: number[] = [];
        const report = createRenderProgress(workload, (share) => reported.push(share));
        for (const [stage, share] of reports) report(stage, share);
        expect(reported).toEqual([...reported].sort((a, b) => a - b));
        for (const stage of stages) report(stage, 1);
        expect(reported.at(-1)).toBeCloseTo(0.99, 9);
      }),
    );
  });

  test("stays in range for a render without work", () => {
    const reported: number[] = [];
    const none: RenderWorkload = {
      encoding: "h264 segments",
      encodedFrames: 0,
      pixels: 0,
      frames: 0,
      checkedFrames: 0,
      audioSeconds: 0,
      processes: 1,
    };
    createRenderProgress(none, (share) => reported.push(share))("mux", 1);
    expect(reported).toEqual([0.99]);
  });
});
