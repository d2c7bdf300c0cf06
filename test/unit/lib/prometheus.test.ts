/** The text format of metrics: escaping, numbers, counters and histograms. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createCounter, createHistogram, formatMetrics } from "../../../src/lib/prometheus";
import { parseScrape } from "../../prometheus-text";

test.each([
  ["plain", "plain"],
  ['a "quoted" one', 'a \\"quoted\\" one'],
  ["a\\b", "a\\\\b"],
  ["two\nlines", "two\\nlines"],
])("a label value is escaped: %j", (value, escaped) => {
  const metric = {
    name: "x",
    help: "One\\two\nthree.",
    type: "gauge" as const,
    samples: [{ labels: { a: value }, value: 1 }],
  };
  expect(formatMetrics([metric])).toBe(`# HELP x One\\\\two\\nthree.\n# TYPE x gauge\nx{a="${escaped}"} 1\n`);
});

test.each([
  [0, "0"],
  [-1.5, "-1.5"],
  [1e21, "1e+21"],
  [1e-7, "1e-7"],
  [Number.NaN, "NaN"],
  [Number.POSITIVE_INFINITY, "+Inf"],
  [Number.NEGATIVE_INFINITY, "-Inf"],
])("%p is written as %s", (value, text) => {
  const metric = { name: "x", help: "X.", type: "gauge" as const, samples: [{ value }] };
  expect(formatMetrics([metric])).toEndWith(`\nx ${text}\n`);
});

test("every label and number can be parsed", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.double(), (label, value) => {
      const text = formatMetrics([{ name: "x", help: "X.", type: "gauge", samples: [{ labels: { label }, value }] }]);
      expect([...parseScrape(text).values.values()]).toEqual([value === 0 ? 0 : value]);
    }),
  );
});

test("a counter starts at 0 for its initial labels and increases by one", () => {
  const counter = createCounter([{ kind: "a" }]);
  counter.add({ kind: "b" });
  counter.add({ kind: "b" });
  expect(counter.samples()).toEqual([
    { labels: { kind: "a" }, value: 0 },
    { labels: { kind: "b" }, value: 2 },
  ]);
});

test("a histogram counts each value in every bucket that includes it", () => {
  const histogram = createHistogram<{ kind: string }>([1, 5]);
  for (const value of [0.5, 1, 3, 9]) histogram.observe({ kind: "a" }, value);
  const text = formatMetrics([{ name: "x", help: "X.", type: "histogram", samples: histogram.samples() }]);
  expect([...parseScrape(text).values]).toEqual([
    ['x_bucket{kind="a",le="1"}', 2],
    ['x_bucket{kind="a",le="5"}', 3],
    ['x_bucket{kind="a",le="+Inf"}', 4],
    ['x_sum{kind="a"}', 13.5],
    ['x_count{kind="a"}', 4],
  ]);
});
