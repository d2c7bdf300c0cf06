import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseIsoTime } from "../../../src/domain/iso-time";

test.each<[string, string]>([
  ["2027-01-31", "2027-01-31T00:00:00.000Z"],
  ["2028-02-29", "2028-02-29T00:00:00.000Z"],
  ["2027-01-31T18:30", "2027-01-31T18:30:00.000Z"],
  ["2027-01-31 18:30:05", "2027-01-31T18:30:05.000Z"],
  ["2027-01-31T18:30:05.25Z", "2027-01-31T18:30:05.250Z"],
  ["2027-01-31T18:30:05.123456789Z", "2027-01-31T18:30:05.123Z"],
  ["2027-01-31T00:30+01:00", "2027-01-30T23:30:00.000Z"],
  ["2027-01-31t00:30-0530", "2027-01-31T06:00:00.000Z"],
  [" 2027-01-31 ", "2027-01-31T00:00:00.000Z"],
])("%j is %s", (text, expected) => {
  expect(new Date(parseIsoTime(text)!).toISOString()).toBe(expected);
});

test.each([
  "",
  "tomorrow",
  "2027",
  "2027-1-1",
  "2027-02-29",
  "2027-13-01",
  "2027-00-10",
  "2027-01-32",
  "2027-01-31T24:00",
  "2027-01-31T18:60",
  "2027-01-31T18",
  "2027-01-31T18:30+25:00",
  "2027-01-31Z",
  "1800000000",
  "+12027-01-31",
  "2027-01-31T18:30:05.Z",
])("%j is none", (text) => {
  expect(parseIsoTime(text)).toBeNull();
});

test("every formatted time is parsed back", () => {
  const dates = fc.date({ min: new Date("0100-01-01"), max: new Date("9999-12-31"), noInvalidDate: true });
  fc.assert(fc.property(dates, (date) => expect(parseIsoTime(date.toISOString())).toBe(date.getTime())));
});
