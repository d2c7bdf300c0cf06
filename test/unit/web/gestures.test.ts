/** Gestures on a canvas of 400 pixels that shows 40 seconds: a pixel is 0.1 s. */
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { type Signal, signal } from "@preact/signals";
import { type Edge, getEdgeRange } from "../../../web/editor/model/edges";
import { type EditorPlan, type Range, removeRange } from "../../../web/editor/model/plan";
import { type GestureOptions, handleGestures } from "../../../web/editor/timeline/gestures";
import { layOutLanes } from "../../../web/editor/timeline/lanes";
import { fitView, toX, type View, zoomAt } from "../../../web/editor/timeline/view";
import { definePageGlobal } from "./page-globals";

const SECOND = 1_000_000;
const WHOLE: EditorPlan = {
  duration: 40 * SECOND,
  spans: [{ start: 0, end: 40 * SECOND, isKept: true, review: null }],
};
const HOLD_MS = 500;
/** Below the ruler and the flag. */
const LOW = 90;

class Canvas extends EventTarget {
  style = { cursor: "" };
  getBoundingClientRect = () => ({ left: 0, top: 0 });
  setPointerCapture = () => {};

  /** Returns whether the page may scroll. */
  send(type: string, x = 0, y = LOW, pointerType = "touch"): boolean {
    const event = new Event(type, { cancelable: true });
    return this.dispatchEvent(Object.assign(event, { clientX: x, clientY: y, button: 0, pointerId: 1, pointerType }));
  }
}

type Log = { selected: Range[]; done: Range[]; seeks: number[]; moved: [edge: number, to: number, isDone: boolean][] };
type Timeline = { canvas: Canvas; view: Signal<View>; options: GestureOptions; log: Log };

const stops: (() => void)[] = [];
beforeEach(() => {
  jest.useFakeTimers();
  definePageGlobal("window", new EventTarget());
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  jest.useRealTimers();
  Reflect.deleteProperty(globalThis, "window");
});

function createTimeline(change: Partial<GestureOptions> = {}): Timeline {
  const view = signal(fitView(40 * SECOND, 400));
  const log: Log = { selected: [], done: [], seeks: [], moved: [] };
  const plan = change.plan ?? WHOLE;
  const options: GestureOptions = {
    plan,
    lanes: layOutLanes({ hasStoryboard: false, hasAudio: true, hasDifferences: false, height: 160 }),
    playhead: signal(0),
    isDragging: signal(false),
    onSeek: (time) => log.seeks.push(time),
    getRange: (edge: Edge) => getEdgeRange(plan, edge),
    onMoveEdge: (edge, to, isDone) => log.moved.push([edge.time, to, isDone]),
    selection: null,
    edge: null,
    onSelect: (range, isDone) => log[isDone ? "done" : "selected"].push(range),
    onSelectEdge: () => {},
    onHold: (time) => ({ start: time, end: time }),
    ...change,
  };
  const canvas = new Canvas();
  stops.push(handleGestures(canvas as unknown as HTMLElement, view, () => options));
  return { canvas, view, options, log };
}

test.each([
  ["the end", 212, { start: 10 * SECOND, end: 22 * SECOND }],
  ["the start", 90, { start: 12 * SECOND, end: 20 * SECOND }],
])("a grip keeps its distance from the finger: %s", (_, x, expected) => {
  const { canvas, log } = createTimeline({ selection: { start: 10 * SECOND, end: 20 * SECOND } });
  canvas.send("pointerdown", x);
  canvas.send("pointermove", x + 20);
  canvas.send("pointerup", x + 20);
  expect(log.done).toEqual([expected]);
});

test("a held word grows once the finger moves, but not while it trembles", () => {
  const word = { start: 10 * SECOND, end: 11 * SECOND };
  const { canvas, log } = createTimeline({ onHold: () => word });
  canvas.send("pointerdown", 108);
  jest.advanceTimersByTime(HOLD_MS);
  canvas.send("pointermove", 111);
  canvas.send("pointerup", 111);
  canvas.send("pointerdown", 108);
  jest.advanceTimersByTime(HOLD_MS);
  canvas.send("pointermove", 130);
  canvas.send("pointerup", 130);
  expect(log.done).toEqual([word, { start: 10 * SECOND, end: 13 * SECOND }]);
});

test.each([
  ["on the flag in the ruler", 20, 5, 0],
  ["on the flag below the ruler", 20, 40, 1],
  ["below the flag", 20, 50, 1],
  ["in the ruler", 200, 5, 0],
  ["elsewhere", 200, LOW, 1],
])("a finger that rests %s selects: %d, %d, %d", (_, x, y, count) => {
  const { canvas, log } = createTimeline();
  canvas.send("pointerdown", x, y);
  jest.advanceTimersByTime(HOLD_MS);
  expect(log.selected).toHaveLength(count);
});

test("a finger below the flag drags it, unless it rests first", () => {
  const { canvas, log } = createTimeline();
  canvas.send("pointerdown", 20, 40);
  canvas.send("pointermove", 60, 40);
  canvas.send("pointerup", 60, 40);
  expect(log).toMatchObject({ seeks: [4 * SECOND], selected: [], done: [] });
  canvas.send("pointerdown", 20, 40);
  jest.advanceTimersByTime(HOLD_MS);
  canvas.send("pointermove", 60, 40);
  canvas.send("pointerup", 60, 40);
  expect(log).toMatchObject({ seeks: [4 * SECOND], done: [{ start: 0, end: 6 * SECOND }] });
});

test.each([
  ["up", 200, 70],
  ["to the side", 212, LOW],
])("a finger that moves %s does not rest", (_, x, y) => {
  const { canvas, log } = createTimeline();
  canvas.send("pointerdown", 200, LOW);
  canvas.send("pointermove", x, y);
  jest.advanceTimersByTime(HOLD_MS);
  expect(log.selected).toEqual([]);
});

test("the page scrolls from the ruler, and a move to the side scrubs", () => {
  const { canvas, log, options } = createTimeline();
  canvas.send("pointerdown", 200, 5);
  canvas.send("pointermove", 205, 30);
  expect(canvas.send("touchmove", 205, 30)).toBe(true);
  canvas.send("pointercancel");
  expect(log.seeks).toEqual([]);
  canvas.send("pointerdown", 200, 5);
  canvas.send("pointermove", 220, 8);
  expect(canvas.send("touchmove", 220, 8)).toBe(false);
  expect(options.isDragging.value).toBe(true);
  canvas.send("pointerup", 220, 8);
  expect([log.seeks, options.isDragging.value]).toEqual([[22 * SECOND], false]);
  // A tap.
  canvas.send("pointerdown", 100, 5);
  canvas.send("pointerup", 100, 5);
  expect(log.seeks).toEqual([22 * SECOND, 10 * SECOND]);
});

test("a scrub that leaves the view shows the playhead once it has ended", () => {
  const playhead = signal(0);
  const { canvas, view } = createTimeline({
    playhead,
    onSeek: (time) => {
      playhead.value = time;
    },
  });
  view.value = zoomAt(view.value, 4, 0);
  canvas.send("pointerdown", 300, 5, "mouse");
  canvas.send("pointermove", 500, 5, "mouse");
  expect(toX(view.value, playhead.value)).toBe(500);
  canvas.send("pointerup", 500, 5, "mouse");
  expect(toX(view.value, playhead.value)).toBe(200);
});

test("a canceled drag returns the edge of a removed span", () => {
  const removed = { start: 10 * SECOND, end: 20 * SECOND };
  const { canvas, log } = createTimeline({ plan: removeRange(WHOLE, removed), selection: removed });
  canvas.send("pointerdown", 212);
  canvas.send("pointermove", 230);
  canvas.send("pointercancel");
  expect(log.moved.at(-1)).toEqual([20 * SECOND, 20 * SECOND, true]);
  expect(log.moved[0]![1]).toBeGreaterThan(20 * SECOND);
});

test.each([
  ["in a join", 150, LOW, { start: 10 * SECOND, end: 20 * SECOND }],
  ["beside its start", 98, LOW, { start: 10 * SECOND, end: 20 * SECOND }],
  ["beside its end", 202, LOW, { start: 10 * SECOND, end: 20 * SECOND }],
  ["in a kept span", 50, LOW, null],
  ["in the ruler", 150, 5, null],
])("the handles that a mouse shows %s: %d, %d", (_, x, y, expected) => {
  const joins: (Range | null)[] = [];
  const plan = removeRange(WHOLE, { start: 10 * SECOND, end: 20 * SECOND });
  const { canvas } = createTimeline({ plan, onHoverJoin: (join) => joins.push(join) });
  canvas.send("pointermove", x, y, "mouse");
  canvas.send("pointermove", x, y, "touch");
  canvas.send("pointerleave", x, y, "mouse");
  expect(joins).toEqual([expected, null]);
});

test("only a dragged playhead scrubs, not a pressed one", () => {
  const scrubs: (number | null)[] = [];
  const { canvas, log } = createTimeline({ onScrub: (time) => scrubs.push(time) });
  canvas.send("pointerdown", 100, 5, "mouse");
  expect(log.seeks).toEqual([10 * SECOND]);
  canvas.send("pointermove", 120, 5, "mouse");
  canvas.send("pointerup", 120, 5, "mouse");
  expect(scrubs).toEqual([12 * SECOND, null]);
});
