import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type EditorPlan, isMostlyRemoved, keepsTheSame, type RemovalReason } from "../../../web/editor/model/plan";
import {
  ALL_WORTH,
  compareDecisions,
  countProgress,
  type Decision,
  type Decisions,
  decide,
  estimateLeft,
  findOpenAfter,
  findOpenAt,
  listQueue,
  mergeDecisions,
  NO_DECISIONS,
  type QueueFilter,
  type ReviewItem,
  stepQueue,
} from "../../../web/editor/model/review-queue";
import { recordings } from "./arbitrary-edits";

const item = (id: string, start: number, more: Partial<ReviewItem> = {}): ReviewItem => ({
  id,
  kind: "removal",
  start: start * 1e6,
  end: (start + 1) * 1e6,
  reason: "filler",
  rule: "filler.written",
  review: null,
  confidence: 0.95,
  isSuggestedRemoval: true,
  ...more,
});
const mark = (id: string, start: number, more: Partial<ReviewItem> = {}) =>
  item(id, start, { kind: "mark", reason: null, rule: null, review: "maybe a retake", confidence: null, ...more });

const ITEMS = [
  item("sure", 30),
  mark("mark", 20),
  item("unsure", 10, { confidence: 0.4, reason: "retake", end: 12e6 }),
  item("unknown", 40, { confidence: null, reason: "silence", end: 40.2e6 }),
];
const ids = (items: readonly ReviewItem[]) => items.map(({ id }) => id);
const decided = (...all: [string, Decision][]): Decisions => new Map(all);

const SCOPES: [string, Partial<QueueFilter>, string[]][] = [
  ["marks and unsure removals", {}, ["unsure", "mark"]],
  ["unsure removals", { scope: "unsure" }, ["unsure"]],
  ["everything", { scope: "every" }, ["unsure", "mark", "sure", "unknown"]],
  ["a reason", { scope: "every", reason: "retake" }, ["unsure"]],
  ["a reason without items", { reason: "noise" }, []],
  ["a length", { scope: "every", minLength: 1e6 }, ["unsure", "mark", "sure"]],
  ["a confidence", { scope: "every", maxConfidence: 0.9 }, ["unsure", "mark", "unknown"]],
];
test.each(SCOPES)("the queue of %s, by time", (_, filter, shown) => {
  expect(ids(listQueue(ITEMS, { ...ALL_WORTH, ...filter }))).toEqual(shown);
});

describe("going through the queue", () => {
  const queue = listQueue(ITEMS, { ...ALL_WORTH, scope: "every" });

  test("goes on to the next open item, and from the end to those that were skipped", () => {
    expect(findOpenAfter(queue, NO_DECISIONS, 0)?.id).toBe("mark");
    expect(findOpenAfter(queue, decided(["mark", "kept"]), 0)?.id).toBe("sure");
    expect(findOpenAfter(queue, decided(["unknown", "kept"]), 3)?.id).toBe("unsure");
    expect(findOpenAfter(queue, new Map(queue.map(({ id }) => [id, "kept"])), 1)).toBeNull();
    expect(findOpenAfter([], NO_DECISIONS, -1)).toBeNull();
  });

  test("opens at the playhead", () => {
    expect(findOpenAt(queue, NO_DECISIONS, 0)?.id).toBe("unsure");
    expect(findOpenAt(queue, NO_DECISIONS, 12e6)?.id).toBe("mark");
    expect(findOpenAt(queue, decided(["mark", "removed"]), 20.5e6)?.id).toBe("sure");
    expect(findOpenAt(queue, NO_DECISIONS, 99e6)?.id).toBe("unsure");
  });

  test("goes back to items that are decided", () => {
    expect(stepQueue(queue, 2, -1)?.id).toBe("mark");
    expect(stepQueue(queue, 0, -1)?.id).toBe("unknown");
    expect(stepQueue(queue, 3, 1)?.id).toBe("unsure");
    expect(stepQueue(queue, -1, 1)?.id).toBe("unsure");
    expect(stepQueue([], -1, 1)).toBeNull();
  });

  test("counts", () => {
    const some = decided(["unsure", "kept"], ["sure", "removed"], ["elsewhere", "kept"]);
    expect(countProgress(queue, some)).toEqual({ total: 4, kept: 1, removed: 1, open: 2 });
    expect(estimateLeft(queue, some)).toBe(1e6 + 0.2e6 + 2 * 3.5e6);
  });
});

const items = (plan: EditorPlan): ReviewItem[] =>
  plan.spans.flatMap((span, index) => {
    if (span.isKept && span.review === null) return [];
    const place = { id: String(index), start: span.start, end: span.end };
    return span.isKept ? mark("", 0, place) : item("", 0, { ...place, ...span });
  });
const choices = fc.array(fc.tuple(fc.nat(), fc.constantFrom<Decision>("kept", "removed")), { maxLength: 40 });

describe("decisions", () => {
  test("do what they say, leave the other items alone, and come back when they are undone", () => {
    fc.assert(
      fc.property(recordings, choices, ({ plan }, all) => {
        const queue = items(plan);
        if (queue.length === 0) return;
        let edited = plan;
        const last = new Map<ReviewItem, Decision>();
        for (const [n, decision] of all) {
          const one = queue[n % queue.length]!;
          edited = decide(edited, one, decision);
          last.set(one, decision);
        }
        for (const one of queue) {
          // Spans shorter than the server accepts are removed with their neighbors.
          if (one.end - one.start < 100_000) continue;
          const decision = last.get(one) ?? (one.kind === "mark" ? "kept" : "removed");
          expect(isMostlyRemoved(edited, one)).toBe(decision === "removed");
        }
      }),
      { numRuns: 300 },
    );
  });

  test("that change nothing leave the plan as it is, with the rule of the removal", () => {
    const { plan } = fc.sample(recordings, { numRuns: 50, seed: 1 }).find(({ plan: { spans } }) => spans.length > 4)!;
    for (const one of items(plan)) {
      const same = decide(plan, one, one.kind === "mark" ? "kept" : "removed");
      expect(keepsTheSame(same, plan)).toBe(true);
      const back = decide(decide(plan, one, "kept"), one, "removed");
      const at = back.spans.find(({ start, end }) => start <= one.start && end >= one.end)!;
      expect(at.isKept ? null : at.rule).toBe(one.kind === "mark" ? null : one.rule);
    }
  });

  test("differ by ID, and merge", () => {
    const states = fc.dictionary(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom<Decision>("kept", "removed"));
    fc.assert(
      fc.property(states, states, (a, b) => {
        const [before, after] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
        expect([...mergeDecisions(before, compareDecisions(before, after))].sort()).toEqual([...after].sort());
        expect(mergeDecisions(before, compareDecisions(before, before))).toBe(before);
      }),
    );
  });
});

const reasons: RemovalReason[] = ["silence", "filler", "retake", "off_script", "noise", "manual"];
test("any queue is a subset in order, and every item is reached exactly once", () => {
  const any = fc.array(
    fc.record({
      start: fc.nat(100),
      reason: fc.constantFrom(...reasons),
      confidence: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    }),
  );
  fc.assert(
    fc.property(any, fc.constantFrom("worth" as const, "unsure" as const, "every" as const), (all, scope) => {
      const queue = listQueue(
        all.map(({ start, ...more }, index) => item(String(index), start, more)),
        { ...ALL_WORTH, scope },
      );
      for (const [index, one] of queue.slice(1).entries())
        expect(one.start).toBeGreaterThanOrEqual(queue[index]!.start);
      const decisions = new Map<string, Decision>();
      let at = findOpenAt(queue, decisions, 50e6);
      for (; at !== null; at = findOpenAfter(queue, decisions, queue.indexOf(at))) {
        expect(decisions.has(at.id)).toBe(false);
        decisions.set(at.id, "kept");
      }
      expect(decisions.size).toBe(queue.length);
    }),
  );
});
