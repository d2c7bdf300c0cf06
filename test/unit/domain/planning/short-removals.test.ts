import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { RemovedSpan, Segment } from "../../../../src/domain/plan";
import { closeShortGaps, mergeShortRemovals } from "../../../../src/domain/planning/assemble-segments";
import { CUTTING } from "../../../../src/domain/planning/thresholds";
import { fromSeconds } from "../../../../src/domain/time";

const clock = { duration: fromSeconds(10), frames: null };
const segment = (start: number, end: number, text: string): Segment => ({
  start: fromSeconds(start),
  end: fromSeconds(end),
  startFrame: null,
  endFrame: null,
  text,
  review: null,
});
const removed = (start: number, end: number, reason: RemovedSpan["reason"], text = ""): RemovedSpan => ({
  start: fromSeconds(start),
  end: fromSeconds(end),
  reason,
  text,
});
const show = ({ start, end, reason, text }: RemovedSpan) => [start / 1e6, end / 1e6, reason, text];

describe("a removal under 60 ms", () => {
  test("between kept speech stays, with its text", () => {
    const closed = closeShortGaps(
      [segment(1, 2, "so"), segment(2.05, 3, "we go")],
      [removed(1.9, 2.1, "filler", "uh")],
      clock,
    );
    expect(closed.map(({ start, end, text }) => [start / 1e6, end / 1e6, text])).toEqual([[1, 3, "so uh we go"]]);
  });
  test("at the start and at the end of the recording stays", () => {
    const noises = [removed(0, 0.02, "noise"), removed(9.97, 10, "noise")];
    const [only] = closeShortGaps([segment(0.04, 9.96, "all")], noises, clock);
    expect([only!.start, only!.end]).toEqual([0, clock.duration]);
  });
  test("of silence alone is not affected: the options ask for it", () => {
    expect(closeShortGaps([segment(1, 2, "a"), segment(2.05, 3, "b")], [], clock)).toHaveLength(2);
  });
  test("belongs to the longer removal next to it", () => {
    const merged = mergeShortRemovals([
      removed(1, 1.1, "filler", "um"),
      removed(1.1, 1.14, "noise"),
      removed(1.14, 2, "retake", "we"),
    ]);
    expect(merged.map(show)).toEqual([
      [1, 1.1, "filler", "um"],
      [1.1, 2, "retake", "we"],
    ]);
  });
  test("joins two removals with one reason beside it", () => {
    const merged = mergeShortRemovals([
      removed(1, 2, "retake", "so we"),
      removed(2, 2.05, "filler", "um"),
      removed(2.05, 3, "retake", "we"),
    ]);
    expect(merged.map(show)).toEqual([[1, 3, "retake", "so we um we"]]);
  });
  test("with a word beside noise gives the noise its reason", () => {
    const merged = mergeShortRemovals([removed(1, 2, "noise"), removed(2, 2.05, "filler", "um")]);
    expect(merged.map(show)).toEqual([[1, 2.05, "filler", "um"]]);
  });
  test("of noise in a pause is silence", () => {
    const pause = [removed(1, 1.5, "silence"), removed(1.5, 1.53, "noise"), removed(1.53, 2, "silence")];
    expect(mergeShortRemovals(pause).map(show)).toEqual([[1, 2, "silence", ""]]);
  });
  test("with a word in a pause is extended into the pause", () => {
    const pause = [removed(1, 1.5, "silence"), removed(1.5, 1.53, "filler", "uh"), removed(1.53, 2, "silence")];
    expect(mergeShortRemovals(pause).map(show)).toEqual([
      [1, 1.5, "silence", ""],
      [1.5, 1.561, "filler", "uh"],
      [1.561, 2, "silence", ""],
    ]);
  });
});

test("merging keeps the removed time, leaves no short removal in a gap of 60 ms or more, and loses no text", () => {
  const gap = fc
    .array(
      fc.record({
        length: fc.integer({ min: 1, max: 200_000 }),
        reason: fc.constantFrom("silence" as const, "noise" as const, "filler" as const, "retake" as const),
      }),
      { minLength: 1, maxLength: 8 },
    )
    .filter((parts) => parts.reduce((sum, { length }) => sum + length, 0) >= CUTTING.minRemoval);
  fc.assert(
    fc.property(gap, (parts) => {
      let at = 0;
      const spans = parts.map(({ length, reason }, i): RemovedSpan => {
        const start = at;
        at += length;
        return { start, end: at, reason, text: reason === "silence" || reason === "noise" ? "" : `w${i}` };
      });
      const merged = mergeShortRemovals(spans);
      let end = 0;
      for (const span of merged) {
        expect(span.start).toBe(end);
        end = span.end;
        if (span.reason !== "silence") expect(end - span.start).toBeGreaterThanOrEqual(CUTTING.minRemoval);
        if (span.text !== "") expect(["filler", "retake"]).toContain(span.reason);
      }
      expect(end).toBe(at);
      const texts = (all: RemovedSpan[]) => all.map(({ text }) => text).filter((text) => text !== "");
      expect(texts(merged).join(" ")).toBe(texts(spans).join(" "));
    }),
  );
});
