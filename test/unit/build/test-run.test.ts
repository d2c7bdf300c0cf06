/** Runs of `src/build/test.ts` in a small project with one file of tests in each folder. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";

const ROOT = resolve(import.meta.dir, "../../..");
const FOLDERS = ["unit", "contract", "http", "browser", "attacks", "e2e"];
/** Appends the name of its folder to the file `ran`, and passes. */
const PASSES = `import { test } from "bun:test"; import { appendFileSync } from "node:fs"; import { basename } from "node:path";
  test("passes", () => appendFileSync("ran", basename(import.meta.dir) + " "));\n`;

let project: TemporaryFolder;
const write = (path: string, text: string) => Bun.write(join(project.path, path), text);
/** Returns the folders whose tests have run. */
const readRan = async (): Promise<string[]> => {
  const file = Bun.file(join(project.path, "ran"));
  return (await file.exists()) ? (await file.text()).trim().split(" ") : [];
};

beforeEach(async () => {
  project = await temporaryFolder();
  for (const name of ["test.ts", "test-suite.ts", "test-report.ts"])
    await cp(join(ROOT, "src/build", name), join(project.path, "src/build", name));
  await symlink(join(ROOT, "node_modules"), join(project.path, "node_modules"));
  await write("package.json", `{ "scripts": { "check": "true" } }`);
  await write("src/build/executable.ts", `await Bun.write("dist/offcut", "");`);
  await mkdir(join(project.path, "tmp"));
  for (const folder of FOLDERS) await write(`test/${folder}/only.test.ts`, PASSES);
});
afterEach(() => project[Symbol.asyncDispose]());

function start(env: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, "src/build/test.ts"], {
    cwd: project.path,
    env: { PATH: process.env.PATH, TMPDIR: join(project.path, "tmp"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const end = async () => {
    const outputs = [new Response(child.stdout).text(), new Response(child.stderr).text()];
    const [text, errors] = await Promise.all(outputs);
    return { code: await child.exited, text: text!, errors: errors!, ran: await readRan() };
  };
  return { child, end };
}

test("an interrupt ends all suites, and no other one starts", async () => {
  await write("test/e2e/only.test.ts", `${PASSES}test("hangs", () => new Promise(() => {}));`);
  await write("test/unit/only.test.ts", `${PASSES}test("hangs", () => new Promise(() => {}));`);
  const { child, end } = start();
  await until("both suites", async () => (await readRan()).length === 3);
  child.kill("SIGINT");
  const { code, text, ran: folders } = await end();
  expect([code, text.trim().split("\n").at(-1)]).toEqual([130, "Interrupted by SIGINT."]);
  expect(folders.sort()).toEqual(["attacks", "e2e", "unit"]);
  expect(await readdir(join(project.path, "tmp"))).toEqual([]);
});

test("an error outside of the tests ends the command that runs beside it", async () => {
  await write("package.json", `{ "scripts": { "check": "sleep 100; echo late" } }`);
  await write("src/build/executable.ts", "// Writes no executable.");
  const { code, text, errors } = await start().end();
  expect(code).toBe(1);
  expect(errors).toContain("ENOENT");
  expect(text).not.toContain("late");
  expect(await readdir(join(project.path, "tmp"))).toEqual([]);
});

test("files with failures that run again have a heading and a duration", async () => {
  await write(
    "test/http/only.test.ts",
    `${PASSES}import { existsSync, writeFileSync } from "node:fs"; test("passes later", () => {
      const isFirst = !existsSync("tried"); writeFileSync("tried", ""); if (isFirst) throw new Error("once"); });`,
  );
  const { code, text } = await start().end();
  expect(code).toBe(0);
  const [run, durations] = text.split("== Durations ==");
  expect(run!.match(/^== .*, again ==$/gm)).toEqual(["== contract, http, browser, again =="]);
  expect(durations!.match(/\S.*, again$/gm)).toEqual([
    expect.stringMatching(/^[\d.]+ s {2}contract, http, browser, again$/),
  ]);
});

test("at full size the suites run in turn", async () => {
  const { code, ran } = await start({ OFFCUT_FULL: "1" }).end();
  expect([code, ran[0], ran.slice(1, 4).sort(), ran.slice(4, 6).sort(), ran.slice(6)]).toEqual([
    0,
    "unit",
    ["browser", "contract", "http"],
    ["attacks", "e2e"],
    ["e2e"],
  ]);
});
