/** How long a page waits for a preview. */
import { expect, test } from "bun:test";
import { fromSeconds } from "../../../../src/domain/time";
import { estimatePreviewWait } from "../../../../src/work/previews/previews";

const NOW = 1e12;
const running = { stepId: "a", duration: fromSeconds(600), progress: 0.25, startedAt: NOW - 60_000 };
const waiting = { duration: fromSeconds(300), progress: null, startedAt: null };
const previews = [running, { ...waiting, stepId: "b" }, { ...waiting, stepId: "c" }];

test("a preview takes as long as its speed says, and the next ones wait for it", () => {
  expect(estimatePreviewWait("a", previews, NOW)).toEqual({ position: 1, seconds: 180 });
  expect(estimatePreviewWait("c", previews, NOW)).toEqual({ position: 3, seconds: 420 });
  // One that is not among those that were counted comes after them.
  expect(estimatePreviewWait("d", previews, NOW)).toEqual({ position: 3, seconds: 420 });
});

test("until one has progressed, the speed of an idle server counts, or less if it takes longer", () => {
  const waitAfter = (startedAt: number | null) =>
    estimatePreviewWait("b", [{ ...running, progress: 0.01, startedAt }, previews[1]!], NOW).seconds;
  // 894 of 900 seconds are left.
  for (const startedAt of [null, NOW, NOW - 1_000, NOW - 60_000]) expect(waitAfter(startedAt)).toBe(90);
  expect(waitAfter(NOW - 600_000)).toBe(894);
});

test("a recording without a duration does not count", () => {
  expect(estimatePreviewWait("a", [{ ...running, duration: null }], NOW)).toEqual({ position: 1, seconds: 0 });
});
