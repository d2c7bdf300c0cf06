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

test("until one has progressed, the speed of an idle server counts", () => {
  const idle = { position: 2, seconds: 90 };
  for (const change of [{ progress: null }, { progress: 0 }, { startedAt: null, progress: 0 }, { startedAt: NOW }])
    expect(estimatePreviewWait("b", [{ ...running, progress: 0, ...change }, previews[1]!], NOW)).toEqual(idle);
});

test("a recording without a duration does not count", () => {
  expect(estimatePreviewWait("a", [{ ...running, duration: null }], NOW)).toEqual({ position: 1, seconds: 0 });
});
