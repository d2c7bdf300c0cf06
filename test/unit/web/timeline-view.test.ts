import { expect, test } from "bun:test";
import fc from "fast-check";
import { findGain, toHeight } from "../../../src/domain/peaks";
import type { EditorPlan } from "../../../web/editor/model/plan";
import { canDragEdge, findEdgeAt } from "../../../web/editor/timeline/gestures";
import { findPeak, readWaveform } from "../../../web/editor/timeline/peaks";
import { findPicture, listTiles, type Storyboard } from "../../../web/editor/timeline/storyboard";
import {
  blendWarps,
  chooseStep,
  createFlatWarp,
  createWarp,
  endOf,
  findInView,
  fitView,
  fromPlace,
  getWarpLength,
  limitView,
  MIN_SCALE,
  placeAt,
  resizeView,
  reveal,
  scrollBy,
  toPlace,
  toTime,
  toX,
  type View,
  warpView,
  zoomAt,
} from "../../../web/editor/timeline/view";

const views: fc.Arbitrary<View> = fc
  .record({
    duration: fc.integer({ min: 1, max: 20_000_000_000 }),
    width: fc.integer({ min: 1, max: 4000 }),
    start: fc.double({ min: 0, max: 1, noNaN: true }),
    factor: fc.double({ min: 1, max: 10_000, noNaN: true }),
  })
  .map(({ duration, width, start, factor }) =>
    limitView({ duration, width, start: start * duration, scale: duration / width / factor }),
  );

function expectValid(view: View): void {
  const fit = view.duration / view.width;
  expect(view.scale).toBeGreaterThanOrEqual(Math.min(MIN_SCALE, fit) * 0.999);
  expect(view.scale).toBeLessThanOrEqual(fit * 1.001);
  expect(view.start).toBeGreaterThanOrEqual(0);
  expect(view.start + view.width * view.scale).toBeLessThanOrEqual(view.duration * 1.001);
}

test("zooming, scrolling and resizing stay within the recording", () => {
  fc.assert(
    fc.property(
      views,
      fc.double({ min: 0.01, max: 100, noNaN: true }),
      fc.integer({ min: -5000, max: 5000 }),
      (view, factor, x) => {
        expectValid(zoomAt(view, factor, Math.abs(x) % view.width));
        expectValid(scrollBy(view, x));
        expectValid(resizeView(view, Math.abs(x) + 1));
        expectValid(placeAt(view, view.duration / 3, view.width / 2, view.scale * factor));
        expectValid(reveal(view, view.duration / 2, 0.5));
      },
    ),
  );
});

test("a zoom keeps the time under the pointer, away from the ends", () => {
  const view = { start: 50e6, scale: 20_000, width: 1000, duration: 1000e6 };
  expect(toTime(zoomAt(view, 2, 300), 300)).toBeCloseTo(toTime(view, 300), 3);
  expect(toTime(zoomAt(view, 0.5, 300), 300)).toBeCloseTo(toTime(view, 300), 3);
  expect(toX(view, toTime(view, 123))).toBeCloseTo(123, 6);
});

test("a view of the whole recording stays one when the window changes", () => {
  expect(resizeView(fitView(60e6, 500), 800)).toEqual(fitView(60e6, 800));
  expect(resizeView(fitView(60e6, 0), 800)).toEqual(fitView(60e6, 800));
});

test("a collapsed timeline maps each time to a place and back, and keeps what is at the pointer", () => {
  const warp = createWarp(EDGED);
  // Two seams remain of the 19.9 s that are removed.
  expect(getWarpLength(warp)).toBe(60e6 - 19.9e6 + 2 * 240_000);
  fc.assert(
    fc.property(fc.integer({ min: -1e6, max: 61e6 }), fc.integer({ min: -1e6, max: 61e6 }), (one, other) => {
      expect(Math.abs(fromPlace(warp, toPlace(warp, one)) - one)).toBeLessThan(1);
      expect(toPlace(warp, Math.max(one, other))).toBeGreaterThanOrEqual(toPlace(warp, Math.min(one, other)));
    }),
  );
  const view = limitView({ start: 5e6, scale: 20_000, width: 1000, duration: EDGED.duration });
  const collapsed = warpView(view, warp, getWarpLength(warp), 300);
  expect(toTime(collapsed, 300)).toBeCloseTo(toTime(view, 300), 0);
  expect(toX(collapsed, 30e6) - toX(collapsed, 12.1e6)).toBeCloseTo(240_000 / 20_000, 6);
  expect(warpView(collapsed, null, EDGED.duration, 300)).toMatchObject({ duration: EDGED.duration, warp: null });
});

test("the ranges in view are found", () => {
  const ranges = Array.from({ length: 100 }, (_, index) => ({ start: index * 10, end: index * 10 + 10 }));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 1, max: 100 }), (start, width) => {
      const view = { start, scale: 1, width, duration: 1000 };
      const [from, to] = findInView(ranges, view);
      const wanted = ranges.filter((range) => range.end > start && range.start < endOf(view));
      expect(ranges.slice(from, to)).toEqual(wanted);
    }),
  );
});

test("labels of the ruler do not touch", () => {
  fc.assert(
    fc.property(views, (view) => {
      const step = chooseStep(view, 72);
      expect(step === 3600e6 || step / view.scale >= 72).toBe(true);
    }),
  );
});

function toFile(peaks: number[], { magic = "OCW1", rate = 50, count = peaks.length } = {}): ArrayBuffer {
  const bytes = new Uint8Array(12 + peaks.length);
  bytes.set(new TextEncoder().encode(magic));
  new DataView(bytes.buffer).setUint32(4, rate, true);
  new DataView(bytes.buffer).setUint32(8, count, true);
  bytes.set(peaks, 12);
  return bytes.buffer;
}

test("a damaged waveform is refused", () => {
  expect(() => readWaveform(new ArrayBuffer(3))).toThrow("shorter than its header");
  expect(() => readWaveform(toFile([1], { magic: "OCW2" }))).toThrow("Not a waveform");
  expect(() => readWaveform(toFile([1], { rate: 0 }))).toThrow("0 peaks per second");
  expect(() => readWaveform(toFile([1], { rate: 1e9 }))).toThrow("peaks per second");
  expect(() => readWaveform(toFile([1], { count: 4e9 }))).toThrow("more than");
  expect(() => readWaveform(toFile([1, 2, 3], { count: 4 }))).toThrow("3 of 4 peaks");
  expect(() => readWaveform(toFile([1, 2, 3], { count: 2 }))).toThrow("3 of 2 peaks");
  expect(readWaveform(toFile([])).levels[0]).toHaveLength(0);
});

test("no peak is missed at any zoom", () => {
  const peaks = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 500 });
  fc.assert(
    fc.property(peaks, fc.nat(600), fc.integer({ min: 1, max: 600 }), (values, from, length) => {
      const waveform = readWaveform(toFile(values));
      const found = findPeak(waveform, from * 20_000, (from + length) * 20_000);
      const inside = toHeight(Math.max(0, ...values.slice(from, from + length)), waveform.gain);
      // Coarse levels may reach over the ends of the range.
      const near = values.slice(Math.max(0, from - length), from + 2 * length);
      const around = toHeight(Math.max(0, ...near), waveform.gain);
      expect(found).toBeGreaterThanOrEqual(inside);
      expect(found).toBeLessThanOrEqual(around);
    }),
  );
});

const speech = (loud: number, count = 1000) => Array.from({ length: count }, (_, n) => (n % 2 === 0 ? loud : 1));
const silence = (count: number) => Array.from<number>({ length: count }).fill(2);

test.each<[string, number[], peak: number, height: number]>([
  ["a quiet recording fills the lane", speech(51), 51, 1],
  ["a very quiet one is louder, but not full", speech(10), 10, 80 / 255],
  ["a loud recording stays as it is", speech(255), 51, 0.2],
  ["a bump of the microphone is clipped", [...speech(51), 255, 250], 255, 1],
  ["words fill the lane despite it", [...speech(51), 255, 250], 51, 1],
  [
    "words in a long silence fill the lane without being clipped",
    [...speech(51, 100), ...silence(50_000)],
    40,
    40 / 51,
  ],
  ["noise alone stays low", silence(1000), 2, 16 / 255],
  ["no recording", [], 0, 0],
])("%s", (_, peaks, peak, height) => {
  expect(toHeight(peak, findGain(new Uint8Array(peaks)))).toBeCloseTo(height);
});

const storyboard: Storyboard = {
  interval: 2,
  count: 250,
  width: 160,
  height: 90,
  columns: 10,
  rows: 10,
  picture: { x: 0, y: 0, width: 160, height: 90 },
  sheets: 3,
  getSheetUrl: String,
};

test("pictures cover the view, each from its place on its sheet", () => {
  const view = { start: 221e6, scale: 20_000, width: 1000, duration: 500e6 };
  const tiles = listTiles(storyboard, view, 45);
  expect(tiles[0]!.x).toBeLessThanOrEqual(0);
  expect(tiles.at(-1)!.x + tiles.at(-1)!.width).toBeGreaterThanOrEqual(1000);
  // The picture of 220.8 s is number 110: the first of the second row of the second sheet.
  expect(tiles[0]).toMatchObject({ sheet: 1, sourceX: 0, sourceY: 90, width: 80 });
  expect(listTiles({ ...storyboard, count: 0 }, view, 45)).toEqual([]);
  // Without the bars of the thumbnail.
  const upright = listTiles({ ...storyboard, picture: findPicture(storyboard, 9 / 16) }, view, 45);
  expect(upright[0]!.width).toBeCloseTo((45 * 9) / 16);
  expect(upright[0]!.sourceX % 160).toBeCloseTo((160 - (90 * 9) / 16) / 2);
  const wide = listTiles({ ...storyboard, picture: findPicture(storyboard, 3.2) }, view, 45);
  expect([wide[0]!.width, wide[0]!.sourceX % 160, wide[0]!.sourceY % 90]).toEqual([144, 0, 20]);
  expect(listTiles(storyboard, fitView(5000e6, 1000), 45).at(-1)!.sheet).toBe(2);
});

/** Kept until 10 s, from 12 s for the shortest time possible, and from 30 s. */
const EDGED: EditorPlan = {
  duration: 60e6,
  spans: [
    { start: 0, end: 10e6, isKept: true, review: null },
    { start: 10e6, end: 12e6, isKept: false, reason: "silence", rule: null, confidence: null },
    { start: 12e6, end: 12.1e6, isKept: true, review: null },
    { start: 12.1e6, end: 30e6, isKept: false, reason: "silence", rule: null, confidence: null },
    { start: 30e6, end: 60e6, isKept: true, review: null },
  ],
};

test.each([
  ["beside an edge", 100_000, 10.5, 10],
  ["in a narrow span, near its edge", 200_000, 10.5, 10],
  ["in the middle of a narrow span", 200_000, 11, null],
  ["outside of a narrow span", 200_000, 9, null],
  ["at spans of a few pixels", 1_000_000, 10, null],
  ["at a kept span of a few pixels", 100_000, 12, null],
  ["at the same one, enlarged", 10_000, 12.01, 12],
  ["at one of wide spans", 1_000_000, 35, 30],
  ["away from edges", 100_000, 11, null],
])("a pointer %s", (_, scale, seconds, time) => {
  const view = { start: 0, scale, width: 10_000, duration: EDGED.duration };
  expect(findEdgeAt(EDGED, view, (seconds * 1e6) / scale, 6)?.time ?? null).toBe(time === null ? null : time * 1e6);
});

test.each([
  ["of a wide span", 100_000, 10, "end", true],
  ["of a kept span of a few pixels", 100_000, 12, "start", false],
  ["of the same one, enlarged", 10_000, 12, "start", true],
  ["that was removed", 10_000, 11, "start", false],
  ["of the other side", 100_000, 10, "start", false],
] as const)("a mouse drags only edges with a handle: one %s", (_, scale, seconds, side, isDragged) => {
  const view = { start: 0, scale, width: 10_000, duration: EDGED.duration };
  expect(canDragEdge(EDGED, view, { time: seconds * 1e6, side })).toBe(isDragged);
});

test("a blended axis lies between both axes", () => {
  const [flat, collapsed] = [createFlatWarp(EDGED.duration), createWarp(EDGED)];
  const half = blendWarps(flat, collapsed, 0.5);
  for (let time = 0; time <= EDGED.duration; time += 0.7e6) {
    expect(toPlace(blendWarps(flat, collapsed, 0), time)).toBeCloseTo(time, 3);
    expect(toPlace(blendWarps(flat, collapsed, 1), time)).toBeCloseTo(toPlace(collapsed, time), 3);
    expect(toPlace(half, time)).toBeCloseTo((time + toPlace(collapsed, time)) / 2, 3);
    expect(fromPlace(half, toPlace(half, time))).toBeCloseTo(time, 3);
  }
  expect(getWarpLength(half)).toBeCloseTo((EDGED.duration + getWarpLength(collapsed)) / 2, 3);
});
