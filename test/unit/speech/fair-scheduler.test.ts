import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createFairScheduler } from "../../../src/speech/fair-scheduler";

const QUANTUM = 10;

describe("fair scheduling", () => {
  test("a new owner is next at once, and may use two quanta before the other", () => {
    const share = createFairScheduler(QUANTUM);
    share.enter("anna", []);
    share.charge("anna", 500);
    expect(share.remainingMs("anna", [])).toBe(Number.POSITIVE_INFINITY);
    share.enter("bert", ["anna"]);
    expect(share.next(["anna", "bert"])).toBe("bert");
    expect(share.remainingMs("anna", ["bert"])).toBe(0);
    expect(share.remainingMs("bert", ["anna"])).toBe(2 * QUANTUM);
  });

  test("an owner that returns repeatedly gets no advantage over one that stays", () => {
    const share = createFairScheduler(QUANTUM);
    share.enter("anna", []);
    for (let n = 0; n < 10; n++) {
      share.enter("bert", ["anna"]);
      share.charge("bert", 30);
    }
    expect(share.next(["anna", "bert"])).toBe("anna");
    expect(share.remainingMs("anna", ["bert"])).toBeGreaterThan(250);
  });

  test("idle time is not saved up", () => {
    const share = createFairScheduler(QUANTUM);
    share.enter("anna", []);
    share.enter("bert", ["anna"]);
    share.charge("anna", 1_000);
    share.enter("bert", ["anna"]);
    expect(share.remainingMs("bert", ["anna"])).toBe(2 * QUANTUM);
  });

  test("property: owners that always have work differ by at most a few quanta, whenever they joined", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 2, maxLength: 5 }), (arrivals) => {
        const share = createFairScheduler(QUANTUM);
        const present: string[] = [];
        const had = new Map<string, number>();
        let current: string | null = null;
        for (let now = 0; now < 2_000; now++) {
          for (const [n, arrival] of arrivals.entries()) {
            if (arrival !== now) continue;
            share.enter(`owner ${n}`, present);
            present.push(`owner ${n}`);
          }
          const others = present.filter((owner) => owner !== current);
          if (current === null || share.remainingMs(current, others) <= 0) current = share.next(present);
          if (current === null) continue;
          share.charge(current, 1);
          if (now >= 300) had.set(current, (had.get(current) ?? 0) + 1);
        }
        const times = present.map((owner) => had.get(owner) ?? 0);
        expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(4 * QUANTUM);
      }),
      { numRuns: 100 },
    );
  });
});
