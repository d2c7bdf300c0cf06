/** What the report of a whole render says about the speed of a place, and how far a report is believed. */
import { expect, test } from "bun:test";
import { type MeasuredRender, measureRender } from "../../../src/domain/render-speed";

const PIXELS = 1_000_000;
/** 300 frames in 10 s of one process, where two slots share four processes; 12 s on the head's clock. */
const RENDER: MeasuredRender = {
  reported: { frames: 300, seconds: 10, processes: 4 },
  pixels: PIXELS,
  slots: 2,
  isEncoded: true,
  seconds: 12,
  known: null,
  fallback: 52e6,
};
const measure = (change: Partial<MeasuredRender>, reported: Partial<MeasuredRender["reported"]> = {}) =>
  measureRender({ ...RENDER, ...change, reported: { ...RENDER.reported, ...reported } });

test("a slot has its share of the processes of the place", () => {
  expect(measure({})).toBe(60 * PIXELS);
  expect(measure({ slots: 4 })).toBe(30 * PIXELS);
});

test("what says more about starting a process than about encoding is ignored", () => {
  expect(measure({}, { frames: 20 })).toBeNull();
  expect(measure({}, { seconds: 0.2 })).toBeNull();
  expect(measure({}, { frames: 0, seconds: 0 })).toBeNull();
  expect(measure({}, { processes: 0 })).toBeNull();
  expect(measure({ slots: 0 })).toBeNull();
});

test("a report is bounded by the clock of the head", () => {
  const byClock = ((300 * PIXELS) / 12) * 5;
  expect(measure({}, { seconds: 1 })).toBe(byClock);
  expect(measure({}, { processes: 4_096 })).toBe(byClock);
});

test("a long transfer makes a place no slower than it was, or than one that was not measured", () => {
  expect(measure({ seconds: 10_000 })).toBe(52e6);
  expect(measure({ seconds: 10_000, known: 55e6 })).toBe(55e6);
});

test("a copy can only lower the speed: nobody else knows how much of it was encoded", () => {
  expect(measure({ isEncoded: false }, { seconds: 1 })).toBe(52e6);
  expect(measure({ isEncoded: false, known: 20e6 }, { seconds: 1 })).toBe(20e6);
  expect(measure({ isEncoded: false, known: 20e6 }, { seconds: 60 })).toBe(10e6);
});
