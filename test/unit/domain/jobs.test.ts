import { expect, test } from "bun:test";
import { AppError, type JobCode } from "../../../src/domain/errors";
import { isPermanent, JobKilled, type JobName, MAX_FAILURES, retryDelayMs } from "../../../src/domain/jobs";

test.each<[JobName, JobCode, boolean]>([
  ["prepare", "corrupt_media", true],
  ["prepare", "unsupported_media", true],
  ["prepare", "storage_full", false],
  ["prepare", "processing_failed", false],
  ["cut", "no_speech", true],
  ["cut", "storage_full", false],
  ["render", "storage_full", true],
  ["render", "corrupt_media", false],
])("%s that ends in %s is tried no more: %p", (name, code, expected) => {
  expect(isPermanent(name, new AppError(code, "x"))).toBe(expected);
});

test("an error of no kind is never permanent", () => {
  for (const error of [new Error("x"), new JobKilled(), "x", null, undefined])
    expect(isPermanent("prepare", error)).toBe(false);
});

test("each failure waits longer than the one before, and the last for ever", () => {
  const delays = Array.from({ length: MAX_FAILURES }, (_, n) => retryDelayMs(n + 1));
  expect(delays.at(-1)).toBeNull();
  const waits = delays.slice(0, -1) as number[];
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect(Math.min(...waits)).toBeGreaterThan(0);
  expect(retryDelayMs(MAX_FAILURES + 5)).toBeNull();
});
