import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../../src/domain/errors";
import { ExecutionLost, JobAborted, JobKilled, JobYielded } from "../../../../src/domain/jobs";
import { jobErrorCodec } from "../../../../src/work/job-child/error-codec";
import { BOOT, completed, executionBench, refusal, sent, WORKER } from "./execution-bench";

describe("an execution", () => {
  test("is started, reports, sends its file and ends with its output", async () => {
    await using b = await executionBench();
    const run = b.run({
      files: [{ name: "source", role: "input", bytes: 3, key: "k", modifiedAt: 7, path: "/source" }],
    });
    expect(b.tickets).toEqual([{ execution: run.id, url: `http://head/workers/executions/${run.id}?signature=x` }]);
    const manifest = b.executions.start(run.id, BOOT);
    expect(manifest).toEqual({
      execution: run.id,
      kind: "render",
      asset: "asset",
      owner: "owner",
      input: { plan: null },
      files: [{ name: "source", role: "input", bytes: 3, key: "k", modifiedAt: 7 }],
    });
    expect(b.executions.start(run.id, BOOT)).toEqual(manifest);
    expect(b.executions.getFile(run.id, "source").path).toBe("/source");
    expect(b.executions.heartbeat(BOOT, [{ execution: run.id, progress: 0.5 }])).toEqual({ abort: [], yield: [] });
    await b.send(run.id, "output.mp4", "film");
    await b.executions.finish(run.id, completed(sent("output.mp4", "film")));
    expect(await run.ended).toEqual({ output: { done: true }, error: null });
    expect(await Bun.file(join(b.outputDir, "output.mp4")).text()).toBe("film");
    expect([run.progress, b.history]).toEqual([[0.5], ["completed"]]);
  });

  test("accepts the same result twice, and nothing after it", async () => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    await b.send(run.id, "output.mp4", "film");
    const result = completed(sent("output.mp4", "film"));
    await Promise.all([b.executions.finish(run.id, result), b.executions.finish(run.id, result)]);
    await b.executions.finish(run.id, result);
    await run.ended;
    expect(b.history).toEqual(["completed"]);
    expect(await refusal(() => b.send(run.id, "output.mp4", "evil"))).toBe("not_found");
    expect(await refusal(() => b.executions.start(run.id, BOOT))).toBe("not_found");
    expect(await Bun.file(join(b.outputDir, "output.mp4")).text()).toBe("film");
  });

  test("belongs to the process that its worker runs now", async () => {
    await using b = await executionBench();
    const run = b.run();
    const start = (boot: Partial<typeof BOOT>) => refusal(() => b.executions.start(run.id, { ...BOOT, ...boot }));
    expect(await start({ workerId: "another" })).toBe("conflict");
    expect(await start({ bootId: "older" })).toBe("conflict");
    expect(await refusal(() => b.executions.getFile(run.id, "source"))).toBe("conflict");
    expect(await refusal(() => b.executions.finish(run.id, completed()))).toBe("conflict");
    b.executions.start(run.id, BOOT);
    b.boots.set(WORKER, "newer");
    expect(await start({ bootId: "newer" })).toBe("conflict");
    run.abort.abort(new JobAborted("cancelled"));
    await run.ended;
  });

  test.each([
    ["an error of the job", new AppError("corrupt_media", "File is damaged."), "AppError", "File is damaged."],
    ["a kill by the kernel", new JobKilled(), "JobKilled", "the kernel killed the job's child process"],
    ["a crash", new TypeError("x is undefined"), "Error", "The worker reported: x is undefined"],
    ["a code that only the head decides on", new AppError("cancelled", "no"), "Error", "The worker reported: no"],
    ["a code that no job has", new AppError("unauthenticated", "no"), "Error", "The worker reported: no"],
  ])("fails with %s", async (_, error, name, message) => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    await b.executions.finish(run.id, { status: "failed", error: jobErrorCodec.encode(error) });
    expect((await run.ended).error).toMatchObject({ name, message });
  });

  test.each([[{}], [{ kind: 7, message: [] }], [{ kind: "app" }], [[]]])(
    "fails with a plain error for %j",
    async (error) => {
      await using b = await executionBench();
      const run = b.run();
      b.executions.start(run.id, BOOT);
      await b.executions.finish(run.id, { status: "failed", error });
      expect((await run.ended).error?.message).toBe("The worker reported no valid error.");
    },
  );

  test("yields, or is given back without counting the attempt", async () => {
    await using b = await executionBench();
    const yielded = b.run({ shouldYield: () => true });
    b.executions.start(yielded.id, BOOT);
    expect(b.executions.heartbeat(BOOT, [{ execution: yielded.id, progress: null }]).yield).toEqual([yielded.id]);
    await b.executions.finish(yielded.id, { status: "yielded" });
    expect((await yielded.ended).error).toBeInstanceOf(JobYielded);
    const released = b.run();
    b.executions.start(released.id, BOOT);
    await b.executions.finish(released.id, { status: "released" });
    expect((await released.ended).error).toMatchObject({ hasStarted: false });
    expect(b.executions.trouble.isAvoided(WORKER)).toBe(true);
    b.advance(6_000);
    b.executions.heartbeat(BOOT, []);
    expect(b.executions.trouble.isAvoided(WORKER)).toBe(false);
  });

  test.each([
    ["yielded", { status: "yielded" }],
    ["failed by yielding", { status: "failed", error: jobErrorCodec.encode(new JobYielded()) }],
  ] as const)("that %s without being asked runs elsewhere: its worker would yield forever", async (_, report) => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    await b.executions.finish(run.id, report);
    expect((await run.ended).error).toBeInstanceOf(JobYielded);
    expect([b.history, b.executions.trouble.isAvoided(WORKER)]).toEqual([["released"], true]);
  });

  test("that was asked to yield may do so later, when no job waits any longer", async () => {
    await using b = await executionBench();
    let isAsked = true;
    const run = b.run({ shouldYield: () => isAsked });
    b.executions.start(run.id, BOOT);
    b.executions.heartbeat(BOOT, [{ execution: run.id, progress: null }]);
    isAsked = false;
    await b.executions.finish(run.id, { status: "yielded" });
    await run.ended;
    expect([b.history, b.executions.trouble.isAvoided(WORKER)]).toEqual([["yielded"], false]);
  });

  test("is returned by a worker whose disk is full, which is not a failure of the job", async () => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    const error = jobErrorCodec.encode(new AppError("storage_full", "The worker's disk is full."));
    await b.executions.finish(run.id, { status: "failed", error });
    const ended = (await run.ended).error;
    expect(ended).toBeInstanceOf(ExecutionLost);
    expect(ended).toMatchObject({ hasStarted: false });
    expect([b.history, b.executions.trouble.isAvoided(WORKER)]).toEqual([["disk_full"], true]);
    expect(b.log).toEqual([expect.stringContaining("worker.disk_full")]);
  });

  test("an error of the head's own check ends it", async () => {
    await using b = await executionBench();
    const run = b.run({ check: () => Promise.reject(new Error("wrong number of frames")) });
    b.executions.start(run.id, BOOT);
    await b.send(run.id, "output.mp4", "film");
    await b.executions.finish(run.id, completed(sent("output.mp4", "film")));
    expect((await run.ended).error?.message).toBe("wrong number of frames");
    expect(await readdir(b.outputDir).catch(() => [])).toEqual([]);
  });
});

describe("the end of an execution", () => {
  test("a cancellation ends it at once, reaches the worker with its next heartbeat, and frees the slot when the worker has ended it", async () => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    run.abort.abort(new JobAborted("cancelled"));
    expect((await run.ended).error).toMatchObject({ reason: "cancelled" });
    expect(b.executions.countEnding(WORKER)).toBe(1);
    const running = [{ execution: run.id, progress: 0.9 }];
    expect(b.executions.heartbeat(BOOT, running).abort).toEqual([run.id]);
    expect(b.executions.countEnding(WORKER)).toBe(1);
    const rooms = b.state.rooms;
    expect(b.executions.heartbeat(BOOT, []).abort).toEqual([]);
    expect([b.executions.countEnding(WORKER), b.state.rooms]).toEqual([0, rooms + 1]);
    expect(await refusal(() => b.executions.finish(run.id, completed()))).toBe("not_found");
  });

  test("one that was never started leaves no ticket behind", async () => {
    await using b = await executionBench();
    const run = b.run();
    run.abort.abort(new JobAborted("cancelled"));
    await run.ended;
    expect(b.removed).toEqual([run.id]);
    expect(b.executions.countEnding(WORKER)).toBe(0);
  });

  test("a worker without a heartbeat for 15 s has lost it, and its late result changes nothing", async () => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    await b.send(run.id, "output.mp4", "film");
    b.advance(14_000);
    b.executions.heartbeat(BOOT, [{ execution: run.id, progress: null }]);
    b.advance(14_000);
    expect(b.history).toEqual([]);
    b.advance(1_000);
    expect((await run.ended).error).toMatchObject({ name: "ExecutionLost", hasStarted: true });
    expect(await refusal(() => b.executions.finish(run.id, completed(sent("output.mp4", "film"))))).toBe("not_found");
    expect(await readdir(b.outputDir).catch(() => [])).toEqual([]);
    expect(b.executions.heartbeat(BOOT, [{ execution: run.id, progress: 1 }]).abort).toEqual([run.id]);
  });

  /** With the hours until the execution is lost, null if it completes. */
  test.each<[number, string, (b: Awaited<ReturnType<typeof executionBench>>, id: string) => number, number | null]>([
    // An hour, and twice the length of the recording, after the first share.
    [5, "no progress", () => 0.25, 3],
    [5, "progress that nobody sees", ({ state }) => 0.25 + state.now * 1e-12, 3],
    [5, "progress", ({ state }) => state.now / 20_000_000, null],
    [5, "files that it reads", (b, id) => b.executions.getFile(id, "source").bytes / 6, null],
    [40, "files that it reads", (b, id) => b.executions.getFile(id, "source").bytes / 6, 30],
    [40, "starts that it repeats", (b, id) => b.executions.start(id, BOOT).files.length / 4, 30],
  ])("heartbeats for %d hours with %s", async (hours, _, act, lostAfter) => {
    await using b = await executionBench();
    const files = [{ name: "source", role: "input" as const, bytes: 3, key: "k", modifiedAt: 7, path: "/source" }];
    const run = b.run({ files, mediaSeconds: 3_600 });
    b.executions.start(run.id, BOOT);
    let lostAt = 0;
    while (b.state.now < hours * 3_600_000 && lostAt === 0) {
      b.state.now += 2_000;
      b.executions.check();
      if (b.history.length > 0) lostAt = b.state.now;
      else if (b.state.now % 10_000 === 0)
        b.executions.heartbeat(BOOT, [{ execution: run.id, progress: act(b, run.id) }]);
    }
    if (lostAfter !== null) {
      expect((await run.ended).error?.message).toBe("execution lost: the worker makes no progress");
      expect(lostAt / 3_600_000).toBeCloseTo(lostAfter, 1);
      expect(b.executions.heartbeat(BOOT, [{ execution: run.id, progress: 0.9 }]).abort).toEqual([run.id]);
    } else {
      await b.send(run.id, "output.mp4", "film");
      await b.executions.finish(run.id, completed(sent("output.mp4", "film")));
    }
    expect(b.history).toEqual([lostAfter === null ? "completed" : "lost"]);
  });

  test("a worker with heartbeats that no longer runs it has lost it too", async () => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    for (let n = 0; n < 16; n++) {
      b.executions.heartbeat(BOOT, []);
      b.advance(1_000);
    }
    expect((await run.ended).error).toBeInstanceOf(ExecutionLost);
  });

  test("a server that did not run for a while loses nothing by that", async () => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    b.state.now += 60_000;
    b.executions.check();
    b.executions.heartbeat(BOOT, [{ execution: run.id, progress: null }]);
    expect(b.history).toEqual([]);
    run.abort.abort(new JobAborted("cancelled"));
    await run.ended;
  });

  test("a worker that leaves, is replaced or revoked has lost it, but not another worker's", async () => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    b.executions.loseWorker("another", "the worker was revoked");
    expect(b.history).toEqual([]);
    b.executions.loseWorker(WORKER, "the worker was revoked");
    expect((await run.ended).error?.message).toBe("execution lost: the worker was revoked");
    expect(await refusal(() => b.executions.getFile(run.id, "source"))).toBe("not_found");
    b.boots.delete(WORKER);
    const given = b.tickets.length;
    expect((await b.run().ended).error).toMatchObject({ hasStarted: false });
    expect(b.tickets).toHaveLength(given);
  });

  test("the heartbeat of another worker neither renews nor shows it", async () => {
    await using b = await executionBench();
    const run = b.run({ shouldYield: () => true });
    b.executions.start(run.id, BOOT);
    const foreign = b.executions.heartbeat({ workerId: "another", bootId: "x" }, [{ execution: run.id, progress: 1 }]);
    expect(foreign).toEqual({ abort: [run.id], yield: [] });
    expect(run.progress).toEqual([]);
    run.abort.abort(new JobAborted("cancelled"));
    await run.ended;
  });
});

describe("tickets", () => {
  test("that were not taken are added again, and given up after 15 s without counting the attempt", async () => {
    await using b = await executionBench();
    const run = b.run();
    b.advance(11_000);
    expect(b.tickets.map((ticket) => ticket.execution)).toEqual([run.id, run.id, run.id]);
    b.advance(4_000);
    expect((await run.ended).error).toMatchObject({ name: "ExecutionLost", hasStarted: false });
    expect(b.executions.trouble.isAvoided(WORKER)).toBe(true);
  });

  test("that Redis did not take are added when it is back", async () => {
    await using b = await executionBench();
    b.state.addFails = true;
    const run = b.run();
    b.state.addFails = false;
    b.advance(5_000);
    expect(b.tickets).toHaveLength(1);
    b.executions.start(b.tickets[0]!.execution, BOOT);
    await b.executions.finish(b.tickets[0]!.execution, { status: "yielded" });
    expect((await run.ended).error).toBeInstanceOf(JobYielded);
  });

  test("are given up after 5 s while Redis is away, so that another place can do the step", async () => {
    await using b = await executionBench();
    b.state.isReachable = false;
    const run = b.run();
    b.advance(5_000);
    expect((await run.ended).error).toMatchObject({ hasStarted: false });
  });

  test("are given up after 5 s when the worker is silent too, and a silent worker gets nothing new", async () => {
    await using b = await executionBench();
    b.executions.heartbeat(BOOT, []);
    expect(b.executions.trouble.isAvoided(WORKER)).toBe(false);
    const run = b.run();
    b.advance(4_000);
    expect([b.executions.trouble.isAvoided(WORKER), b.history]).toEqual([true, []]);
    b.advance(1_000);
    expect((await run.ended).error).toMatchObject({ hasStarted: false });
    b.advance(6_000);
    expect(b.executions.trouble.isAvoided(WORKER)).toBe(true);
    b.executions.heartbeat(BOOT, []);
    expect(b.executions.trouble.isAvoided(WORKER)).toBe(false);
  });

  test("are not added again once the worker has started, while Redis is away", async () => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    b.state.isReachable = false;
    for (let n = 0; n < 20; n++) {
      b.executions.heartbeat(BOOT, [{ execution: run.id, progress: null }]);
      b.advance(1_000);
    }
    expect([b.tickets.length, b.history]).toEqual([1, []]);
    run.abort.abort(new JobAborted("cancelled"));
    await run.ended;
  });
});
