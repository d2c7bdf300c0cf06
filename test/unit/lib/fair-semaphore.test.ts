import { expect, test } from "bun:test";
import fc from "fast-check";
import { createFairSemaphore, type FairSemaphoreLimits, type RefusalReason } from "../../../src/lib/fair-semaphore";

const LIMITS: FairSemaphoreLimits = {
  maxRunning: 3,
  maxRunningPerKey: 2,
  maxWaiting: 10,
  maxWaitingPerKey: 4,
  maxWaitMs: 60_000,
};
const toError = (reason: RefusalReason) => new Error(reason);
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const settle = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: Error) => error.message,
  );

test("a caller that waits too long is refused and leaves the queue", async () => {
  const semaphore = createFairSemaphore({ ...LIMITS, maxRunning: 1, maxWaiting: 1, maxWaitMs: 20 }, toError);
  const held = Promise.withResolvers<string>();
  const first = semaphore.run("anna", () => held.promise);
  expect(await settle(semaphore.run("bert", async () => "never"))).toBe("timeout");
  const next = semaphore.run("carl", async () => "next");
  held.resolve("first");
  expect(await Promise.all([first, next])).toEqual(["first", "next"]);
});

test("a failed task releases its permit", async () => {
  const semaphore = createFairSemaphore({ ...LIMITS, maxRunning: 1, maxWaiting: 0 }, toError);
  const failing = semaphore.run("anna", () => Promise.reject(new Error("failed")));
  expect(await settle(semaphore.run("bert", async () => {}))).toBe("all");
  await expect(failing).rejects.toThrow("failed");
  expect(await semaphore.run("bert", async () => "fine")).toBe("fine");
});

test("the limits hold for any sequence of calls, and every accepted task runs", async () => {
  const steps = fc.array(fc.oneof(fc.constantFrom("a", "b", "c", "d"), fc.nat(20)), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const semaphore = createFairSemaphore(LIMITS, toError);
      const running: { key: string; end(): void }[] = [];
      const outcomes: Promise<string>[] = [];
      for (const step of sequence) {
        if (typeof step === "string") {
          const work = () => new Promise<void>((resolve) => running.push({ key: step, end: resolve }));
          outcomes.push(settle(semaphore.run(step, work)));
        } else if (running.length > 0) {
          running.splice(step % running.length, 1)[0]!.end();
        }
        await nextTurn();
        expect(running.length).toBeLessThanOrEqual(LIMITS.maxRunning);
        for (const key of ["a", "b", "c", "d"])
          expect(running.filter((one) => one.key === key).length).toBeLessThanOrEqual(LIMITS.maxRunningPerKey);
      }
      while (running.length > 0) {
        for (const one of running.splice(0)) one.end();
        await nextTurn();
      }
      for (const outcome of await Promise.all(outcomes)) expect(["done", "key", "all"]).toContain(outcome);
    }),
    { numRuns: 50 },
  );
});
