import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  chooseChunk,
  chooseChunkSizes,
  chooseDuplicate,
  estimateSecondsLeft,
  getMedianSpeed,
  MAX_CHUNK_FRAMES,
  MIN_CHUNK_FRAMES,
  type PlaceSpeed,
  updateSpeed,
} from "../../../src/domain/chunk-sizes";

const FALLBACK = 30;
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

const speed = fc.double({ min: 0.5, max: 2_000, noNaN: true });
const place: fc.Arbitrary<PlaceSpeed> = fc.record({
  slots: fc.integer({ min: 1, max: 8 }),
  framesPerSecond: fc.option(speed, { nil: null }),
});
const places = fc.array(place, { minLength: 1, maxLength: 12 });

describe("sizes", () => {
  test.each<[string, number, PlaceSpeed[], number[]]>([
    ["nothing", 0, [{ slots: 1, framesPerSecond: 30 }], []],
    ["less than a chunk", 20, [{ slots: 2, framesPerSecond: 30 }], [20]],
    ["one slot", 600, [{ slots: 1, framesPerSecond: 30 }], [300, 150, 75, 75]],
    ["two places", 900, Array(2).fill({ slots: 1, framesPerSecond: 30 }), [225, 169, 127, 95, 71, 54, 48, 48, 63]],
    ["fast places", 4_000, [{ slots: 2, framesPerSecond: 1_000 }], [900, 775, 582, 450, 450, 843]],
    ["no known speed", 600, [{ slots: 1, framesPerSecond: null }], [300, 150, 75, 75]],
  ])("%s", (_, frameCount, at, expected) => {
    expect(chooseChunkSizes(frameCount, at, FALLBACK)).toEqual(expected);
  });

  test("cover every frame once, within the bounds, and never grow but for the last", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200_000 }), places, (frameCount, at) => {
        const sizes = chooseChunkSizes(frameCount, at, FALLBACK);
        expect(sum(sizes)).toBe(frameCount);
        for (const [n, size] of sizes.entries()) {
          expect(Number.isInteger(size)).toBe(true);
          expect(size).toBeLessThanOrEqual(MAX_CHUNK_FRAMES);
          if (frameCount >= MIN_CHUNK_FRAMES) expect(size).toBeGreaterThanOrEqual(MIN_CHUNK_FRAMES);
          if (n > 0 && n < sizes.length - 1) expect(size).toBeLessThanOrEqual(sizes[n - 1]!);
        }
      }),
    );
  });

  test("the median counts slots, and ignores places without a speed", () => {
    const at = [
      { slots: 1, framesPerSecond: 10 },
      { slots: 3, framesPerSecond: 40 },
      { slots: 9, framesPerSecond: null },
    ];
    expect(getMedianSpeed(at, FALLBACK)).toBe(40);
    expect(getMedianSpeed([{ slots: 9, framesPerSecond: null }], FALLBACK)).toBe(FALLBACK);
    expect(getMedianSpeed([{ slots: 1, framesPerSecond: Number.NaN }], FALLBACK)).toBe(FALLBACK);
  });
});

describe("the chunk of a place", () => {
  const rivals = (own: number, others: PlaceSpeed[], othersRunningFrames = 0) => ({
    speed: own,
    others,
    othersRunningFrames,
    fallbackSpeed: FALLBACK,
  });

  test.each<[string, number[], ReturnType<typeof rivals>, number | null]>([
    ["none is waiting", [], rivals(30, []), null],
    ["the largest for a median place", [240, 100, 48], rivals(30, [{ slots: 1, framesPerSecond: 30 }]), 0],
    ["the largest for equal places, however slow", [48, 240, 100], rivals(3, [{ slots: 1, framesPerSecond: 3 }]), 1],
    ["a small one for a slow place", [240, 90, 48], rivals(10, [{ slots: 1, framesPerSecond: 30 }]), 1],
    ["none that would end last", [240, 100, 48], rivals(2, [{ slots: 1, framesPerSecond: 30 }]), null],
    ["running work of others counts", [48], rivals(10, [{ slots: 1, framesPerSecond: 30 }], 240), 0],
    ["alone, whatever its speed", [240], rivals(0.1, []), 0],
    ["the fastest place is never refused", [900], rivals(31, [{ slots: 8, framesPerSecond: 30 }]), 0],
  ])("%s", (_, waiting, at, expected) => {
    expect(chooseChunk(waiting, at)).toBe(expected);
  });

  test("some place always gets one, and none gets one that would end after the others have done everything", () => {
    const frames = fc.array(fc.integer({ min: MIN_CHUNK_FRAMES, max: MAX_CHUNK_FRAMES }), { minLength: 1 });
    fc.assert(
      fc.property(frames, fc.array(place, { minLength: 1, maxLength: 6 }), fc.nat(5_000), (waiting, at, running) => {
        const choices = at.map(({ framesPerSecond }, n) => {
          const others = at.toSpliced(n, 1);
          const own = framesPerSecond ?? FALLBACK;
          const chosen = chooseChunk(waiting, { ...rivals(own, others, running) });
          const othersSpeed = sum(others.map((other) => other.slots * (other.framesPerSecond ?? FALLBACK)));
          const isFastest = others.every((other) => (other.framesPerSecond ?? FALLBACK) <= own);
          if (chosen !== null && !isFastest)
            expect(waiting[chosen]! / own).toBeLessThanOrEqual((sum(waiting) + running) / othersSpeed);
          return chosen;
        });
        expect(choices.some((choice) => choice !== null)).toBe(true);
      }),
    );
  });
});

describe("a second run of a chunk", () => {
  const running = { frames: 240, speed: 10, elapsedSeconds: 0, share: 0 };

  test("goes to the chunk that it ends earlier by the most", () => {
    expect(chooseDuplicate([], 60)).toBeNull();
    expect(chooseDuplicate([running], 60)).toBe(0);
    expect(chooseDuplicate([running, { ...running, speed: 5 }], 60)).toBe(1);
    expect(chooseDuplicate([running], 15)).toBeNull();
    expect(chooseDuplicate([{ ...running, elapsedSeconds: 20, share: 0.9 }], 60)).toBeNull();
  });

  test("a place that is slower than its recorded speed is noticed by its progress", () => {
    expect(estimateSecondsLeft({ frames: 240, speed: 60, elapsedSeconds: 10, share: 0.1 })).toBe(90);
    expect(estimateSecondsLeft({ frames: 240, speed: 60, elapsedSeconds: 30, share: 0 })).toBe(26);
    expect(chooseDuplicate([{ frames: 240, speed: 60, elapsedSeconds: 30, share: 0 }], 60)).toBe(0);
  });

  test("is never slower than waiting", () => {
    const chunk = fc.record({
      frames: fc.integer({ min: 1, max: MAX_CHUNK_FRAMES }),
      speed,
      elapsedSeconds: fc.double({ min: 0, max: 1_000, noNaN: true }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(chunk), speed, (chunks, own) => {
        const chosen = chooseDuplicate(chunks, own);
        if (chosen !== null) expect(chunks[chosen]!.frames / own).toBeLessThan(estimateSecondsLeft(chunks[chosen]!));
      }),
    );
  });
});

test("the speed of a place is an exponential mean", () => {
  expect(updateSpeed(null, 20)).toBe(20);
  expect(updateSpeed(20, 30)).toBeCloseTo(23);
  for (const wrong of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) expect(updateSpeed(20, wrong)).toBe(20);
});
