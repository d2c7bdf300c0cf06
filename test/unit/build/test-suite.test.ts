/** Suites of small test files that fail in every way, run as `./install.sh test` runs its own. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  listFilesToRunAgain,
  runAgain,
  runCommand,
  runSuite,
  runTogether,
  type Suite,
} from "../../../src/build/test-suite";
import { type TemporaryFolder, temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";

const IMPORT = `import { test, expect, beforeAll } from "bun:test";\n`;
const FILES: Record<string, string> = {
  "good/good": `test("passes", () => {}); test.if(false)("is for another day", () => {});`,
  "bad/fails": `test("fails", () => expect("here").toBe("there")); test("passes", () => {});`,
  "bad/begins": `beforeAll(() => { throw new Error("no server"); }); test("is not run", () => {});`,
  "bad/crashes": `test("passes", () => {}); test("crashes", () => process.kill(process.pid, "SIGKILL"));`,
  "bad/exits": `test("exits", () => process.exit(0));`,
  "bad/loads": `throw new Error("cannot load");`,
  "bad/empty": "",
  "unsteady/fails": `test("fails", () => expect(1).toBe(2));`,
  "unsteady/first": `import { existsSync, writeFileSync } from "node:fs"; test("passes", () => {});
    test("passes later", () => { const path = import.meta.path + ".ran", isFirst = !existsSync(path); writeFileSync(path, ""); expect(isFirst).toBe(false); });`,
  "hung/hangs": `test("hangs", () => { for (;;); });`,
  "skipped/skipped": `test.if(false)("is for another day", () => {});`,
};

let project: TemporaryFolder;
beforeAll(async () => {
  project = await temporaryFolder();
  for (const [name, text] of Object.entries(FILES))
    await Bun.write(join(project.path, `test/${name}.test.ts`), IMPORT + text);
});
afterAll(() => project[Symbol.asyncDispose]());

const suiteOf = (folder: string): Suite => ({ name: folder, folders: [`test/${folder}`], filesAtATime: 3 });
const getOptions = (maxSeconds = 60) => ({ project: project.path, maxSeconds, timings: {}, isQuiet: true });
const run = (folder: string, maxSeconds?: number) => runSuite(suiteOf(folder), getOptions(maxSeconds));

test("a suite without a failure has no problem", async () => {
  expect(await run("good")).toEqual({
    name: "good",
    files: [{ path: "test/good/good.test.ts", seconds: expect.any(Number), passed: 1, skipped: 1, failed: 0 }],
    failures: [],
    unsteady: [],
    problems: [],
  });
});

test("each failure is found: of tests, of their set-up, of their process, and of files without a result", async () => {
  const { failures, problems } = await run("bad");
  const found = failures.map(({ path, name, message }) => `${path.slice(9)} ${name}: ${message.split("\n")[0]}`).sort();
  expect(found).toEqual([
    "begins.test.ts (unnamed): Error: no server",
    "crashes.test.ts (worker crashed): worker process crashed before reporting results",
    "exits.test.ts (worker crashed): worker process crashed before reporting results",
    "fails.test.ts fails: AssertionError: expect(received).toBe(expected)",
  ]);
  const about = "has no result: it has no test, or an error outside of its tests, which is printed above.";
  expect(problems).toEqual([`test/bad/empty.test.ts ${about}`, `test/bad/loads.test.ts ${about}`]);
});

test("files with failures run once more alone: those that pass then are unsteady, those that fail again are failures", async () => {
  const first = await run("unsteady");
  expect(first.failures.map(({ name }) => name).sort()).toEqual(["fails", "passes later"]);
  const paths = listFilesToRunAgain(first);
  const { files, failures, unsteady, problems } = await runAgain(suiteOf("unsteady"), paths, first, getOptions());
  expect(failures.map(({ path, name }) => `${path} ${name}`)).toEqual(["test/unsteady/fails.test.ts fails"]);
  expect(unsteady.map(({ path, name }) => `${path} ${name}`)).toEqual(["test/unsteady/first.test.ts passes later"]);
  expect(files.map(({ path, passed, failed }) => [path, passed, failed]).sort()).toEqual([
    ["test/unsteady/fails.test.ts", 0, 1],
    ["test/unsteady/first.test.ts", 2, 0],
  ]);
  expect(problems).toEqual([]);
});

test("files run again only if few have failures and the report is complete", () => {
  const fail = (...names: string[]) => names.map((path) => ({ path, name: "fails", message: "" }));
  const list = (failures: ReturnType<typeof fail>, problems: string[] = []) =>
    listFilesToRunAgain({ name: "unit", files: [], failures, unsteady: [], problems });
  expect(list(fail())).toEqual([]);
  expect(list(fail("a", "a", "b", "c", ""))).toEqual(["a", "b", "c"]);
  expect(list(fail("a", "b", "c", "d"))).toEqual([]);
  expect(list(fail("a"), ["The tests wrote no report."])).toEqual([]);
});

test("tests that hang are stopped", async () => {
  expect(await run("hung", 1)).toEqual({
    name: "hung",
    files: [],
    failures: [],
    unsteady: [],
    problems: ["The tests were stopped after 1 s.", "The tests wrote no report."],
  });
});

test.each([
  ["skipped", "No test passed."],
  ["missing", "It has no test file."],
])("a suite whose tests are %s is a failure", async (folder, problem) => {
  expect((await run(folder)).problems).toEqual([problem]);
});

/** Starts a command that takes long, and writes its process ID once it runs. */
const LONG = "sleep 100 & echo $! > pid; wait";

async function untilEnded(pidFile: string): Promise<void> {
  const pid = (await Bun.file(pidFile).text()).trim();
  const hasEnded = async () => !/^\d+ \(.*\) [^Z]/.test(await readFile(`/proc/${pid}/stat`, "utf8").catch(() => ""));
  await until("the end of its child", hasEnded, 10);
}

test("a command has an exit code, and leaves no process behind", async () => {
  await using folder = await temporaryFolder();
  const script = "sleep 100 & echo $! > pid; exit 3";
  expect(await runCommand(["/bin/sh", "-c", script], { cwd: folder.path })).toEqual({ code: 3, wasStopped: false });
  await untilEnded(join(folder.path, "pid"));
});

test("an error in one of several chains stops the commands of the others, and starts no further ones", async () => {
  await using folder = await temporaryFolder();
  const controller = new AbortController();
  const options = { cwd: folder.path, signal: controller.signal };
  const pidFile = join(folder.path, "pid");
  const runLong = async () => {
    await runCommand(["/bin/sh", "-c", LONG], options);
    await runCommand(["/bin/sh", "-c", "touch next"], options);
  };
  const fail = async () => {
    await until("the command", () => Bun.file(pidFile).size > 0, 10);
    throw new Error("Disk is full.");
  };
  let hasEnded = false;
  const long = runLong().finally(() => {
    hasEnded = true;
  });
  expect(await runTogether([long, fail()], controller).catch((error) => [error.message, hasEnded])).toEqual([
    "Disk is full.",
    true,
  ]);
  await untilEnded(pidFile);
  expect(await runCommand(["/bin/sh", "-c", "touch next"], options).catch(({ message }) => message)).toBe(
    "Disk is full.",
  );
  expect(await Bun.file(join(folder.path, "next")).exists()).toBeFalse();
});
