import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { applyCorrections, correctWords } from "../../../web/editor/model/corrections";
import {
  countEdgesIn,
  getEdgeKey,
  getEdgeRange,
  listEdges,
  listEdgesIn,
  moveEdge,
} from "../../../web/editor/model/edges";
import {
  type Content,
  fromDraft,
  preview,
  record,
  redo,
  startHistory,
  toDraft,
  undo,
} from "../../../web/editor/model/history";
import {
  comparePlans,
  type EditorPlan,
  getKeptDuration,
  isRemoved,
  keepsTheSame,
  listKept,
  MIN_KEPT,
  removeRange,
  restoreRange,
} from "../../../web/editor/model/plan";
import { chooseTake, getNextTake, listTakes } from "../../../web/editor/model/takes";
import {
  areRemoved,
  type FindOptions,
  findMatchFrom,
  findText,
  findWordAt,
  findWordsIn,
  isPauseRemoved,
  isWordKept,
  removeWords,
  restoreWords,
  toggleWords,
  type Words,
} from "../../../web/editor/model/words";
import { recordings, share } from "./arbitrary-edits";

/** Asserts the invariants of every plan of the editor. */
function expectValid({ duration, spans }: EditorPlan): void {
  expect(spans[0]?.start).toBe(0);
  expect(spans.at(-1)?.end).toBe(duration);
  for (const [index, span] of spans.entries()) {
    expect(span.end).toBeGreaterThan(span.start);
    expect(Number.isInteger(span.start)).toBe(true);
    const next = spans[index + 1];
    if (next) {
      expect(next.start).toBe(span.end);
      expect(span.isKept && next.isKept).toBe(false);
    }
    if (span.isKept && duration >= MIN_KEPT && spans.length > 1)
      expect(span.end - span.start).toBeGreaterThanOrEqual(MIN_KEPT);
  }
}

const edits = fc.array(
  fc.record({
    kind: fc.constantFrom("remove", "restore", "toggle", "range", "unrange", "edge", "correct", "undo", "redo"),
    from: share,
    to: share,
  }),
  { maxLength: 25 },
);

function applyEdit(content: Content, words: Words, kind: string, a: number, b: number): Content {
  const { plan } = content;
  const count = words.text.length;
  const [from, to] = [Math.floor(Math.min(a, b) * count), Math.ceil(Math.max(a, b) * count)];
  const range = { start: Math.min(a, b) * plan.duration, end: Math.max(a, b) * plan.duration };
  const edges = listEdges(plan);
  switch (kind) {
    case "remove":
      return { ...content, plan: removeWords(plan, words, { from, to }) };
    case "restore":
      return { ...content, plan: restoreWords(plan, words, { from, to }) };
    case "toggle":
      return { ...content, plan: toggleWords(plan, words, { from, to }).plan };
    case "range":
      return { ...content, plan: removeRange(plan, range) };
    case "unrange":
      return { ...content, plan: restoreRange(plan, range) };
    case "edge": {
      const edge = edges[Math.floor(a * edges.length)];
      return edge ? { ...content, plan: moveEdge(plan, edge, b * plan.duration) } : content;
    }
    default:
      return { ...content, corrections: correctWords(content.corrections, words, { from, to }, `text ${from}`) };
  }
}

describe("any sequence of edits", () => {
  test("leaves a plan that tiles the recording, and undoing all of it restores the start", () => {
    fc.assert(
      fc.property(recordings, edits, ({ words, plan }, steps) => {
        expectValid(plan);
        const start: Content = { plan, corrections: [] };
        let history = startHistory(start);
        for (const { kind, from, to } of steps) {
          if (kind === "undo") history = undo(history);
          else if (kind === "redo") history = redo(history);
          else history = record(history, applyEdit(history.present, words, kind, from, to), kind);
          expectValid(history.present.plan);
        }
        const end = history.present;
        let undone = 0;
        while (history.past.length > 0) {
          history = undo(history);
          undone++;
        }
        expect(history.present).toBe(start);
        for (; undone > 0; undone--) history = redo(history);
        expect(history.present).toBe(end);
      }),
      { numRuns: 300 },
    );
  });

  test("survives being stored as a draft", () => {
    fc.assert(
      fc.property(recordings, edits, ({ words, plan }, steps) => {
        let content: Content = { plan, corrections: [] };
        for (const { kind, from, to } of steps) content = applyEdit(content, words, kind, from, to);
        const stored = JSON.parse(JSON.stringify(toDraft(content)));
        const read = fromDraft(plan, stored);
        expect(keepsTheSame(read.plan, content.plan)).toBe(true);
        expect(read.corrections).toEqual([...content.corrections]);
        expectValid(read.plan);
      }),
      { numRuns: 200 },
    );
  });

  test("removed words are removed, restored words are kept", () => {
    fc.assert(
      fc.property(recordings, share, share, ({ words, plan }, a, b) => {
        const count = words.text.length;
        const range = { from: Math.floor(Math.min(a, b) * count), to: Math.ceil(Math.max(a, b) * count) };
        if (range.to <= range.from) return;
        const removed = removeWords(plan, words, range);
        expect(areRemoved(removed, words, range)).toBe(true);
        const restored = restoreWords(removed, words, range);
        if (plan.duration < MIN_KEPT) return;
        for (let index = range.from; index < range.to; index++) expect(isWordKept(restored, words, index)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("a word that the next one overlaps is removed beside it, too", () => {
    const words = { text: ["a", "b", "c"], start: [0, 1e4, 21e4], end: [2e4, 21e4, 23e4] };
    const first = { from: 0, to: 1 };
    const removed = removeWords(WHOLE, words, { from: 1, to: 2 });
    expect(areRemoved(removeWords(removed, words, first), words, first)).toBe(true);
    const within = { text: ["a", "b"], start: [0, 0], end: [15e3, 20e3] };
    const cut = removeWords(WHOLE, within, first);
    expect([0, 1].map((index) => isWordKept(cut, within, index))).toEqual([false, true]);
  });

  test("an edge stays within its range", () => {
    fc.assert(
      fc.property(recordings, share, fc.integer({ min: -1e7, max: 1e8 }), ({ plan }, pick, to) => {
        const edges = listEdges(plan);
        const edge = edges[Math.min(edges.length - 1, Math.floor(pick * edges.length))];
        if (!edge) return;
        const { start, end } = getEdgeRange(plan, edge);
        expect(start).toBeLessThanOrEqual(edge.time);
        expect(end).toBeGreaterThanOrEqual(edge.time);
        const moved = moveEdge(plan, edge, to);
        expectValid(moved);
        const outside = (one: EditorPlan, span: { start: number; end: number }) =>
          span.end <= start || span.start >= end || one.spans.length === 0;
        expect(listKept(moved).filter((span) => outside(moved, span)).length).toBeLessThanOrEqual(
          listKept(plan).length,
        );
      }),
      { numRuns: 300 },
    );
  });

  test("the edges in a range are those of the plan, and plans that keep the same differ in what is removed only", () => {
    fc.assert(
      fc.property(recordings, share, share, ({ words, plan }, a, b) => {
        const range = { start: Math.min(a, b) * plan.duration, end: Math.max(a, b) * plan.duration };
        const found = listEdgesIn(plan, range);
        expect(found).toEqual(listEdges(plan).filter(({ time }) => time >= range.start && time <= range.end));
        expect(countEdgesIn(plan, range)).toBe(found.length);
        expect(new Set(found.map((edge) => getEdgeKey(plan, edge))).size).toBe(found.length);
        const edited = applyEdit({ plan, corrections: [] }, words, "toggle", a, b).plan;
        const toTimes = (one: EditorPlan) => listKept(one).map(({ start, end }) => [start, end]);
        expect(keepsTheSame(plan, edited)).toBe(Bun.deepEquals(toTimes(plan), toTimes(edited)));
      }),
      { numRuns: 300 },
    );
  });
});

const WORDS: Words = {
  text: ["So", "um", "we", "cut", "the", "talk."],
  start: [1, 2, 4, 5, 6, 7].map((s) => s * 1e6),
  end: [1.4, 2.4, 4.4, 5.4, 6.4, 7.4].map((s) => Math.round(s * 1e6)),
};
const WHOLE: EditorPlan = { duration: 10e6, spans: [{ start: 0, end: 10e6, isKept: true, review: null }] };

describe("words", () => {
  test("a removed word takes its pauses along, and leaves the quiet of its neighbors", () => {
    const plan = removeWords(WHOLE, WORDS, { from: 1, to: 2 });
    expect(plan.spans.map(({ start, end, isKept }) => [start, end, isKept])).toEqual([
      [0, 1.58e6, true],
      [1.58e6, 3.88e6, false],
      [3.88e6, 10e6, true],
    ]);
    expect(isPauseRemoved(plan, WORDS, 0)).toBe(false);
  });

  test("words that are removed one after the other leave no pause between them", () => {
    const plan = removeWords(removeWords(WHOLE, WORDS, { from: 1, to: 2 }), WORDS, { from: 2, to: 3 });
    expect(plan.spans).toHaveLength(3);
    expect(isPauseRemoved(plan, WORDS, 1)).toBe(true);
  });

  test("restoring one passage leaves later edits alone", () => {
    const both = removeWords(removeWords(WHOLE, WORDS, { from: 1, to: 2 }), WORDS, { from: 4, to: 5 });
    const restored = restoreWords(both, WORDS, { from: 1, to: 2 });
    expect(isWordKept(restored, WORDS, 1)).toBe(true);
    expect(isWordKept(restored, WORDS, 4)).toBe(false);
  });

  test("toggling returns the number of changed words", () => {
    const removed = toggleWords(WHOLE, WORDS, { from: 1, to: 4 });
    expect([removed.changed, removed.isRestored]).toEqual([3, false]);
    expect(toggleWords(removed.plan, WORDS, { from: 1, to: 4 })).toMatchObject({ changed: 3, isRestored: true });
  });

  test.each([
    [0, -1],
    [1e6, 0],
    [3e6, 1],
    [9e6, 5],
  ])("the word at %i is %i", (time, index) => expect(findWordAt(WORDS, time)).toBe(index));

  test("text is found in any case, across words", () => {
    const parts = { matchesCase: false, isWhole: false };
    expect(findText(WORDS, "THE ta", parts)).toEqual([{ from: 4, to: 6 }]);
    expect(findText(WORDS, "absent")).toEqual([]);
    const found = [3, 8].map((from) => ({ from, to: from + 1 }));
    expect([-1, 3, 4, 9].map((word) => findMatchFrom(found, word, 1))).toEqual([0, 0, 1, 0]);
    expect([-1, 3, 4, 9].map((word) => findMatchFrom(found, word, -1))).toEqual([1, 1, 0, 1]);
    expect(findText(WORDS, "  ")).toEqual([]);
    const scripted = { ...WORDS, text: ["“So,", "we’ll", "cut the talk", "", "", "now."] };
    expect(findText(scripted, "so we'll cut")).toEqual([{ from: 0, to: 3 }]);
    expect(findText(scripted, "the talk no", parts)).toEqual([{ from: 2, to: 6 }]);
    expect(findText(scripted, "t", parts)).toEqual([{ from: 2, to: 3 }]);
    const said: Words = { text: ["Um,", "the", "number", "um"], start: [0, 1, 2, 3], end: [1, 2, 3, 4] };
    const find = (text: string, options: Partial<FindOptions>) =>
      findText(said, text, { matchesCase: false, isWhole: false, ...options }).map(({ from }) => from);
    expect(find("um", {})).toEqual([0, 2, 3]);
    expect(find("um", { isWhole: true })).toEqual([0, 3]);
    expect(find("um", { matchesCase: true })).toEqual([2, 3]);
    expect(find("um", { isWhole: true, matchesCase: true })).toEqual([3]);
    expect(findWordsIn(WORDS, { start: 2e6, end: 5.3e6 })).toEqual({ from: 1, to: 4 });
  });
});

describe("takes, reviews, corrections, comparison", () => {
  const source = [
    {
      line: "we cut",
      chosen: 1,
      candidates: [
        { start: 1, end: 2, complete: true },
        { start: 4, end: 5.4, complete: true },
      ],
    },
    { line: "alone", chosen: 0, candidates: [{ start: 6, end: 7, complete: true }] },
  ];

  test("choosing a take keeps it and removes the others as retakes", () => {
    const [take] = listTakes(removeRange(WHOLE, { start: 1e6, end: 2e6 }), source);
    expect(take!.candidates.map(({ isKept }) => isKept)).toEqual([false, true]);
    const next = chooseTake(WHOLE, take!, getNextTake(take!));
    expect(isRemoved(next, { start: 4e6, end: 5.4e6 })).toBe(true);
    expect(isRemoved(next, { start: 1e6, end: 2e6 })).toBe(false);
    expect(next.spans.find(({ isKept }) => !isKept)).toMatchObject({ reason: "retake" });
  });

  test("a take of one word is removed, although its removal begins a few frames later", () => {
    const said = (start: number, end: number) => ({ start, end, complete: true });
    const cut = removeRange(WHOLE, { start: 1_085_000, end: 1_485_000 });
    const [take] = listTakes(cut, [{ line: "it was", chosen: 1, candidates: [said(1, 1.2), said(1.5, 3)] }]);
    expect(take!.candidates.map(({ isKept }) => isKept)).toEqual([false, true]);
  });

  test("a correction replaces words without cutting, and ends when the recognized text is typed", () => {
    const corrected = correctWords([], WORDS, { from: 4, to: 6 }, "  the  talks ");
    expect(applyCorrections(WORDS, corrected)).toEqual(["So", "um", "we", "cut", "the talks", ""]);
    expect(correctWords(corrected, WORDS, { from: 4, to: 6 }, "the talk.")).toEqual([]);
  });

  test("corrections of words that overlap leave each other alone", () => {
    const words = { text: ["a", "bit", "more"], start: [0, 180_000, 400_000], end: [200_000, 400_000, 600_000] };
    const first = correctWords([], words, { from: 0, to: 1 }, "one");
    expect(applyCorrections(words, first)).toEqual(["one", "bit", "more"]);
    const both = correctWords(first, words, { from: 1, to: 2 }, "two");
    expect(applyCorrections(words, both)).toEqual(["one", "two", "more"]);
    expect(both[1]!.start).toBeGreaterThanOrEqual(both[0]!.end);
  });

  test("two plans differ where one keeps what the other removes", () => {
    const second = removeRange(restoreRange(WHOLE, { start: 0, end: 0 }), { start: 2e6, end: 3e6 });
    expect(comparePlans(WHOLE, second)).toEqual([{ start: 2e6, end: 3e6, only: "first" }]);
    expect(comparePlans(WHOLE, WHOLE)).toEqual([]);
    expect(getKeptDuration(second)).toBe(9e6);
  });

  test("a preview is not a step", () => {
    const history = startHistory({ plan: WHOLE, corrections: [] });
    const moving = preview(history, { plan: removeRange(WHOLE, { start: 0, end: 1e6 }), corrections: [] });
    expect(moving.past).toEqual([]);
    expect(record(history, history.present, "nothing")).toBe(history);
  });
});

test("a long talk is edited in a few milliseconds", () => {
  const spans = Array.from({ length: 4_000 }, (_, index) => ({ start: index * 2.7e6, end: (index + 1) * 2.7e6 }));
  const plan: EditorPlan = {
    duration: 4_000 * 2.7e6,
    spans: spans.map((span, index) =>
      index % 2
        ? { ...span, isKept: false, reason: "silence", rule: null, confidence: null }
        : { ...span, isKept: true, review: null },
    ),
  };
  const draft = toDraft({ plan, corrections: [] });
  expectValid(fromDraft(plan, draft).plan);
  expectValid(removeRange(plan, { start: 5e9, end: 5.1e9 }));
});
