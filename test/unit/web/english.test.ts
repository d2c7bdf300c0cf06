import { expect, test } from "bun:test";
import fc from "fast-check";
import { type TimeUnit, toClock, toDay, toDistance, toList, toMonthDay, toNumber } from "../../../web/app/english";

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
