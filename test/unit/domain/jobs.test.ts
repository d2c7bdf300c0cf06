import { expect, test } from "bun:test";
import { AppError, type JobCode } from "../../../src/domain/errors";
import {
  decideRetry,
  ExecutionLost,
  isPermanent,
  type Job,
  JobKilled,
  type JobName,
  JobPostponed,
  MAX_FAILURES,
  type RetryDecision,
  retryDelayMs,
} from "../../../src/domain/jobs";

test.each<[JobName, JobCode, boolean]>([
  ["prepare", "corrupt_media", true],
  ["prepare", "unsupported_media", true],
  ["prepare", "storage_full", false],
  ["prepare", "processing_failed", false],
  ["cut", "no_speech", true],
  ["cut", "storage_full", false],
  ["render", "storage_full", true],
  ["render", "corrupt_media", false],
])("%s that fails with %s fails permanently: %p", (name, code, expected) => {
  expect(isPermanent(name, new AppError(code, "x"))).toBe(expected);
});

test("an error without a code is never permanent", () => {
  for (const error of [new Error("x"), new JobKilled(), "x", null, undefined])
    expect(isPermanent("prepare", error)).toBe(false);
});

test("each retry waits longer than the one before, and the last failure is permanent", () => {
  const delays = Array.from({ length: MAX_FAILURES }, (_, n) => retryDelayMs(n + 1));
  expect(delays.at(-1)).toBeNull();
  const waits = delays.slice(0, -1) as number[];
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect(Math.min(...waits)).toBeGreaterThan(0);
  expect(retryDelayMs(MAX_FAILURES + 5)).toBeNull();
});

const job: Job = {
  stepId: "step",
  pipelineId: "pipeline",
  workspaceId: "workspace",
  name: "render",
  subjectId: "subject",
  attempt: 4,
  failures: 1,
  kernelKills: 0,
  runsAlone: false,
};
const requeued = { kind: "requeue", delayMs: 0, attempts: 4, failures: 1, kernelKills: 0 } as const;

test.each<[string, Partial<Job>, unknown, Partial<RetryDecision>]>([
  ["a crash", {}, new Error("x"), { ...requeued, delayMs: 15_000, failures: 2 }],
  ["the first kill by the kernel", {}, new JobKilled(), { ...requeued, kernelKills: 1 }],
  ["the second kill by the kernel", { kernelKills: 1 }, new JobKilled(), { kind: "fail", code: "processing_failed" }],
  [
    "a lack of space before the start",
    {},
    new JobPostponed(30_000, { isStarted: false }),
    { ...requeued, delayMs: 30_000, attempts: 3 },
  ],
  ["a worker that is gone", {}, new ExecutionLost("gone", true), { ...requeued, attempts: 4 }],
  ["a worker that never started it", {}, new ExecutionLost("gone", false), { ...requeued, attempts: 3 }],
  ["a lack of space afterwards", {}, new JobPostponed(60_000, { isStarted: true }), { ...requeued, delayMs: 60_000 }],
  [
    "a permanent code",
    {},
    new AppError("storage_full", "the storage is full"),
    { kind: "fail", code: "storage_full", message: "The storage is full." },
  ],
  [
    "the last failure, with a message for users",
    { failures: MAX_FAILURES - 1 },
    new AppError("processing_failed", "nothing is left to render"),
    { kind: "fail", code: "processing_failed", message: "Nothing is left to render." },
  ],
  [
    "the last failure, with a message that may contain paths",
    { failures: MAX_FAILURES - 1 },
    new Error("/secret/path"),
    { kind: "fail", code: "processing_failed", message: "Internal error. Details are in the server log." },
  ],
])("%s decides what happens to a job", (_, change, error, expected) => {
  expect(decideRetry({ ...job, ...change }, error)).toMatchObject(expected);
});
