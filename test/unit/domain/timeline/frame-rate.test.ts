import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  canDropFrames,
  chooseTimelineRate,
  convertFrames,
  findTimebase,
  findTimelineRate,
} from "../../../../src/domain/timeline/frame-rate";

const whole = (num: number) => ({ num, den: 1 });
const slowed = (base: number) => ({ num: base * 1000, den: 1001 });

test("rates close to a standard rate become that rate", () => {
  for (const [given, rate] of [
    [{ num: 2_766_650, den: 55_521 }, whole(50)],
    [{ num: 2997, den: 100 }, slowed(30)],
    [{ num: 23_976, den: 1000 }, slowed(24)],
    [{ num: 48, den: 2 }, whole(24)],
    [{ num: 60_000, den: 1001 }, slowed(60)],
    [{ num: 15, den: 1 }, whole(15)],
  ] as const)
    expect(findTimelineRate(given)).toEqual(rate);
});

test("an unsupported rate becomes a standard rate that shows all frames", () => {
  expect(chooseTimelineRate({ num: 25, den: 2 }, false)).toEqual(whole(25));
  expect(chooseTimelineRate({ num: 15, den: 2 }, false)).toEqual(whole(30));
  expect(chooseTimelineRate(whole(1), false)).toEqual(whole(24));
  expect(chooseTimelineRate({ num: 27_300, den: 1000 }, true)).toEqual(whole(30));
  expect(chooseTimelineRate(whole(13), true)).toEqual(whole(24));
  expect(chooseTimelineRate({ num: 29_850, den: 1000 }, true)).toEqual(slowed(30));
  expect(chooseTimelineRate(whole(1000), false)).toEqual(whole(120));
});

test("only 29.97 and 59.94 have drop-frame timecode", () => {
  const can = [whole(24), slowed(24), whole(25), whole(30), slowed(30), slowed(48), whole(60), slowed(60), slowed(120)];
  expect(can.filter((rate) => canDropFrames(findTimebase(rate)!))).toEqual([slowed(30), slowed(60)]);
});

test("converting frames rounds exactly and is monotonic", () => {
  const rate = fc.constantFrom(whole(24), slowed(24), whole(25), slowed(30), whole(50), slowed(60), {
    num: 2_766_650,
    den: 55_521,
  });
  fc.assert(
    fc.property(fc.nat(20_000_000), rate, rate, (frame, from, to) => {
      const there = convertFrames(frame, from, to);
      const distance =
        BigInt(there) * BigInt(to.den) * BigInt(from.num) - BigInt(frame) * BigInt(to.num) * BigInt(from.den);
      const half = BigInt(to.den) * BigInt(from.num);
      expect(2n * distance <= half && 2n * distance >= -half).toBe(true);
      expect(convertFrames(frame + 1, from, to)).toBeGreaterThanOrEqual(there);
    }),
    { numRuns: 500 },
  );
});
