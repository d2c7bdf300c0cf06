import { expect, test } from "bun:test";
import fc from "fast-check";
import { createTimeShare } from "../../../src/lib/time-share";

test("a share is saved up to its burst, may be exceeded, and is made up for before more is granted", () => {
  const share = createTimeShare({ rate: 0.1, burst: 1 });
  expect(share.hasLeft("a", 0)).toBe(true);
  share.spend("a", 1.5, 0);
  expect(share.hasLeft("a", 0)).toBe(false);
  expect(share.hasLeft("b", 0)).toBe(true);
  expect(share.hasLeft("a", 4_999)).toBe(false);
  expect(share.hasLeft("a", 5_001)).toBe(true);
  // A clock that goes back grants nothing.
  share.spend("a", 0.5, 5_001);
  expect(share.hasLeft("a", 0)).toBe(false);
  // However much is returned, at most the burst is saved.
  share.spend("a", -50, 1e6);
  share.spend("a", 1, 1e6);
  expect(share.hasLeft("a", 1e6)).toBe(false);
});

test("however often a key asks, it uses no more than the rate, the burst and one piece of work", () => {
  const work = fc.array(
    fc.record({ afterMs: fc.integer({ min: 0, max: 400 }), cost: fc.double({ min: 0, max: 2, noNaN: true }) }),
    {
      minLength: 1,
      maxLength: 200,
    },
  );
  fc.assert(
    fc.property(work, (requests) => {
      const share = createTimeShare({ rate: 0.1, burst: 1 });
      let [now, used, largest] = [0, 0, 0];
      for (const { afterMs, cost } of requests) {
        now += afterMs;
        if (!share.hasLeft("a", now)) continue;
        share.spend("a", cost, now);
        used += cost;
        largest = Math.max(largest, cost);
      }
      expect(used).toBeLessThanOrEqual(1 + (0.1 * now) / 1000 + largest + 1e-6);
    }),
  );
});

test("thousands of keys are removed once their shares are full again", () => {
  const share = createTimeShare({ rate: 1, burst: 1 });
  for (let n = 0; n < 3_000; n++) share.spend(String(n), 0.5, n * 1_000);
  expect(share.hasLeft("0", 3e6)).toBe(true);
});
