import { expect, test } from "bun:test";
import fc from "fast-check";
import { formatTimecode, parseTimecode, toFrameNumber } from "../../../../src/domain/timeline/timecode";

const two = (value: number) => String(value).padStart(2, "0");

test("timecode equals a counter that skips the dropped numbers, for more than an hour", () => {
  for (const base of [24, 25, 30, 60])
    for (const dropFrame of base % 30 === 0 ? [false, true] : [false]) {
      let [h, m, s, f] = [0, 0, 0, 0];
      for (let frame = 0; frame < base * 3700; frame++) {
        const label = `${two(h)}:${two(m)}:${two(s)}${dropFrame ? ";" : ":"}${two(f)}`;
        if (formatTimecode(frame, { base, dropFrame }) !== label)
          throw new Error(`frame ${frame} at ${base}: ${formatTimecode(frame, { base, dropFrame })}, not ${label}`);
        if (++f < base) continue;
        [f, s] = [0, s + 1];
        if (s < 60) continue;
        [s, m] = [0, m + 1];
        if (m === 60) [m, h] = [0, h + 1];
        if (dropFrame && m % 10 !== 0) f = base / 15;
      }
    }
});

test("well-known timecodes", () => {
  const drop = { base: 30, dropFrame: true };
  for (const [frame, label] of [
    [0, "00:00:00;00"],
    [1799, "00:00:59;29"],
    [1800, "00:01:00;02"],
    [17_981, "00:09:59;29"],
    [17_982, "00:10:00;00"],
    [107_892, "01:00:00;00"],
    [2_589_407, "23:59:59;29"],
  ] as const)
    expect(formatTimecode(frame, drop)).toBe(label);
  expect(formatTimecode(2_589_408, drop)).toBe("00:00:00;00");
  expect(formatTimecode(215_784, { base: 60, dropFrame: true })).toBe("01:00:00;00");
  expect(formatTimecode(24 * 86_400, { base: 24, dropFrame: false })).toBe("00:00:00:00");
});

test("formatted timecodes parse back to their frames", () => {
  const count = fc.constantFrom(
    { base: 24, dropFrame: false },
    { base: 30, dropFrame: true },
    { base: 60, dropFrame: true },
    { base: 60, dropFrame: false },
    { base: 120, dropFrame: false },
  );
  fc.assert(
    fc.property(count, fc.nat(24 * 86_400 - 1), (each, frame) => {
      const parts = parseTimecode(formatTimecode(frame, each))!;
      expect(parts.dropFrame).toBe(each.dropFrame);
      expect(toFrameNumber(parts, each)).toBe(frame);
    }),
    { numRuns: 2000 },
  );
});

test("other text is not parsed", () => {
  for (const text of ["", "1:00:00:00", "01:60:00:00", "24:00:00:00", "01:00:00", "aa:bb:cc:dd", "-1:00:00:00"])
    expect(parseTimecode(text)).toBeNull();
});
