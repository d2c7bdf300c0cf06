import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createSemaphore } from "../../../src/lib/semaphore";

describe("a semaphore", () => {
  test("never runs more tasks than it has permits, runs every task, and starts them in the order of the calls", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.record({ turns: fc.nat(5), fails: fc.boolean() }), { maxLength: 30 }),
        async (count, tasks) => {
          const semaphore = createSemaphore(count);
          const started: number[] = [];
          let running = 0;
          let maxRunning = 0;
          const ended = await Promise.allSettled(
            tasks.map(({ turns, fails }, n) =>
              semaphore.run(undefined, async () => {
                started.push(n);
                maxRunning = Math.max(maxRunning, ++running);
                for (let turn = 0; turn < turns; turn++) await Promise.resolve();
                running--;
                if (fails) throw new Error("failed");
                return n;
              }),
            ),
          );
          expect(maxRunning).toBeLessThanOrEqual(count);
          expect(started).toEqual(tasks.map((_, n) => n));
          expect(ended.map(({ status }) => status === "rejected")).toEqual(tasks.map(({ fails }) => fails));
        },
      ),
    );
  });

  test("a caller that is aborted while waiting gets no permit and takes none from the others", async () => {
    const semaphore = createSemaphore(1);
    const first = Promise.withResolvers<string>();
    const stop = new AbortController();
    const all = [
      semaphore.run(undefined, () => first.promise),
      semaphore.run(stop.signal, async () => "never"),
      semaphore.run(undefined, async () => "third"),
    ];
    stop.abort(new Error("cancelled"));
    await expect(all[1]!).rejects.toThrow("cancelled");
    await expect(semaphore.run(stop.signal, async () => "never")).rejects.toThrow("cancelled");
    first.resolve("first");
    expect(await Promise.all([all[0], all[2]])).toEqual(["first", "third"]);
    expect(await semaphore.run(new AbortController().signal, async () => "after")).toBe("after");
  });
});
