import { afterAll, describe, expect, test } from "bun:test";
import { AppError } from "../../../../src/domain/errors";
import { isPermanent, JobKilled } from "../../../../src/domain/jobs";
import { killAllChildren } from "../../../../src/lib/process";
import type { Sandbox } from "../../../../src/lib/sandbox";
import {
  type JobChildOptions,
  openJobChild,
  openRunChild,
  type RunOptions,
} from "../../../../src/work/job-child/child";
import { jobErrorCodec } from "../../../../src/work/job-child/error-codec";

const sandbox: Sandbox = { mode: "none", reason: "a test", wrap: (command) => command };
const PEAKS = { audio: "", outputPath: "" };

/** Options with which a run would start its own child. */
const UNUSED: Omit<JobChildOptions, "limitCode"> = {
  command: ["/nowhere"],
  sandbox,
  view: { readOnly: [], writable: [], devices: false },
  maxMemoryBytes: 1024 ** 3,
  maxFileBytes: null,
};

const UNRULY = new URL("./unruly-child.ts", import.meta.url).pathname;

afterAll(killAllChildren);

/** Returns the error of a call to a misbehaving child, that of another call, and the time taken. */
async function run(behavior: string, options: RunOptions = {}, maxMemoryBytes = 1024 ** 3) {
  await using child = openJobChild({
    command: [process.execPath, UNRULY, behavior],
    sandbox,
    view: { readOnly: [], writable: [], devices: false },
    limitCode: "corrupt_media",
    maxMemoryBytes,
    maxFileBytes: null,
  });
  const started = performance.now();
  const error = await child.run("peaks", PEAKS, options).catch((reason: unknown) => reason);
  const again = await child.run("peaks", PEAKS, options).catch((reason: unknown) => reason);
  return { error, again, milliseconds: performance.now() - started };
}

const MINUTE = { cpuSeconds: 60, wallSeconds: 60 };

describe("a child that reaches a limit fails its job permanently:", () => {
  test.each([
    ["memory", "allocate", {}, 300 * 1024 ** 2],
    ["CPU time", "spin", { limits: { ...MINUTE, cpuSeconds: 0.5 } }, undefined],
    ["time", "sleep", { limits: { ...MINUTE, wallSeconds: 0.3 } }, undefined],
  ])("%s", async (what, behavior, options, maxMemoryBytes) => {
    const { error, again } = await run(behavior, options, maxMemoryBytes);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: "corrupt_media", message: expect.stringContaining(what) });
    expect(isPermanent("prepare", error)).toBe(true);
    expect(again).toBe(error);
  });
});

test("a run cannot end a shared child, and a limit fails it with the run's own code", async () => {
  const shared = (behavior: string) =>
    openJobChild({
      command: [process.execPath, UNRULY, behavior],
      sandbox,
      view: { readOnly: [], writable: [], devices: false },
      limitCode: "processing_failed",
      maxMemoryBytes: 1024 ** 3,
      maxFileBytes: null,
    });
  await using child = shared("fail");
  for (const limitCode of ["corrupt_media", "processing_failed"] as const) {
    await using run = openRunChild(child, { ...UNUSED, limitCode });
    await expect(run.run("peaks", PEAKS)).rejects.toThrow("no such codec");
  }
  await using sleeper = shared("sleep");
  const limits = { ...MINUTE, wallSeconds: 0.3 };
  const error = sleeper.lend("corrupt_media").run("peaks", PEAKS, { limits });
  await expect(error).rejects.toMatchObject({ code: "corrupt_media" });
});

test("a child that the kernel kills is distinguished from one that crashes", async () => {
  expect((await run("be killed")).error).toBeInstanceOf(JobKilled);
  for (const behavior of ["crash", "exit", "babble"]) {
    const { error } = await run(behavior);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(AppError);
    expect(error).not.toBeInstanceOf(JobKilled);
  }
});

test("an error keeps its code, its message and its cause", async () => {
  const { error } = await run("fail");
  expect(error).toBeInstanceOf(AppError);
  expect(error).toMatchObject({
    code: "unsupported_media",
    message: "no such codec",
    details: { cause: new Error("the cause") },
  });
});

const LONG = "x".repeat(1_000_000);

test.each([
  ["of the API", { kind: "app", code: "corrupt_media", retryAfterSeconds: LONG, isPermanent: LONG }],
  ["with an unknown code", { kind: "app", code: LONG }],
  ["of the system", { kind: "error", name: LONG, stack: LONG, code: LONG }],
  ["of no kind", { kind: LONG, name: [LONG], stack: { LONG }, code: 7 }],
])("an error %s is short, whatever the child sends", (_, sent) => {
  const field = { field: LONG, message: LONG, type: LONG, input: LONG, context: { LONG } };
  const error = jobErrorCodec.decode({
    ...{ message: LONG, cause: LONG, fields: Array.from({ length: 100 }, () => field) },
    ...sent,
  }) as AppError & NodeJS.ErrnoException;
  const { name, message, stack, code, details } = error;
  const parts = [name, message, stack, code, details?.retryAfterSeconds, details?.isPermanent, details?.cause];
  for (const part of parts) expect(String(part).length).toBeLessThan(5_000);
  expect(details?.fields?.length ?? 0).toBeLessThanOrEqual(50);
  for (const one of details?.fields ?? []) expect(JSON.stringify(one).length).toBeLessThan(2_500);
});

test("a program that cannot be started is an error", async () => {
  await using child = openJobChild({
    command: ["/nonexistent/program"],
    sandbox,
    view: { readOnly: [], writable: [], devices: false },
    limitCode: "corrupt_media",
    maxMemoryBytes: 1024 ** 3,
    maxFileBytes: null,
  });
  await expect(child.run("peaks", PEAKS)).rejects.toThrow("ended with code 127");
});
