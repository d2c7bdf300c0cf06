import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  readDateStyle,
  type TimeUnit,
  toClock,
  toDay,
  toDistance,
  toList,
  toMonthDay,
  toNumber,
} from "../../../web/app/english";
import { formatAmount } from "../../../web/app/format";

/** Newer versions of ICU put a narrow space before "PM". */
const plain = (text: string): string => text.replaceAll("\u202f", " ");

test("texts are those of the browser's own formats", () => {
  const exact = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });
  const short = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" });
  const numbers = new Intl.NumberFormat("en");
  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });
  const units = fc.constantFrom<TimeUnit>("second", "minute", "hour", "day", "month", "year");
  fc.assert(
    fc.property(
      fc.date({ min: new Date(1990, 0), max: new Date(2100, 0), noInvalidDate: true }),
      fc.maxSafeInteger(),
      fc.integer({ min: -70, max: 70 }).filter((value) => value !== 0),
      units,
      (time, number, distance, unit) => {
        expect(`${toDay(time)}, ${toClock(time, true)}`).toBe(plain(exact.format(time)));
        expect(`${toMonthDay(time)}, ${toClock(time)}`).toBe(plain(short.format(time)));
        expect(toNumber(number)).toBe(numbers.format(number));
        expect(toDistance(distance, unit)).toBe(relative.format(distance, unit));
      },
    ),
  );
  expect(toDistance(0, "second")).toBe(relative.format(0, "second"));
  const lists = new Intl.ListFormat("en", { type: "conjunction" });
  for (const names of [[], ["A"], ["A", "B"], ["A", "B", "C"], ["A", "B", "C", "D"]])
    expect(toList(names)).toBe(lists.format(names));
});

test.each([
  ["en-US", "Jan 31, 2027", "6:05 PM"],
  ["en-GB", "31 Jan 2027", "18:05"],
  ["en-AU", "31 Jan 2027", "6:05 PM"],
  ["de", "31 Jan 2027", "18:05"],
  ["sv", "2027 Jan 31", "18:05"],
])("days and clocks are those of the browser's language: %s", (language, day, clock) => {
  const [time, style] = [new Date(2027, 0, 31, 18, 5), readDateStyle(language)];
  expect([toDay(time, style), toClock(time, false, style)]).toEqual([day, clock]);
});

test.each([
  ["en-US", "1,234,567", "1.5", "€1,250.00"],
  ["en-IN", "12,34,567", "1.5", "€1,250.00"],
  ["de", "1.234.567", "1,5", "1.250,00 €"],
  ["fr", "1 234 567", "1,5", "1 250,00 €"],
  ["ar-EG", "1,234,567", "1.5", "1,250.00 €"],
])("separators of numbers are those of the browser's language: %s", (language, whole, fraction, amount) => {
  const texts = [toNumber(1_234_567, language), toNumber(1.5, language), formatAmount(125_000, "EUR", language)];
  expect(texts.map((text) => text.replace(/[\u00a0\u202f]/g, " ").replace(/[\u200e\u200f]/g, ""))).toEqual([
    whole,
    fraction,
    amount,
  ]);
});
