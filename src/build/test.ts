/**
 * Runs all checks and tests, as `./install.sh test` does: `bun src/build/test.ts [--out dist/offcut]
 * [--update-timings]`. `OFFCUT_FULL=1` runs the long ones at full size. `--update-timings` stores how long the slow
 * files take in `test/timings.json`, so that the next runs begin with them.
 */
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { formatSummary, isGood, type SuiteResult } from "./test-report";
import { listFilesToRunAgain, runAgain, runCommand, runSuite, runTogether, type Suite } from "./test-suite";

const PROJECT = resolve(import.meta.dir, "../..");
const TIMINGS = join(PROJECT, "test/timings.json");
/** Slower files are in `test/timings.json`. */
const SLOW_FILE_SECONDS = 3;

const { values } = parseArgs({
  options: { out: { type: "string", default: "dist/offcut" }, "update-timings": { type: "boolean", default: false } },
});
const isFullSize = process.env.OFFCUT_FULL === "1";
const MAX_SUITE_SECONDS = isFullSize ? 43_200 : 2_700;

// The tests must not use the settings of an installed Offcut.
for (const name of Object.keys(process.env))
  if (name.startsWith("OFFCUT_") && name !== "OFFCUT_FULL") delete process.env[name];
// Bun returns unused memory to the kernel after 100 ms. Tests need it again soon: this takes a quarter of their
// processor time. Executables under test have their own environment.
process.env.MIMALLOC_PURGE_DELAY = "-1";
// Tests that load a graph of the recognizer in their own process send no telemetry.
process.env.ORT_DISABLE_TELEMETRY = "1";
if (isFullSize) console.log("Sizes of the tests: full (OFFCUT_FULL=1)");

class InterruptedError extends Error {}

/** Stops the commands of all chains, also of one that is between two commands. */
const controller = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(name, () => controller.abort(new InterruptedError(`Interrupted by ${name}.`)));

const durations: [string, number][] = [];
const problems: string[] = [];

/** Measures a step. Steps overlap, and so do their outputs. */
async function timed<T>(name: string, run: () => Promise<T>): Promise<T> {
  console.log(`\n== ${name} ==`);
  const started = performance.now();
  const result = await run();
  durations.push([name, (performance.now() - started) / 1000]);
  return result;
}

/** The tests still run when a check fails: one run reports everything. */
async function runCheck(name: string, ...command: string[]): Promise<boolean> {
  const { code } = await runCommand([process.execPath, ...command], { cwd: PROJECT, signal: controller.signal });
  if (code !== 0) problems.push(`${name}: exit code ${code}`);
  return code === 0;
}

async function readTimings(): Promise<Record<string, number>> {
  const file = Bun.file(TIMINGS);
  return (await file.exists()) ? ((await file.json()) as Record<string, number>) : {};
}

async function storeTimings(results: SuiteResult[]): Promise<void> {
  const seconds: Record<string, number> = {};
  for (const { path, seconds: taken } of results.flatMap(({ files }) => files))
    if (taken >= SLOW_FILE_SECONDS) seconds[path] = Math.max(seconds[path] ?? 0, Math.round(taken));
  const sorted = Object.fromEntries(Object.entries(seconds).sort());
  await Bun.write(TIMINGS, `${JSON.stringify(sorted, null, 2)}\n`);
}

/** The files leave no state, so that a process loads the sources once instead of once per file. */
const SHARED = ["--no-isolate"];

/**
 * `env` names the executable, with which hundreds of jobs start in half of the processor time: their sandboxes contain
 * the project's folder.
 */
const listSourceSuites = (env: Record<string, string>): Suite[] => [
  { name: "unit", folders: ["test/unit"], filesAtATime: 3, args: SHARED, env },
  {
    name: "contract, http, browser",
    folders: ["test/contract", "test/http", "test/browser"],
    filesAtATime: 3,
    args: SHARED,
    env,
  },
];

/** These tests are idle half of the time; the other suites use the processors meanwhile. */
const listExecutableSuites = (executable: string): Suite[] => [
  {
    name: "attacks, end to end",
    folders: ["test/attacks", "test/e2e"],
    filesAtATime: 2,
    args: SHARED,
    env: { OFFCUT_EXECUTABLE: executable, OFFCUT_TEST_PATH: "/usr/bin:/bin" },
  },
  {
    name: "end to end, empty PATH",
    folders: ["test/e2e"],
    filesAtATime: 2,
    args: SHARED,
    env: { OFFCUT_EXECUTABLE: executable, OFFCUT_TEST_PATH: "" },
  },
];

async function runAll(folder: string): Promise<boolean> {
  const started = performance.now();
  const { signal } = controller;
  const options = { project: PROJECT, maxSeconds: MAX_SUITE_SECONDS, timings: await readTimings(), signal };
  const results = new Map<Suite, SuiteResult>();
  const runInTurn = async (suites: Suite[]) => {
    for (const suite of suites) results.set(suite, await timed(suite.name, () => runSuite(suite, options)));
  };
  const check = () => runCheck("check", "run", "check");
  const runTests = async () => {
    const isBuilt = await timed("build", () => runCheck("build", "src/build/executable.ts", "--out", values.out));
    const built = resolve(PROJECT, values.out);
    const source = listSourceSuites(isBuilt && built.startsWith(`${PROJECT}/`) ? { JOB_EXECUTABLE: built } : {});
    if (!isBuilt) return runInTurn(source);
    // The executable is alone in a folder, so that it cannot use node_modules.
    const executable = join(folder, "offcut");
    await copyFile(built, executable);
    const tested = listExecutableSuites(executable);
    // At full size some tests have time limits, which hold only without other load.
    if (isFullSize) return runInTurn([...source, ...tested]);
    await runTogether([runInTurn(source), runInTurn(tested)], controller);
  };
  await runTogether([timed("types, lint, format, unused code, import rule", check), runTests()], controller);
  const all: SuiteResult[] = [];
  for (const [suite, result] of results) {
    const paths = listFilesToRunAgain(result);
    const again = () => runAgain(suite, paths, result, options);
    all.push(paths.length === 0 ? result : await timed(`${suite.name}, again`, again));
  }
  if (values["update-timings"]) await storeTimings(all);
  all.push({ name: "checks", files: [], failures: [], unsteady: [], problems });
  console.log(formatSummary(all, durations, (performance.now() - started) / 1000).join("\n"));
  return isGood(all);
}

const folder = await mkdtemp(join(tmpdir(), "offcut-tested-"));
try {
  process.exitCode = (await runAll(folder)) ? 0 : 1;
} catch (error) {
  if (!(error instanceof InterruptedError)) throw error;
  console.log(error.message);
  process.exitCode = 130;
} finally {
  await rm(folder, { recursive: true, force: true });
}
