/** Reads the JUnit reports of `bun test`, and writes the summary of a run. */
import { XMLParser, XMLValidator } from "fast-xml-parser";

export type TestFile = { path: string; seconds: number; passed: number; skipped: number; failed: number };
export type TestFailure = { path: string; name: string; message: string };
/**
 * The report of a suite. `unsteady`: failures of files that passed when they ran again; `problems`: sentences about why
 * the report is incomplete.
 */
export type SuiteResult = {
  name: string;
  files: TestFile[];
  failures: TestFailure[];
  unsteady: TestFailure[];
  problems: string[];
};

type TestCase = { name: string; classname?: string; skipped?: unknown; failure?: Failure; error?: Failure };
type Failure = { message?: string; text: string };
type TestSuite = { file?: string; time?: string; testcase?: TestCase[]; testsuite?: TestSuite[] };
type JUnitReport = { testsuites?: { tests?: string; testsuite?: TestSuite[] } };

const PARSER = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "",
  parseTagValue: false,
  textNodeName: "text",
  alwaysCreateTextNode: true,
  htmlEntities: true,
  isArray: (name) => name === "testsuite" || name === "testcase",
});

const listTests = ({ testcase = [], testsuite = [] }: TestSuite): TestCase[] => [
  ...testcase,
  ...testsuite.flatMap(listTests),
];

/** Parses a report. Throws an `Error` if it is truncated, malformed, or its number of tests is wrong. */
export function parseTestReport(xml: string): Pick<SuiteResult, "files" | "failures"> {
  const validity = XMLValidator.validate(xml);
  if (validity !== true) throw new Error(validity.err.msg);
  const root = (PARSER.parse(xml) as JUnitReport).testsuites;
  if (root === undefined) throw new Error("<testsuites> is missing");
  const files: TestFile[] = [];
  const failures: TestFailure[] = [];
  for (const suite of root.testsuite ?? []) {
    const { file: path = "", time = 0 } = suite;
    const tests = listTests(suite);
    const failed = tests.filter(({ failure, error }) => failure !== undefined || error !== undefined);
    const skipped = tests.filter((test) => test.skipped !== undefined).length;
    const passed = tests.length - failed.length - skipped;
    files.push({ path, seconds: Number(time), passed, skipped, failed: failed.length });
    failures.push(...failed.map((test) => describeFailure(path, test)));
  }
  const found = files.reduce((sum, { passed, skipped, failed }) => sum + passed + skipped + failed, 0);
  if (found !== Number(root.tests)) throw new Error(`it has ${found} of ${root.tests} tests`);
  return { files, failures };
}

function describeFailure(path: string, test: TestCase): TestFailure {
  const { text, message = "failed" } = (test.failure ?? test.error)!;
  return {
    path,
    name: [test.classname, test.name].filter((part) => part).join(" > "),
    message: text.trim() || message,
  };
}

const MAX_MESSAGE_LINES = 25;
const MAX_LINE_CHARACTERS = 300;
const SLOWEST_FILES = 15;

const formatSeconds = (seconds: number): string => `${seconds.toFixed(1).padStart(7)} s`;
const formatCount = (count: number): string => count.toLocaleString("en-US");
const countTests = (files: TestFile[], state: "passed" | "skipped" | "failed"): number =>
  files.reduce((sum, file) => sum + file[state], 0);

/** Returns whether every test of every suite was run, and none failed. */
export const isGood = (suites: SuiteResult[]): boolean =>
  suites.length > 0 && suites.every(({ failures, problems }) => failures.length === 0 && problems.length === 0);

/**
 * Returns the lines that a run ends with. `durations`: seconds by the name of a step; steps overlap, and `total` is the
 * duration of all. The failures are last: long outputs are cut off at their beginning.
 */
export function formatSummary(
  suites: SuiteResult[],
  durations: readonly (readonly [string, number])[],
  total: number,
): string[] {
  const files = suites.flatMap((suite) => suite.files);
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_FILES);
  const [passed, failed, skipped] = (["passed", "failed", "skipped"] as const).map((state) => countTests(files, state));
  return [
    "",
    "== Slowest test files ==",
    ...slowest.map(({ path, seconds }) => `${formatSeconds(seconds)}  ${path}`),
    "",
    "== Durations ==",
    ...durations.map(([name, seconds]) => `${formatSeconds(seconds)}  ${name}`),
    `${formatSeconds(total)}  total`,
    "",
    `${formatCount(passed!)} passed, ${formatCount(failed!)} failed, ${formatCount(skipped!)} skipped`,
    ...suites.flatMap(({ unsteady }) =>
      unsteady.flatMap((failure) => formatFailure("UNSTEADY, passed alone:", failure)),
    ),
    ...suites.flatMap(({ failures }) => failures.flatMap((failure) => formatFailure("FAIL", failure))),
    ...suites.flatMap(({ name, problems }) => problems.map((problem) => `\n${name}: ${problem}`)),
  ];
}

function formatFailure(label: string, { path, name, message }: TestFailure): string[] {
  const lines = message.split("\n");
  const shown = lines.slice(0, MAX_MESSAGE_LINES).map((line) => `  ${line.slice(0, MAX_LINE_CHARACTERS)}`);
  const rest = lines.length - shown.length;
  return ["", `${label} ${path}: ${name}`, ...shown, ...(rest > 0 ? [`  … ${rest} more lines`] : [])];
}
