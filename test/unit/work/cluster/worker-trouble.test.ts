import { expect, test } from "bun:test";
import { AppError } from "../../../../src/domain/errors";
import { createWorkerTrouble } from "../../../../src/work/cluster/worker-trouble";

function bench() {
  const state = { now: 0 };
  return { state, trouble: createWorkerTrouble(() => state.now) };
}

test("a worker that fails is avoided for the step for ten minutes, and chosen last until it completes something", () => {
  const { state, trouble } = bench();
  trouble.record("w", "step", "failed", new Error("bwrap: No permissions"));
  expect([trouble.rank("w", "step"), trouble.rank("w", "another"), trouble.rank("v", "step")]).toEqual([2, 1, 0]);
  trouble.record("w", "another", "completed", null);
  expect([trouble.rank("w", "step"), trouble.rank("w", "another")]).toEqual([2, 0]);
  state.now += 600_000;
  trouble.prune();
  expect(trouble.rank("w", "step")).toBe(0);
});

test("a lost execution counts for 30 s; a damaged file, a yield and a cancellation are not the worker's fault", () => {
  const { state, trouble } = bench();
  trouble.record("w", "a", "lost", null);
  state.now += 29_999;
  expect(trouble.rank("w", "a")).toBe(2);
  state.now++;
  trouble.record("w", "b", "yielded", null);
  expect(trouble.rank("w", "a")).toBe(0);
  trouble.record("w", "c", "failed", new AppError("corrupt_media", "File is damaged."));
  trouble.record("w", "c", "failed", Object.assign(new Error("i/o error"), { code: "EIO", syscall: "read" }));
  trouble.record("w", "c", "aborted", null);
  trouble.record("w", "c", "released", null);
  expect(trouble.rank("w", "c")).toBe(0);
});

test("a worker that takes no tickets waits longer each time", () => {
  const { state, trouble } = bench();
  const avoidedFor = () => {
    trouble.avoid("w", "not_taken");
    let seconds = 0;
    for (; trouble.isAvoided("w"); seconds++) state.now += 1_000;
    return seconds;
  };
  expect([1, 2, 3, 4, 5, 6].map(avoidedFor)).toEqual([5, 10, 20, 40, 60, 60]);
  trouble.record("w", "step", "completed", null);
  expect(avoidedFor()).toBe(5);
  trouble.avoid("w", "not_taken");
  trouble.record("w", "step", "completed", null);
  expect(trouble.isAvoided("w")).toBe(true);
});

test("a worker that returns executions one by one is avoided from the last one", () => {
  const { state, trouble } = bench();
  trouble.avoid("w", "released");
  state.now += 4_000;
  trouble.avoid("w", "released");
  state.now += 4_000;
  expect(trouble.isAvoided("w")).toBe(true);
  state.now += 1_000;
  expect(trouble.isAvoided("w")).toBe(false);
});

test("a worker whose disk is full waits longer each time, and for the same step another place is preferred", () => {
  const { state, trouble } = bench();
  const avoidedFor = () => {
    for (const step of ["a", "b", "c"]) trouble.record("w", step, "disk_full", null);
    let seconds = 0;
    for (; trouble.isAvoided("w"); seconds++) {
      state.now += 1_000;
      trouble.prune();
    }
    // A step that needs less space still completes.
    trouble.record("w", "small", "completed", null);
    return seconds;
  };
  expect([1, 2, 3, 4, 5, 6, 7, 8].map(avoidedFor)).toEqual([15, 30, 60, 120, 240, 480, 600, 600]);
  expect([trouble.rank("w", "a"), trouble.rank("w", "other"), trouble.isAvoided("v")]).toEqual([0, 0, false]);
  state.now += 1_800_000;
  trouble.prune();
  expect(avoidedFor()).toBe(15);
  expect(trouble.rank("w", "a")).toBe(2);
});
