/** The behavior of a runner with its jobs, on any machine. */
import { describe, expect, test } from "bun:test";
import { JobYielded } from "../../../src/domain/jobs";
import { until } from "../../until";
import { type OpenRunner, type Running, reasonOf } from "./open-runner";

const asked = (running: Running) => until("a job that is asked to yield", () => running.context.shouldYield());

/** Declares the tests. `isRemote`: the jobs run on another machine. */
export function describeRunner(name: string, isRemote: boolean, open: OpenRunner): void {
  describe(name, () => {
    describe("claiming jobs", () => {
      test("claims jobs at the start, and later ones when it is woken", async () => {
        await using b = await open({ slots: 2 });
        b.source.add("a");
        b.runner.start();
        await b.work.nth(1);
        b.source.add("b");
        b.runner.wake();
        await b.work.nth(2);
        expect(b.source.did).toEqual(["claim a", "claim b"]);
      });

      test("claims nothing before it is started", async () => {
        await using b = await open();
        b.source.add("a");
        b.runner.wake();
        await Promise.resolve();
        expect(b.source.did).toEqual([]);
      });

      test("runs no more jobs of a name than there are slots, and the next as soon as one ends", async () => {
        await using b = await open({ slots: 2 });
        for (const name of ["a", "b", "c", "d"]) b.source.add(name);
        b.runner.start();
        await b.work.nth(2);
        expect(b.work.started).toHaveLength(2);
        b.work.started[0]!.finish();
        const third = await b.work.nth(3);
        expect(third.job.stepId).toBe("c");
        expect(b.work.started).toHaveLength(3);
      });

      test("a name whose slots are full does not delay another", async () => {
        const cutDone = Promise.withResolvers<void>();
        await using b = await open({ cuts: async () => cutDone.resolve() });
        b.source.add("long render");
        b.source.add("another render");
        b.source.add("cut", { name: "cut" });
        b.runner.start();
        await Promise.all([cutDone.promise, b.work.nth(1)]);
        expect(b.source.did.toSorted()).toEqual(["claim cut", "claim long render"]);
      });

      test("the error of a failed job is passed to the source, and the next job is claimed", async () => {
        await using b = await open();
        b.source.add("a");
        b.source.add("b");
        b.runner.start();
        (await b.work.nth(1)).break(new Error("no luck"));
        await b.work.nth(2);
        expect(b.source.did).toEqual(["claim a", "fail a: no luck", "claim b"]);
      });

      test("continues after an error of the source, and repeats the end that it did not store", async () => {
        await using b = await open();
        b.source.add("a");
        b.source.add("b");
        b.source.breakNext("claim");
        b.source.breakNext("fail");
        b.runner.start();
        (await b.work.nth(1)).break(new Error("no luck"));
        await b.work.nth(2);
        expect(b.source.did).toEqual(["claim a", "fail a: no luck", "claim b"]);
      });
    });

    describe("the heartbeat", () => {
      test("reports progress, which never decreases", async () => {
        await using b = await open();
        b.source.add("a");
        b.runner.start();
        const { context } = await b.work.nth(1);
        expect(await b.source.renewed("a")).toBeNull();
        context.progress(0.5);
        context.progress(0.25);
        expect(await b.source.renewed("a")).toBe(0.5);
        context.progress(7);
        expect(await b.source.renewed("a")).toBe(1);
      });

      test("a lost lease aborts the job, which is neither failed nor released", async () => {
        await using b = await open();
        b.source.add("a");
        b.source.add("b");
        b.runner.start();
        const first = await b.work.nth(1);
        b.source.lose("a");
        await b.work.nth(2);
        expect(reasonOf(first)).toBe("lost");
        expect(b.source.did).toEqual(["claim a", "claim b"]);
      });

      test("is retried after an error", async () => {
        await using b = await open();
        b.source.add("a");
        b.runner.start();
        await b.work.nth(1);
        b.source.breakNext("renew");
        await b.source.renewed("a");
        expect(reasonOf(b.work.started[0]!)).toBeUndefined();
      });
    });

    describe("yielding", () => {
      test("a job is asked to after its time slice, when a user with fewer running jobs waits, and resumes later", async () => {
        await using b = await open();
        b.source.add("long", { workspaceId: "anna" });
        b.runner.start();
        const long = await b.work.nth(1);
        expect(long.context.shouldYield()).toBe(false);
        b.source.add("short", { workspaceId: "bert" });
        b.runner.wake();
        await asked(long);
        long.break(new JobYielded());
        const short = await b.work.nth(2);
        expect(short.job.stepId).toBe("short");
        short.finish();
        expect((await b.work.nth(3)).job.stepId).toBe("long");
        expect(b.source.did).toEqual(["claim long", "release long", "claim short", "claim long"]);
      });

      test("only the longest-running job is asked to, of a user with more running jobs than the one who waits", async () => {
        await using b = await open({ slots: 3 });
        for (const [name, workspaceId] of [
          ["bert's", "bert"],
          ["anna's first", "anna"],
          ["anna's second", "anna"],
        ] as const)
          b.source.add(name, { workspaceId });
        b.runner.start();
        await b.work.nth(3);
        b.source.add("bert's second", { workspaceId: "bert" });
        b.runner.wake();
        const [berts, first, second] = b.work.started as [Running, Running, Running];
        await asked(first);
        expect([berts, second].map((running) => running.context.shouldYield())).toEqual([false, false]);
      });

      test.each([
        ["before its turn is over", 60_000, "bert"],
        ["for another job of the same user", 1, "anna"],
      ])("no job is asked to %s", async (_, timeSliceMs, waiting) => {
        await using b = await open({ timeSliceMs });
        b.source.add("long", { workspaceId: "anna" });
        b.runner.start();
        const long = await b.work.nth(1);
        await b.source.renewed("long");
        b.source.add("short", { workspaceId: waiting });
        const looked = b.source.asked();
        b.runner.wake();
        await looked;
        await b.source.renewed("long");
        expect(long.context.shouldYield()).toBe(false);
      });
    });

    describe("a job that runs alone", () => {
      test("starts when the others have yielded, and no other job starts while it runs", async () => {
        await using b = await open({ slots: 2 });
        b.source.add("long", { workspaceId: "anna" });
        b.runner.start();
        const long = await b.work.nth(1);
        b.source.add("suspect", { workspaceId: "bert", runsAlone: true });
        b.source.add("cut", { workspaceId: "carl", name: "cut" });
        b.runner.wake();
        await asked(long);
        expect(b.work.started).toHaveLength(1);
        long.break(new JobYielded());
        const suspect = await b.work.nth(2);
        expect(suspect.job.stepId).toBe("suspect");
        await b.source.renewed("suspect");
        expect(b.work.started).toHaveLength(2);
        suspect.finish();
        await b.work.nth(4);
        expect(b.source.did.slice(0, 3)).toEqual(["claim long", "release long", "claim suspect"]);
        expect(b.source.did.slice(3).toSorted()).toEqual(["claim cut", "claim long"]);
      });

      test("interrupts a job that does not yield, which is released", async () => {
        await using b = await open({ maxDrainMs: 1 });
        b.source.add("long");
        b.runner.start();
        const long = await b.work.nth(1);
        b.source.add("suspect", { runsAlone: true });
        b.runner.wake();
        expect((await b.work.nth(2)).job.stepId).toBe("suspect");
        expect(reasonOf(long)).toBe("interrupted");
        expect(b.source.did).toEqual(["claim long", "release long", "claim suspect"]);
      });
    });

    describe("ending early", () => {
      test("a cancelled job is aborted, neither failed nor released, and its slot is free", async () => {
        await using b = await open();
        b.source.add("a");
        b.source.add("b");
        b.runner.start();
        const first = await b.work.nth(1);
        b.runner.cancel("a");
        await b.work.nth(2);
        expect(reasonOf(first)).toBe("cancelled");
        expect(b.source.did).toEqual(["claim a", "claim b"]);
      });

      test("cancelling a job that does not run here does nothing", async () => {
        await using b = await open();
        b.source.add("a");
        b.runner.start();
        const running = await b.work.nth(1);
        b.runner.cancel("b");
        expect(running.context.signal.aborted).toBe(false);
      });

      test("stopping aborts all jobs, waits until they end, releases them and claims no more", async () => {
        await using b = await open({ slots: 2 });
        for (const name of ["a", "b", "c"]) b.source.add(name);
        b.runner.start();
        const second = await b.work.nth(2);
        await b.runner.stop();
        expect(reasonOf(second)).toBe("shutdown");
        expect(b.source.did).toEqual(["claim a", "claim b", "release a", "release b"]);
        b.runner.wake();
        expect(b.work.started).toHaveLength(2);
      });

      // On another machine, an aborted job ends immediately, whatever that machine does.
      test.skipIf(isRemote)("a job that completes although it was aborted is not released", async () => {
        const started = Promise.withResolvers<void>();
        await using b = await open({
          cuts: (_, { signal }) => {
            started.resolve();
            return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
          },
        });
        b.source.add("a", { name: "cut" });
        b.runner.start();
        await started.promise;
        await b.runner.stop();
        expect(b.source.did).toEqual(["claim a"]);
      });

      test("the error of an aborted job does not count as a failure", async () => {
        const started = Promise.withResolvers<void>();
        await using b = await open({
          cuts: async (_, { signal }) => {
            started.resolve();
            await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
            throw new Error("ENOENT");
          },
        });
        b.source.add("a", { name: "cut" });
        b.runner.start();
        await started.promise;
        await b.runner.stop();
        expect(b.source.did).toEqual(["claim a", "release a"]);
      });
    });
  });
}
