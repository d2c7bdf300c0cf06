/** The items of a review, and the effects of decisions about them. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { judgePlan } from "../../../src/domain/pacing/judge-plan";
import type { PlanJson } from "../../../src/domain/plan-json";
import type { Finding } from "../../../src/domain/planning/rules";
import { type DecidedSpan, mergeSpans } from "../../../src/domain/planning/spans";
import {
  applyDecisions,
  formatItems,
  listPauses,
  listPlanItems,
  parseItems,
  planSpans,
  type ReviewItem,
  type ReviewState,
} from "../../../src/domain/review";
import { MIN_SEGMENT_TICKS } from "../../../src/domain/segments";
import { fromSeconds, type Span } from "../../../src/domain/time";

type Kept = [start: number, end: number, review?: string | undefined];
type Gone = [start: number, end: number, reason: PlanJson["removed"][number]["reason"]];

const plan = (kept: Kept[], gone: Gone[], duration = 10): PlanJson => ({
  source_duration: duration,
  kept_duration: 0,
  frame_rate: null,
  segments: kept.map(([start, end, review = null]) => ({
    start,
    end,
    start_frame: null,
    end_frame: null,
    text: "",
    review,
  })),
  removed: gone.map(([start, end, reason]) => ({ start, end, reason, rule: "pause.long", text: "" })),
  takes: [],
  missing: [],
  warnings: [],
});

const ticks = (spans: [number, number][]): Span[] =>
  spans.map(([start, end]) => ({ start: fromSeconds(start), end: fromSeconds(end) }));

const PLAN = plan(
  [
    [0, 2],
    [3, 4, "maybe a retake"],
    [6, 9],
  ],
  [
    [2, 3, "silence"],
    [4, 5, "filler"],
    [5, 6, "retake"],
    [9, 9.5, "manual"],
    [9.5, 10, "noise"],
  ],
);

describe("items", () => {
  test("removals and marks are sorted by time; removals by hand are not items", () => {
    expect(listPlanItems(PLAN).map(({ kind, start, reason }) => `${kind} ${start / 1e6} ${reason}`)).toEqual([
      "removal 2 silence",
      "mark 3 maybe a retake",
      "removal 4 filler",
      "removal 5 retake",
      "removal 9.5 noise",
    ]);
  });

  test("IDs follow from kind and span, and survive storage", () => {
    const items = listPlanItems(PLAN);
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
    expect(parseItems(formatItems(items))).toEqual(items);
    const later = plan([[3, 4, "unclear speech"]], [[2, 3, "noise"]]);
    expect(listPlanItems(later).map(({ id }) => id)).toEqual(items.slice(0, 2).map(({ id }) => id));
  });

  test("an ID of 24 hours is short enough for 20,000 in a request of 1 MiB", () => {
    const [item] = listPlanItems(plan([], [[86_399, 86_400, "silence"]], 86_400));
    expect(JSON.stringify({ id: item!.id, state: "removed" }).length * 20_000).toBeLessThan(1024 * 1024);
  });

  test("a stretch that was not understood is one item, although pauses divide it, and words end it", () => {
    const unclear = "unclear speech";
    const divided = plan(
      [
        [0, 2, unclear],
        [3, 4, unclear],
        [5, 6],
        [7, 9, unclear],
      ],
      [],
    );
    const stretch = (start: number, end: number, duration: number): DecidedSpan => {
      const span = { start: fromSeconds(start), end: fromSeconds(end) };
      const scores = { duration: fromSeconds(duration), voicedShare: 0.8 };
      const finding: Finding = { ...span, rule: "review.unrecognized_speech", scores };
      return { ...span, text: "", reason: null, findings: [finding] };
    };
    const judged = judgePlan(divided, [stretch(0.2, 1.9, 4), stretch(3.1, 3.9, 4), stretch(7.1, 8.9, 4)]);
    const marks = listPlanItems(judged).map(({ kind, start, end }) => [kind, start / 1e6, end / 1e6]);
    expect(marks).toEqual([
      ["mark", 0.2, 3.9],
      ["mark", 7.1, 8.9],
    ]);
  });

  test("a plan that has a confidence shows it", () => {
    const [removed] = PLAN.removed;
    const judged = { ...PLAN, segments: [], removed: [{ ...removed!, confidence: 0.5 }] };
    expect(listPlanItems(judged)).toMatchObject([{ confidence: 0.5, rule: "pause.long" }]);
    const marks = [{ start: 3.5, end: 4, rule: "review.list", confidence: 0.25 }];
    expect(listPlanItems({ ...PLAN, removed: [], ...{ review: marks } })).toMatchObject([
      { kind: "mark", start: 3_500_000, reason: "maybe a retake", rule: "review.list", confidence: 0.25 },
    ]);
  });
});

const decide = (segments: [number, number][], states: [start: number, state: ReviewState][]) => {
  const items = listPlanItems(PLAN);
  const decisions = states.map(([start, state]) => ({
    item: items.find((one) => one.start === fromSeconds(start))!,
    state,
  }));
  const before = ticks(segments);
  const planned = { planned: planSpans(PLAN), pauses: listPauses(PLAN), duration: fromSeconds(10) };
  const after = applyDecisions(before, decisions, planned);
  return after === before ? "unchanged" : after.map(({ start, end }) => [start / 1e6, end / 1e6]);
};

test("a mark that pauses divide is kept without them, also after it was removed", () => {
  const item: ReviewItem = {
    id: "m",
    kind: "mark",
    start: fromSeconds(1),
    end: fromSeconds(4),
    reason: "unclear speech",
    rule: "review.unrecognized_speech",
    confidence: 0.4,
  };
  const planned = { planned: planSpans(PLAN), pauses: listPauses(PLAN), duration: fromSeconds(10) };
  expect(applyDecisions(planned.planned, [{ item, state: "kept" }], planned)).toBe(planned.planned);
  const removed = applyDecisions(planned.planned, [{ item, state: "removed" }], planned);
  expect(removed.map(({ start, end }) => [start / 1e6, end / 1e6])).toEqual([
    [0, 1],
    [6, 9],
  ]);
  expect(applyDecisions(removed, [{ item, state: "kept" }], planned)).toEqual(planned.planned);
});

const PLANNED: [number, number][] = [
  [0, 2],
  [3, 4],
  [6, 9],
];

test.each<[string, [number, number][], [number, ReviewState][], "unchanged" | number[][]]>([
  ["nothing", PLANNED, [], "unchanged"],
  ["a removal that is removed already", PLANNED, [[2, "removed"]], "unchanged"],
  ["a mark that is kept already", PLANNED, [[3, "kept"]], "unchanged"],
  [
    "a removal that is kept joins its neighbors",
    PLANNED,
    [[2, "kept"]],
    [
      [0, 4],
      [6, 9],
    ],
  ],
  [
    "a mark that is removed",
    PLANNED,
    [[3, "removed"]],
    [
      [0, 2],
      [6, 9],
    ],
  ],
  [
    "several",
    PLANNED,
    [
      [2, "kept"],
      [3, "removed"],
      [5, "kept"],
    ],
    [
      [0, 3],
      [5, 9],
    ],
  ],
  [
    "taken back",
    [
      [0, 4],
      [6, 9],
    ],
    [[2, "open"]],
    [
      [0, 2],
      [3, 4],
      [6, 9],
    ],
  ],
  [
    "a mark taken back",
    [
      [0, 2],
      [6, 9],
    ],
    [[3, "open"]],
    [
      [0, 2],
      [3, 4],
      [6, 9],
    ],
  ],
  [
    "taken back and still as planned",
    PLANNED,
    [
      [2, "open"],
      [3, "open"],
    ],
    "unchanged",
  ],
  [
    "the rest of a hand-made edge is too short to keep",
    [
      [0, 2],
      [2.95, 4],
    ],
    [[3, "removed"]],
    [[0, 2]],
  ],
  [
    "edges elsewhere stay",
    [
      [0, 1],
      [1, 2],
      [6, 9],
    ],
    [[9.5, "kept"]],
    [
      [0, 1],
      [1, 2],
      [6, 9],
      [9.5, 10],
    ],
  ],
  ["everything removed", [[3, 4]], [[3, "removed"]], []],
])("%s", (_, segments, states, expected) => {
  expect(decide(segments, states)).toEqual(expected);
});

test("a kept span shorter than a segment is lengthened, also at the end of the recording", () => {
  const short = (start: number, end: number): ReviewItem => ({
    ...ticks([[start, end]])[0]!,
    id: "r",
    kind: "removal",
    reason: "filler",
    rule: null,
    confidence: null,
  });
  for (const [item, expected] of [
    [short(5, 5.02), [{ start: 5_000_000, end: 5_100_000 }]],
    [short(9.97, 10), [{ start: 9_900_000, end: 10_000_000 }]],
  ] as const)
    expect([...applyDecisions([], [{ item, state: "kept" }], { planned: [], duration: 10_000_000 })]).toEqual([
      ...expected,
    ]);
});

/** Edges of alternating kept and removed spans, at least as long as a segment. */
const plans = fc
  .array(fc.integer({ min: MIN_SEGMENT_TICKS, max: 2_000_000 }), { minLength: 1, maxLength: 40 })
  .map((lengths) => {
    const kept: Kept[] = [];
    const gone: Gone[] = [];
    let at = 0;
    for (const [n, length] of lengths.entries()) {
      const [start, end] = [at / 1e6, (at + length) / 1e6];
      if (n % 2 === 0) kept.push([start, end, n % 4 === 0 ? "maybe a retake" : undefined]);
      else gone.push([start, end, "filler"]);
      at += length;
    }
    return plan(kept, gone, at / 1e6);
  });

test("for any plan and decisions, each item is kept or removed as decided, all else is as it was, and repeating changes nothing", () => {
  fc.assert(
    fc.property(
      plans,
      fc.array(fc.constantFrom<ReviewState>("open", "kept", "removed"), { maxLength: 40 }),
      (made, states) => {
        const items = listPlanItems(made);
        const decisions = items.slice(0, states.length).map((item, n) => ({ item, state: states[n]! }));
        const planned = planSpans(made);
        const facts = { planned, duration: fromSeconds(made.source_duration) };
        const after = applyDecisions(planned, decisions, facts);
        const isKept = (time: number) => after.some(({ start, end }) => start <= time && time < end);
        for (const { item, state } of decisions) {
          const wanted = state === "open" ? item.kind === "mark" : state === "kept";
          expect([isKept(item.start), isKept(item.end - 1)]).toEqual([wanted, wanted]);
        }
        for (const item of items.slice(states.length)) expect(isKept(item.start)).toBe(item.kind === "mark");
        for (const [n, span] of after.entries()) {
          expect(span.end - span.start).toBeGreaterThanOrEqual(MIN_SEGMENT_TICKS);
          if (n > 0) expect(span.start).toBeGreaterThanOrEqual(after[n - 1]!.end);
        }
        expect(applyDecisions(after, decisions, facts)).toBe(after);
        const reopened = applyDecisions(
          after,
          decisions.map(({ item }) => ({ item, state: "open" })),
          facts,
        );
        expect(mergeSpans(reopened)).toEqual(mergeSpans(planned));
      },
    ),
  );
});

test("20,000 decisions over 20,000 segments take less than a second", () => {
  const kept: Kept[] = [];
  const gone: Gone[] = [];
  for (let n = 0; n < 20_000; n++) {
    kept.push([n * 2, n * 2 + 1]);
    gone.push([n * 2 + 1, n * 2 + 2, "silence"]);
  }
  const large = plan(kept, gone, 40_000);
  const items = listPlanItems(large);
  const started = performance.now();
  const after = applyDecisions(
    planSpans(large),
    items.map((item, n) => ({ item, state: n % 3 === 0 ? "kept" : "removed" })),
    { planned: planSpans(large), duration: fromSeconds(40_000) },
  );
  expect(after.length).toBeGreaterThan(5_000);
  expect(performance.now() - started).toBeLessThan(1_000);
});
