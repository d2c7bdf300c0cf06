import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseRange } from "../../../src/http/file-response";

const whole = null;
const refused = "unsatisfiable";

test.each([
  // header, size, result
  [null, 10, whole],
  ["", 10, whole],
  ["bytes=0-0", 10, { start: 0, end: 0 }],
  ["bytes=0-", 10, { start: 0, end: 9 }],
  ["bytes=9-", 10, { start: 9, end: 9 }],
  ["bytes=2-5", 10, { start: 2, end: 5 }],
  ["bytes=2-99", 10, { start: 2, end: 9 }],
  ["bytes=-3", 10, { start: 7, end: 9 }],
  ["bytes=-99", 10, { start: 0, end: 9 }],
  ["Bytes = 1 - 2", 10, { start: 1, end: 2 }],
  ["  bytes=1-2  ", 10, { start: 1, end: 2 }],
  ["bytes=10-", 10, refused],
  ["bytes=10-12", 10, refused],
  ["bytes=-0", 10, refused],
  ["bytes=0-", 0, refused],
  ["bytes=-5", 0, refused],
  ["bytes=99999999999999999999-", 10, refused],
  ["bytes=5-2", 10, whole],
  ["bytes=-", 10, whole],
  ["bytes=a-b", 10, whole],
  ["bytes=1.5-2", 10, whole],
  ["bytes=--2", 10, whole],
  ["bytes=0-1,4-5", 10, whole],
  ["lines=0-1", 10, whole],
  ["bytes", 10, whole],
  ["bytes=1-2-", 10, whole],
  ["bytes=1-2=", 10, whole],
  ["bytes=1 2-3", 10, whole],
  [`bytes=${" ".repeat(100)}1-2`, 10, whole],
] as const)("%j of %d bytes", (header, size, expected) => {
  expect(parseRange(header, size)).toEqual(expected);
});

test("property: a range is within the body", () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.option(fc.nat(2_000)), fc.option(fc.nat(2_000)), (size, first, last) => {
      const range = parseRange(`bytes=${first ?? ""}-${last ?? ""}`, size);
      if (range === null || range === "unsatisfiable") return;
      expect(range.start).toBeGreaterThanOrEqual(0);
      expect(range.end).toBeGreaterThanOrEqual(range.start);
      expect(range.end).toBeLessThan(size);
    }),
  );
});
