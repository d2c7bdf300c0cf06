import { expect, test } from "bun:test";
import { listRemovedSpans, toSegments } from "../../../src/domain/segments";
import type { FrameTimes } from "../../../src/domain/time";

const frames: FrameTimes = { kind: "constant", rate: { num: 25, den: 1 }, first: 0, count: 250 };
const clock = { duration: 10_000_000, frames };
const span = (start: number, end: number, text = "", review: string | null = null) => ({ start, end, text, review });

test("starts are floored and ends raised to frames", () => {
  expect(toSegments([span(1_010_000, 2_010_000, "a")], clock)).toEqual([
    { start: 1_000_000, end: 2_040_000, startFrame: 25, endFrame: 51, text: "a", review: null },
  ]);
});

test("without video the times stay as they are", () => {
  const [only] = toSegments([span(1_010_001, 2_010_001)], { duration: 10_000_000, frames: null });
  expect(only).toMatchObject({ start: 1_010_001, end: 2_010_001, startFrame: null, endFrame: null });
});

test("what touches after snapping is joined", () => {
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

test("what is too short is lengthened to a tenth of a second", () => {
  for (const at of [0, 5_000_000, 9_990_000]) {
    const [only] = toSegments([span(at, at + 5_000)], clock);
    expect(only!.end - only!.start).toBeGreaterThanOrEqual(100_000);
    expect(only!.start).toBeLessThanOrEqual(at);
    expect(only!.end).toBeGreaterThanOrEqual(at + 5_000);
  }
});

test("the recording's own end stays when sound outlasts the picture", () => {
  const [only] = toSegments([span(9_000_000, 10_000_000)], { duration: 10_000_000, frames: { ...frames, count: 240 } });
  expect(only).toMatchObject({ end: 10_000_000, endFrame: 240 });
});

test("the recording's own start stays when the picture begins later", () => {
  const [only] = toSegments([span(10_000, 1_000_000)], { duration: 10_000_000, frames: { ...frames, first: 33_000 } });
  expect(only).toMatchObject({ start: 0, startFrame: 0 });
});

test("what lies outside the recording is left out", () => {
  expect(toSegments([span(11_000_000, 12_000_000), span(-2, -1)], clock)).toEqual([]);
});

test("gaps are divided among what was dropped in them, longer quiet on its own", () => {
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
