import { expect, test } from "bun:test";
import fc from "fast-check";
import { mapInOrder } from "../../../src/lib/map-in-order";

test("results are in order, and the limits hold", async () => {
  const costs = fc.array(fc.nat(10), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(costs, fc.integer({ min: 1, max: 5 }), async (items, width) => {
      let running = 0;
      let total = 0;
      const results: number[] = [];
      const limits = { width, maxCost: 12, toCost: (cost: number) => cost };
      const mapped = mapInOrder(items, limits, async (cost) => {
        running++;
        total += cost;
        expect(running).toBeLessThanOrEqual(width);
        expect(total <= 12 || running === 1).toBe(true);
        for (let n = 0; n < (cost * 7) % 5; n++) await null;
        running--;
        total -= cost;
        return cost;
      });
      for await (const result of mapped) results.push(result);
      expect(results).toEqual(items);
    }),
  );
});

test("an error ends it after the started tasks", async () => {
  let ended = 0;
  const limits = { width: 3, maxCost: 100, toCost: () => 1 };
  const mapped = mapInOrder([1, 2, 3, 4, 5, 6], limits, async (item) => {
    await null;
    if (item === 2) throw new Error("second");
    await null;
    ended++;
    return item;
  });
  const results: number[] = [];
  const reading = (async () => {
    for await (const result of mapped) results.push(result);
  })();
  expect(await reading.catch((error: Error) => error.message)).toBe("second");
  expect(results).toEqual([1]);
  expect(ended).toBeLessThan(5);
});
