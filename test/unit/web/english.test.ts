import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
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
import { formatConfidence, formatShare } from "../../../web/app/format";
import {
  formatAmount,
  formatLevel,
  formatRounded,
  nameLanguage,
  toFixedNumber,
  toOrdinal,
} from "../../../web/app/rare-formats";

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

test.each([
  ["en-US", "1,234.50"],
  ["de", "1.234,50"],
])("numbers with fixed places use the separators of the browser's language: %s", (language, number) => {
  expect(toFixedNumber(1234.5, 2, language)).toBe(number);
});

test("shares, levels and places", () => {
  expect([0.345, 0.29, 0.57, 0.999, 1 - 1e-12, 1, 1.5].map(formatShare)).toEqual([
    "34%",
    "29%",
    "57%",
    "99%",
    "99%",
    "100%",
    "150%",
  ]);
  expect([formatShare(0 / 0), formatConfidence(0.29), formatConfidence(0.996)]).toEqual(["0%", "29%", "100%"]);
  expect([formatLevel(-14), formatRounded(29.97003, 2), formatRounded(25, 2)]).toEqual(["−14.0", "29.97", "25"]);
  expect([1, 2, 3, 4, 11, 22].map(toOrdinal)).toEqual(["1st", "2nd", "3rd", "4th", "11th", "22nd"]);
  expect([nameLanguage("de"), nameLanguage("qqx")]).toEqual(["German", "qqx"]);
});

/** Formats that differ between browsers' languages, or that another page may write in another way. */
const BY_HAND =
  /\.toFixed\(|\.toLocale(?:Date|Time)?String\(|\bIntl\.|\.get(?:Hours|Minutes|Month|FullYear)\(|\}\s?%`|\d[\d.]* ?[KMGT]i?B\b/;
const IS_STYLE = /\bstyle\b/;
/** Draws with coordinates, which are not read as text. */
const DRAWING = "pages/project/envelope.tsx";

test("only these three modules format numbers, sizes and times", async () => {
  const web = join(import.meta.dir, "../../../web");
  const found: string[] = [];
  for await (const path of new Glob("**/*.{ts,tsx}").scan(web)) {
    if (["app/english.ts", "app/format.ts", "app/rare-formats.ts", DRAWING].includes(path)) continue;
    const code = (await Bun.file(join(web, path)).text()).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
    found.push(
      ...code
        .split("\n")
        .flatMap((line) => (BY_HAND.test(line) && !IS_STYLE.test(line) ? [`${path}: ${line.trim()}`] : [])),
    );
  }
  expect(found).toEqual([]);
});
