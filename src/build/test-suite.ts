/** Runs a suite of test files in a separate process, and reads its report. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseTestReport, type SuiteResult, type TestFile } from "./test-report";

/**
 * `folders` contain the test files, of which `filesAtATime` run in parallel. `args`: further arguments of `bun test`.
 * `env` is added to the environment.
 */
export type Suite = {
  name: string;
  folders: string[];
  filesAtATime: number;
  args?: string[];
  env?: Record<string, string>;
};

/** `timings`: seconds by path of files that are slow. `isQuiet`: nothing is printed. `signal`: stops the tests. */
export type SuiteOptions = {
  project: string;
  maxSeconds: number;
  timings: Record<string, number>;
  isQuiet?: boolean;
  signal?: AbortSignal;
};

const TEST_TIMEOUT_MS = 120_000;
const TERM_GRACE_MS = 10_000;
/** Time of a file that is not slow. Bun balances only if all times are known. */
const DEFAULT_FILE_SECONDS = 1;
/** More files with failures than these are not run again: they have a common cause. */
const MAX_FILES_AGAIN = 3;

/** Lists the test files of a suite, as the report names them. */
export const listTestFiles = ({ folders }: Suite, project: string): string[] =>
  folders
    .flatMap((folder) => [...new Bun.Glob(`${folder}/**/*.test.ts`).scanSync({ cwd: project, onlyFiles: true })])
    .sort();

/**
 * Runs a suite, the slowest files first. Its output goes to the terminal. A process that ends early or is stopped after
 * `maxSeconds`, a report that is missing or cut off, and a file without a result are problems of the suite.
 */
export async function runSuite(suite: Suite, options: SuiteOptions): Promise<SuiteResult> {
  const all = listTestFiles(suite, options.project);
  // Bun would run every file of the project.
  if (all.length === 0)
    return { name: suite.name, files: [], failures: [], unsteady: [], problems: ["It has no test file."] };
  return await runFiles(suite, all, options);
}

/** Returns the paths of up to three files with failures, which may pass when they run alone. */
export function listFilesToRunAgain({ failures, problems }: SuiteResult): string[] {
  const failed = [...new Set(failures.map(({ path }) => path))].filter((path) => path !== "");
  return failed.length > MAX_FILES_AGAIN || problems.length > 0 ? [] : failed;
}

/**
 * Runs files again, one after the other: the failures of those that pass then are `unsteady`, which the summary shows
 * and which fail nothing.
 */
export async function runAgain(
  suite: Suite,
  paths: string[],
  first: SuiteResult,
  options: SuiteOptions,
): Promise<SuiteResult> {
  const again = await runFiles({ ...suite, filesAtATime: 1 }, paths, options);
  // A file that fails again, or has no result, keeps its first failures.
  const hasPassed = ({ path }: { path: string }) =>
    again.files.some((file) => file.path === path && file.failed === 0 && file.passed > 0);
  if (again.problems.length > 0) return first;
  return {
    ...first,
    files: first.files.map((file) => (hasPassed(file) ? again.files.find(({ path }) => path === file.path)! : file)),
    failures: first.failures.filter((failure) => !hasPassed(failure)),
    unsteady: first.failures.filter(hasPassed),
  };
}

async function runFiles(
  suite: Suite,
  expected: string[],
  { project, maxSeconds, timings, isQuiet, signal }: SuiteOptions,
): Promise<SuiteResult> {
  const folder = await mkdtemp(join(tmpdir(), "offcut-tests-"));
  try {
    const [report, known] = [join(folder, "report.xml"), join(folder, "timings.json")];
    const files = Object.fromEntries(expected.map((path) => [path, 1000 * (timings[path] ?? DEFAULT_FILE_SECONDS)]));
    await Bun.write(known, JSON.stringify({ version: 1, files }));
    const limits = ["--timeout", String(TEST_TIMEOUT_MS), `--parallel=${suite.filesAtATime}`, "--timings", known];
    const reporter = ["--reporter=junit", "--reporter-outfile", report];
    const paths = expected.map((path) => `./${path}`);
    const command = [process.execPath, "test", ...limits, ...reporter, ...(suite.args ?? []), ...paths];
    const { code, wasStopped } = await runCommand(command, {
      cwd: project,
      env: suite.env,
      maxSeconds,
      isQuiet,
      signal,
    });
    const stopped = wasStopped ? [`The tests were stopped after ${maxSeconds} s.`] : [];
    const { result, problems } = await readReport(report);
    const all = [...stopped, ...problems, ...findProblems(expected, result.files)];
    if (code !== 0 && result.failures.length === 0 && all.length === 0)
      all.push(`The tests ended with exit code ${code}, and no failure is in the report.`);
    return { name: suite.name, ...result, unsteady: [], problems: all };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Report = { result: Pick<SuiteResult, "files" | "failures">; problems: string[] };

async function readReport(path: string): Promise<Report> {
  const nothing = { files: [], failures: [] };
  const file = Bun.file(path);
  if (!(await file.exists())) return { result: nothing, problems: ["The tests wrote no report."] };
  try {
    return { result: parseTestReport(await file.text()), problems: [] };
  } catch (error) {
    return { result: nothing, problems: [`The report cannot be read: ${(error as Error).message}.`] };
  }
}

function findProblems(expected: string[], files: TestFile[]): string[] {
  if (files.length === 0) return [];
  const reported = new Set(files.map(({ path }) => path));
  const missing = expected.filter((path) => !reported.has(path));
  const hasPassed = files.some(({ passed }) => passed > 0);
  return [
    ...missing.map(
      (path) => `${path} has no result: it has no test, or an error outside of its tests, which is printed above.`,
    ),
    ...(hasPassed ? [] : ["No test passed."]),
  ];
}

type CommandOptions = {
  cwd: string;
  env?: Record<string, string> | undefined;
  maxSeconds?: number;
  isQuiet?: boolean | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * Runs a command and everything that it starts in a process group, which is stopped after `maxSeconds`, or by `signal`,
 * whose reason is thrown then. An aborted `signal` starts nothing.
 */
export async function runCommand(
  command: string[],
  { cwd, env = {}, maxSeconds, isQuiet = false, signal }: CommandOptions,
): Promise<{ code: number; wasStopped: boolean }> {
  signal?.throwIfAborted();
  const output = isQuiet ? "ignore" : "inherit";
  const child = Bun.spawn(command, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", output, output],
    detached: true,
  });
  let wasStopped = false;
  let killTimer: Timer | undefined;
  const stop = () => {
    signalGroup(child.pid, "SIGTERM");
    killTimer ??= setTimeout(() => signalGroup(child.pid, "SIGKILL"), TERM_GRACE_MS);
  };
  const stopAtLimit = () => {
    wasStopped = true;
    stop();
  };
  const limit = maxSeconds === undefined ? undefined : setTimeout(stopAtLimit, maxSeconds * 1000);
  signal?.addEventListener("abort", stop);
  const code = await child.exited;
  clearTimeout(limit);
  clearTimeout(killTimer);
  signal?.removeEventListener("abort", stop);
  // Ends processes that a killed test has left.
  signalGroup(child.pid, "SIGKILL");
  signal?.throwIfAborted();
  return { code, wasStopped };
}

/** Waits for all of `chains`. The first error aborts the commands of the others, and is thrown when they have ended. */
export async function runTogether(chains: Promise<unknown>[], controller: AbortController): Promise<void> {
  await Promise.all(chains.map((chain) => chain.catch((error) => controller.abort(error))));
  controller.signal.throwIfAborted();
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}
