import { expect, test } from "bun:test";
import { listRemovedSpans, toSegments } from "../../../src/domain/segments";
import type { FrameTimes } from "../../../src/domain/time";

const frames: FrameTimes = { kind: "constant", rate: { num: 25, den: 1 }, first: 0, count: 250 };
const clock = { duration: 10_000_000, frames };
const span = (start: number, end: number, text = "", review: string | null = null) => ({ start, end, text, review });

test("starts are rounded down and ends up to frames", () => {
  expect(toSegments([span(1_010_000, 2_010_000, "a")], clock)).toEqual([
    { start: 1_000_000, end: 2_040_000, startFrame: 25, endFrame: 51, text: "a", review: null },
  ]);
});

test("without video times are unchanged", () => {
  const [only] = toSegments([span(1_010_001, 2_010_001)], { duration: 10_000_000, frames: null });
  expect(only).toMatchObject({ start: 1_010_001, end: 2_010_001, startFrame: null, endFrame: null });
});

test("segments that touch after snapping are merged", () => {
  const [only, ...others] = toSegments(
    [span(1_000_000, 1_990_000, "a", "x"), span(2_010_000, 3_000_000, "b", "y")],
    clock,
  );
  expect(others).toEqual([]);
  expect(only).toMatchObject({
    start: 1_000_000,
    end: 3_000_000,
    text: "a b",
    review: "x; y",
    startFrame: 25,
    endFrame: 75,
  });
});

test("segments that are too short are extended to 0.1 s", () => {
  for (const at of [0, 5_000_000, 9_990_000]) {
    const [only] = toSegments([span(at, at + 5_000)], clock);
    expect(only!.end - only!.start).toBeGreaterThanOrEqual(100_000);
    expect(only!.start).toBeLessThanOrEqual(at);
    expect(only!.end).toBeGreaterThanOrEqual(at + 5_000);
  }
});

test("the end of the recording is kept when audio is longer than video", () => {
  const [only] = toSegments([span(9_000_000, 10_000_000)], { duration: 10_000_000, frames: { ...frames, count: 240 } });
  expect(only).toMatchObject({ end: 10_000_000, endFrame: 240 });
});

test("the start of the recording is kept when video starts later", () => {
  const [only] = toSegments([span(10_000, 1_000_000)], { duration: 10_000_000, frames: { ...frames, first: 33_000 } });
  expect(only).toMatchObject({ start: 0, startFrame: 0 });
});

test("spans outside the recording are dropped", () => {
  expect(toSegments([span(11_000_000, 12_000_000), span(-2, -1)], clock)).toEqual([]);
});

test("gaps are divided among their dropped spans; longer silence is listed separately", () => {
  const dropped = [
    { start: 2_000_000, end: 3_000_000, reason: "retake" as const, text: "one" },
    { start: 3_100_000, end: 3_500_000, reason: "retake" as const, text: "two" },
    { start: 5_000_000, end: 5_400_000, reason: "filler" as const, text: "um" },
  ];
  expect(
    listRemovedSpans(
      [
        { start: 0, end: 1_900_000 },
        { start: 5_500_000, end: 10_000_000 },
      ],
      dropped,
      10_000_000,
      300_000,
    ),
  ).toEqual([
    { start: 1_900_000, end: 3_500_000, reason: "retake", text: "one two" },
    { start: 3_500_000, end: 5_000_000, reason: "silence", text: "" },
    { start: 5_000_000, end: 5_500_000, reason: "filler", text: "um" },
  ]);
});
