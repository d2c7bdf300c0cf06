/** The state of the editor and of playback, without a page. */
import { beforeAll, expect, test } from "bun:test";
import { signal } from "@preact/signals";
import { restoreRange } from "../../../web/editor/model/plan";
import type * as Actions from "../../../web/editor/state/edit-actions";
import type { createEditor } from "../../../web/editor/state/editor-state";
import type { createPlayback } from "../../../web/editor/state/playback";
import type { stepJoin } from "../../../web/editor/state/seek-actions";
import { usePageGlobals } from "./page-globals";

usePageGlobals();

let create: typeof createEditor;
let play: typeof createPlayback;
let actions: typeof Actions;
let step: typeof stepJoin;
beforeAll(async () => {
  create = (await import("../../../web/editor/state/editor-state")).createEditor;
  play = (await import("../../../web/editor/state/playback")).createPlayback;
  actions = await import("../../../web/editor/state/edit-actions");
  step = (await import("../../../web/editor/state/seek-actions")).stepJoin;
});

const SECOND = 1_000_000;

/** Opens a cut of ten seconds that keeps all of it, with two words. */
function open() {
  const plan = { source_duration: 10, segments: [{ start: 0, end: 10, review: null }], removed: [], takes: [] };
  const cut = { id: "cut", plan } as unknown as Parameters<typeof create>[0]["cut"];
  const words = { text: ["one", "two"], start: [SECOND, 2 * SECOND], end: [1.5 * SECOND, 2.5 * SECOND] };
  return create({ cut, duration: 10, words, draft: null, canWrite: true, playhead: signal(0) });
}

test("an edge that undo has removed is neither selected nor moved", () => {
  const editor = open();
  actions.toggleMarked(editor, { start: 0, end: 3 * SECOND });
  actions.dragEdge(editor, { time: 3 * SECOND, side: "start" }, 5 * SECOND, true);
  expect(editor.edge.value).toEqual({ time: 5 * SECOND, side: "start" });
  editor.undo();
  expect(editor.edge.value).toBeNull();
  expect(actions.nudgeEdge(editor, 40_000)).toBe(false);
});

test.each(["selection", "marks", "span"] as const)("an edge is not selected beside a later selection: %s", (kind) => {
  const editor = open();
  actions.toggleMarked(editor, { start: 0, end: 3 * SECOND });
  actions.dragEdge(editor, { time: 3 * SECOND, side: "start" }, 5 * SECOND, true);
  if (kind === "selection") editor.selection.value = { from: 0, to: 1 };
  else if (kind === "marks") editor.marks.value = { in: SECOND, out: 2 * SECOND };
  else editor.span.value = editor.plan.value.spans[0] as NonNullable<typeof editor.span.value>;
  expect([editor.edge.value, editor.range.value !== null]).toEqual([null, true]);
});

test("marks of a removed range end when its edge moves, and other marks stay", () => {
  const editor = open();
  editor.marks.value = { in: 4 * SECOND, out: 6 * SECOND };
  actions.toggleSelection(editor);
  actions.dragEdge(editor, { time: 4 * SECOND, side: "end" }, 4 * SECOND, true);
  expect(editor.range.value).toEqual({ start: 4 * SECOND, end: 6 * SECOND });
  actions.dragEdge(editor, { time: 4 * SECOND, side: "end" }, 5 * SECOND, false);
  expect(editor.range.value).toBeNull();
  editor.marks.value = { in: 7 * SECOND, out: 8 * SECOND };
  actions.dragEdge(editor, { time: 4 * SECOND, side: "end" }, 5 * SECOND, true);
  expect(editor.range.value).toEqual({ start: 7 * SECOND, end: 8 * SECOND });
});

test("words are restored if all of them are removed, whatever is kept of the pause between them", () => {
  const editor = open();
  for (const from of [0, 1]) actions.toggleRange(editor, { from, to: from + 1 });
  editor.apply({ plan: restoreRange(editor.plan.value, { start: 1.6 * SECOND, end: 1.9 * SECOND }) }, "", "");
  editor.selection.value = { from: 0, to: 2 };
  expect(actions.isSelectionRemoved(editor)).toBe(true);
  actions.toggleSelection(editor);
  expect(editor.announcement.value.text).toStartWith("2 words restored");
});

test("Delete removes the range that was marked after words were selected", () => {
  const editor = open();
  editor.selection.value = { from: 0, to: 1 };
  actions.toggleSelection(editor);
  editor.marks.value = { in: 4 * SECOND, out: 6 * SECOND };
  actions.toggleSelection(editor);
  expect(editor.announcement.value.text).toStartWith("Marked range removed, ");
});

test.each([
  [SECOND, 1.5 * SECOND, "Filler · “one”", true],
  [4 * SECOND, 6 * SECOND, "Filler", true],
])("names a removed span with its words: %d to %d", async (start, end, title, isWhole) => {
  const { titleSpan } = await import("../../../web/editor/reasons");
  const span = { start, end, reason: "filler", rule: "filler.written" } as Parameters<typeof titleSpan>[1];
  expect(titleSpan(open(), span)).toEqual({ title, isWhole });
});

test("the playback before a range continues after it", () => {
  const playback = play();
  playback.setPlan(open().plan.value);
  playback.playRange({ start: SECOND, end: 2 * SECOND });
  expect(playback.mode.value).toBe("source");
  playback.toggle();
  expect(playback.mode.value).toBe("source");
  playback.seek(5 * SECOND);
  playback.toggle();
  expect(playback.mode.value).toBe("cut");
});

test.each([
  ["while it is paused", false, 8],
  ["while it plays past it", true, 4],
])("the join before the playhead %s", (_, isPlaying, seconds) => {
  const editor = open();
  actions.toggleMarked(editor, { start: 2 * SECOND, end: 4 * SECOND });
  actions.toggleMarked(editor, { start: 6 * SECOND, end: 8 * SECOND });
  const playback = play();
  editor.playhead.value = 8.4 * SECOND;
  playback.seek = (time) => {
    editor.playhead.value = time;
  };
  step(editor, { ...playback, isPlaying: signal(isPlaying) }, -1);
  expect(editor.playhead.value).toBe(seconds * SECOND);
});

test("a filter stops at each removal that it shows, also at one that another removal follows", () => {
  const editor = open();
  const removed = [
    { start: 1, end: 2, reason: "retake", rule: null, confidence: 0.9 },
    { start: 2, end: 3, reason: "silence", rule: null, confidence: 0.9 },
    { start: 5, end: 6, reason: "retake", rule: null, confidence: 0.9 },
    { start: 6, end: 10, reason: "silence", rule: null, confidence: 0.9 },
  ];
  const segments = [
    { start: 0, end: 1, review: null },
    { start: 3, end: 5, review: null },
  ];
  const cut = { id: "cut", plan: { source_duration: 10, segments, removed, takes: [] } };
  const filtered = create({
    ...{ cut: cut as unknown as Parameters<typeof create>[0]["cut"], duration: 10 },
    ...{ words: editor.words, draft: null, canWrite: true, playhead: editor.playhead },
  });
  const playback = play();
  playback.seek = (time) => {
    editor.playhead.value = time;
  };
  const stops = (direction: 1 | -1) =>
    Array.from({ length: 2 }, () => {
      step(filtered, playback, direction);
      return [editor.playhead.value / SECOND, filtered.span.value?.reason];
    });
  filtered.filter.value = "retake";
  expect(stops(1)).toEqual([
    [2, "retake"],
    [6, "retake"],
  ]);
  expect(stops(-1)[0]).toEqual([2, "retake"]);
  filtered.filter.value = null;
  editor.playhead.value = 0;
  expect(stops(1)[0]).toEqual([3, "silence"]);
});
