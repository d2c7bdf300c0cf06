import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createSemaphore } from "../../../src/lib/semaphore";

describe("lanes", () => {
  test("never hold more works than there are lanes, let everyone through, and begin them in the order they came", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.record({ turns: fc.nat(5), fails: fc.boolean() }), { maxLength: 30 }),
        async (count, works) => {
          const lanes = createSemaphore(count);
          const begun: number[] = [];
          let now = 0;
          let most = 0;
          const ended = await Promise.allSettled(
            works.map(({ turns, fails }, n) =>
              lanes.run(undefined, async () => {
                begun.push(n);
                most = Math.max(most, ++now);
                for (let turn = 0; turn < turns; turn++) await Promise.resolve();
                now--;
                if (fails) throw new Error("no luck");
                return n;
              }),
            ),
          );
          expect(most).toBeLessThanOrEqual(count);
          expect(begun).toEqual(works.map((_, n) => n));
          expect(ended.map(({ status }) => status === "rejected")).toEqual(works.map(({ fails }) => fails));
        },
      ),
    );
  });

  test("whoever is aborted while waiting goes without a lane, and takes none from the others", async () => {
    const lanes = createSemaphore(1);
    const first = Promise.withResolvers<string>();
    const stop = new AbortController();
    const all = [
      lanes.run(undefined, () => first.promise),
      lanes.run(stop.signal, async () => "never"),
      lanes.run(undefined, async () => "third"),
    ];
    stop.abort(new Error("cancelled"));
    await expect(all[1]!).rejects.toThrow("cancelled");
    await expect(lanes.run(stop.signal, async () => "never")).rejects.toThrow("cancelled");
    first.resolve("first");
    expect(await Promise.all([all[0], all[2]])).toEqual(["first", "third"]);
    expect(await lanes.run(new AbortController().signal, async () => "after")).toBe("after");
  });
});
