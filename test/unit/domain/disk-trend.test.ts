import { expect, test } from "bun:test";
import fc from "fast-check";
import { type DiskSample, findDiskTrend } from "../../../src/domain/disk-trend";

const HOUR = 3600 * 1000;
const DAY = 24 * HOUR;
const NOW = 1_800_000_000_000;
const GB = 1e9;

/** Measures every hour for some days until now. */
const measure = (days: number, freeBytes: (daysAgo: number) => number): DiskSample[] =>
  Array.from({ length: days * 24 + 1 }, (_, n) => {
    const takenAt = NOW - days * DAY + n * HOUR;
    return { takenAt, freeBytes: freeBytes((NOW - takenAt) / DAY) };
  });

test.each<[string, DiskSample[], number | null]>([
  ["no measurements", [], null],
  ["a single one", measure(0, () => GB), null],
  ["those of one day, such as that of an import", measure(1, (ago) => ago * 100 * GB), null],
  ["a steady loss", measure(7, (ago) => 100 * GB + ago * 10 * GB), -10 * GB],
  ["a steady gain", measure(7, (ago) => 100 * GB - ago * 10 * GB), 10 * GB],
  ["the same all the time", measure(7, () => 100 * GB), 0],
  ["a loss that ended two days ago", measure(7, (ago) => (ago > 2 ? 100 * GB + ago * 10 * GB : 100 * GB)), null],
  ["older ones with another rate", measure(20, (ago) => (ago > 7 ? 0 : 100 * GB + ago * 10 * GB)), -10 * GB],
  ["two that are far apart, after downtime", [measure(7, () => 2 * GB)[0]!, measure(0, () => GB)[0]!], null],
])("%s", (_, samples, expected) => {
  const trend = findDiskTrend(samples, NOW);
  if (expected === null) expect(trend).toBeNull();
  else expect(trend!.bytesPerDay).toBeCloseTo(expected, -3);
});

test("a gap does not change the rate, and measurements of the future are ignored", () => {
  const samples = measure(6, (ago) => 100 * GB + ago * 5 * GB);
  const withGap = samples.filter(({ takenAt }) => takenAt < NOW - 4 * DAY || takenAt > NOW - 2 * DAY);
  const later = { takenAt: NOW + DAY, freeBytes: 0 };
  expect(findDiskTrend([later, ...withGap.toReversed()], NOW)!.bytesPerDay).toBeCloseTo(-5 * GB, -3);
});

test("the line of noisy measurements has the rate below the noise", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.infiniteStream(fc.double({ min: -1, max: 1, noNaN: true })),
      (rate, noise) => {
        const samples = measure(7, (ago) => 400 * GB + ago * rate * GB + (noise.next().value as number) * 0.1 * GB);
        const { bytesPerDay } = findDiskTrend(samples, NOW)!;
        return Math.abs(bytesPerDay + rate * GB) < 0.1 * GB;
      },
    ),
  );
});
