/** Reads the JUnit reports of `bun test`, and writes the summary of a run. */

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

type Element = { name: string; attributes: Record<string, string>; children: Element[]; text: string };

const TOKEN = /<(\/?)([a-z]+)((?:\s+[\w-]+="[^"<]*")*)\s*(\/?)>|<\?xml[^>]*\?>|([^<]+)/y;
const ENTITIES: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

const unescapeXml = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (all, decimal, hexadecimal, name) => {
    if (name !== undefined) return ENTITIES[name as string] ?? all;
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal));
  });

/** Parses Bun's XML. Throws an `Error` if it is truncated or malformed. */
function parseXml(xml: string): Element {
  const document: Element = { name: "", attributes: {}, children: [], text: "" };
  const open = [document];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < xml.length) {
    const offset = TOKEN.lastIndex;
    const token = TOKEN.exec(xml);
    if (token === null) throw new Error(`not XML at offset ${offset}`);
    const [, isEnd, name, attributes, isEmpty, text] = token;
    const parent = open.at(-1)!;
    if (text !== undefined) parent.text += unescapeXml(text);
    if (name === undefined) continue;
    if (isEnd) {
      if (parent.name !== name) throw new Error(`unexpected </${name}> at offset ${offset}`);
      open.pop();
      continue;
    }
    const pairs = [...attributes!.matchAll(/\s([\w-]+)="([^"]*)"/g)];
    const element: Element = {
      name,
      attributes: Object.fromEntries(pairs.map(([, key, value]) => [key, unescapeXml(value!)])),
      children: [],
      text: "",
    };
    parent.children.push(element);
    if (!isEmpty) open.push(element);
  }
  const [root] = document.children;
  if (open.length > 1 || root === undefined) throw new Error("it ends early");
  return root;
}

const listTests = (element: Element): Element[] =>
  element.children.flatMap((child) => (child.name === "testcase" ? [child] : listTests(child)));

/** Parses a report. Throws an `Error` if it is truncated, malformed, or its number of tests is wrong. */
export function parseTestReport(xml: string): Pick<SuiteResult, "files" | "failures"> {
  const root = parseXml(xml);
  if (root.name !== "testsuites") throw new Error(`it begins with <${root.name}>, expected <testsuites>`);
  const files: TestFile[] = [];
  const failures: TestFailure[] = [];
  for (const suite of root.children) {
    const path = suite.attributes.file ?? "";
    const tests = listTests(suite);
    const failed = tests.filter(({ children }) => children.some(({ name }) => name === "failure" || name === "error"));
    const skipped = tests.filter(({ children }) => children.some(({ name }) => name === "skipped"));
    const seconds = Number(suite.attributes.time ?? 0);
    const passed = tests.length - failed.length - skipped.length;
    files.push({ path, seconds, passed, skipped: skipped.length, failed: failed.length });
    failures.push(...failed.map((test) => describeFailure(path, test)));
  }
  const found = files.reduce((sum, { passed, skipped, failed }) => sum + passed + skipped + failed, 0);
  if (found !== Number(root.attributes.tests)) throw new Error(`it has ${found} of ${root.attributes.tests} tests`);
  return { files, failures };
}

function describeFailure(path: string, { attributes, children }: Element): TestFailure {
  const failure = children.find(({ name }) => name === "failure" || name === "error")!;
  const name = [attributes.classname, attributes.name].filter((part) => part).join(" > ");
  return { path, name, message: failure.text.trim() || failure.attributes.message || "failed" };
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
 * Returns the lines that a run ends with. `durations`: seconds by the name of a step. The failures are last: long
 * outputs are cut off at their beginning.
 */
export function formatSummary(suites: SuiteResult[], durations: readonly (readonly [string, number])[]): string[] {
  const files = suites.flatMap((suite) => suite.files);
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_FILES);
  const total = durations.reduce((sum, [, seconds]) => sum + seconds, 0);
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
