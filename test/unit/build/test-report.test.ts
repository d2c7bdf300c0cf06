import { describe, expect, test } from "bun:test";
import { formatSummary, isGood, parseTestReport, type SuiteResult } from "../../../src/build/test-report";

const GOOD = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="5" assertions="3" failures="1" skipped="1" time="0.5">
  <testsuite name="test/unit/a.test.ts" file="test/unit/a.test.ts" tests="4" assertions="2" failures="1" skipped="1" time="1.25" hostname="vm">
    <testcase name="adds" classname="" time="0.1" file="test/unit/a.test.ts" line="2" assertions="1" />
    <testsuite name="a group" file="test/unit/a.test.ts" line="3" tests="3" assertions="1" failures="1" skipped="0" time="0" hostname="vm">
      <testcase name="of &lt;tags&gt; &amp; &quot;quotes&quot;" classname="a group" time="0.2" file="test/unit/a.test.ts" line="3" assertions="1">
        <failure type="AssertionError" message="expect(received).toBe(expected)&#10;&#10;Expected: 2">AssertionError: expect(received).toBe(expected)&#10;&#10;Expected: 2&#10;      at test/unit/a.test.ts:3:75&#10;</failure>
      </testcase>
      <testcase name="later" classname="a group" time="0." file="test/unit/a.test.ts" line="3" assertions="0">
        <skipped />
      </testcase>
      <testcase name="subtracts" classname="a group" time="0.1" file="test/unit/a.test.ts" line="4" assertions="1" />
    </testsuite>
  </testsuite>
  <testsuite name="test/unit/b.test.ts" file="test/unit/b.test.ts" tests="1" assertions="1" failures="0" skipped="0" time="3.5" hostname="vm">
    <testcase name="" classname="" time="3" file="test/unit/b.test.ts" line="1" assertions="1" />
  </testsuite>
</testsuites>
`;

const FAILURE = {
  path: "test/unit/a.test.ts",
  name: 'a group > of <tags> & "quotes"',
  message: "AssertionError: expect(received).toBe(expected)\n\nExpected: 2\n      at test/unit/a.test.ts:3:75",
};

test("a report has its files, and its failures with their messages", () => {
  expect(parseTestReport(GOOD)).toEqual({
    files: [
      { path: "test/unit/a.test.ts", seconds: 1.25, passed: 2, skipped: 1, failed: 1 },
      { path: "test/unit/b.test.ts", seconds: 3.5, passed: 1, skipped: 0, failed: 0 },
    ],
    failures: [FAILURE],
  });
});

test("a test whose process crashed has no text but a message", () => {
  const crashed = `<testsuites tests="1"><testsuite file="test/a.test.ts" time="0.002"><testcase name="(worker crashed)" classname="">
    <failure type="Error" message="worker process crashed before reporting results" /></testcase></testsuite></testsuites>`;
  expect(parseTestReport(crashed).failures).toEqual([
    { path: "test/a.test.ts", name: "(worker crashed)", message: "worker process crashed before reporting results" },
  ]);
});

test("a report that is cut off anywhere is refused", () => {
  const text = GOOD.trimEnd();
  for (let length = 0; length < text.length; length++) expect(() => parseTestReport(text.slice(0, length))).toThrow();
});

test.each([
  ["empty", "", "Start tag expected"],
  ["blank", " \n", "Start tag expected"],
  ["text", "Segmentation fault", "char 'S' is not expected"],
  ["HTML", `<?xml version="1.0"?><html></html>`, "<testsuites> is missing"],
  ["without its tests", `<testsuites tests="1"></testsuites>`, "it has 0 of 1 tests"],
  ["without a count", `<testsuites></testsuites>`, "it has 0 of undefined tests"],
  ["without a test", GOOD.replace(`tests="5"`, `tests="6"`), "it has 5 of 6 tests"],
  ["unbalanced", GOOD.replace("</testsuite>", ""), "instead of closing tag 'testsuites'"],
  ["malformed", GOOD.replace("<skipped />", "<"), "Invalid space after '<'"],
])("a report that is %s is refused", (_, xml, reason) => {
  expect(() => parseTestReport(xml)).toThrow(reason);
});

describe("the summary", () => {
  const suite = (changes: Partial<SuiteResult>): SuiteResult => ({
    name: "unit",
    files: [{ path: "test/unit/a.test.ts", seconds: 1, passed: 1, skipped: 0, failed: 0 }],
    failures: [],
    unsteady: [],
    problems: [],
    ...changes,
  });

  test.each([
    ["all tests passed", [suite({})], true],
    ["a test failed", [suite({}), suite({ failures: [FAILURE] })], false],
    ["a test passed when it ran again", [suite({ unsteady: [FAILURE] })], true],
    ["a suite has a problem", [suite({}), suite({ problems: ["No test passed."] })], false],
    ["nothing was run", [], false],
  ])("when %s", (_, suites, good) => {
    expect(isGood(suites)).toBe(good);
  });

  test("has the slowest files, the durations, the counts, and at the end the failures", () => {
    const { files, failures } = parseTestReport(GOOD);
    const many = Array.from({ length: 40 }, (_, n) => ({ ...files[0]!, path: `test/unit/${n}.test.ts`, seconds: 0.5 }));
    const long = { path: "test/unit/b.test.ts", name: "long", message: Array(60).fill("x".repeat(400)).join("\n") };
    const suites = [
      suite({ files: [...many, ...files], failures: [...failures, long] }),
      suite({ name: "browser", files: [], unsteady: [{ ...failures[0]!, path: "test/browser/c.test.ts" }] }),
      suite({ name: "end to end", files: [], problems: ["The tests wrote no report."] }),
    ];
    const durations = [
      ["types", 19.04],
      ["unit", 175],
    ] as const;
    const text = formatSummary(suites, durations, 180).join("\n");
    expect(text).toStartWith(
      "\n== Slowest test files ==\n    3.5 s  test/unit/b.test.ts\n    1.3 s  test/unit/a.test.ts\n    0.5 s  test/unit/0.test.ts\n",
    );
    expect(text).toContain(
      "== Durations ==\n   19.0 s  types\n  175.0 s  unit\n  180.0 s  total\n\n83 passed, 41 failed, 41 skipped\n\nUNSTEADY, passed alone: test/browser/c.test.ts: a group > of <tags>",
    );
    expect(text).toContain("\n\nFAIL test/unit/a.test.ts: a group > of <tags>");
    expect(text).toEndWith(`  ${"x".repeat(300)}\n  … 35 more lines\n\nend to end: The tests wrote no report.`);
  });
});
