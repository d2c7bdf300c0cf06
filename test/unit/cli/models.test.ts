/** Runs the command in its own process, with its own data folder and hub. */
import { expect, test } from "bun:test";
import { exists, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type ChildProcess, spawnChild } from "../../../src/lib/process";
import { MANIFEST_NAME } from "../../../src/speech/models/manifest";
import { temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";
import { modelFolder, noise, sha256, startHub } from "../speech/models/test-models";

const MAIN = join(import.meta.dir, "../../../src/main.ts");
const FILES = { "model.onnx": noise(200_000), "tokens.txt": noise(500) };
const OWN = {
  name: "own",
  kind: "sense-voice",
  languages: ["gd"],
  files: Object.entries(FILES).map(([name, data], i) => ({
    role: ["model", "tokens"][i],
    name,
    size_bytes: data.length,
    sha256: sha256(data),
  })),
};
const SOURCE = { ...FILES, [MANIFEST_NAME]: JSON.stringify(OWN) };

function start(dataDir: string, args: string[]): { child: ChildProcess; output: Promise<string> } {
  const child = spawnChild({
    command: [process.execPath, MAIN, "models", ...args],
    env: { OFFCUT_DATA_DIR: dataDir, HOME: dataDir },
    stdout: "pipe",
  });
  return { child, output: new Response(child.stdout).text() };
}

async function run(dataDir: string, ...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const { child, output } = start(dataDir, args);
  const { code } = await child.exited;
  return { code, out: await output, err: child.stderrTail() };
}

test("a model is listed, added from a folder, listed as installed, and removed", async () => {
  await using folder = await temporaryFolder();
  const data = join(folder.path, "data");
  const source = await modelFolder(folder.path, "source", SOURCE);
  const before = JSON.parse((await run(data, "list", "--json")).out);
  expect(before.items[0]).toMatchObject({
    name: "moonshine-tiny-en",
    state: "built_in",
    languages: ["en"],
    can_force: true,
  });
  expect(before.items.map((item: { name: string }) => item.name)).toContain("parakeet-tdt-v3");

  const added = await run(data, "add", "--file", source, "--json");
  expect(added.code).toBe(0);
  expect(JSON.parse(added.out)).toMatchObject({
    name: "own",
    added: true,
    languages: ["gd"],
    size_bytes: 200_500,
    unchecked_files: [],
  });
  expect((await run(data, "add", "--file", source)).out).toBe("own is already installed.\n");
  expect((await run(data, "list")).out).toMatch(/^own +installed .* gd /m);

  expect(await run(data, "remove", "own")).toMatchObject({ code: 0, out: "Removed own.\n" });
  expect((await run(data, "list")).out).not.toContain("own ");
  expect(await run(data, "remove", "own")).toMatchObject({
    code: 1,
    err: 'offcut models: Model "own" is not installed.',
  });
}, 30_000);

test("a usage error is one line with exit code 2", async () => {
  await using folder = await temporaryFolder();
  const calls = [
    ["add"],
    ["add", "a", "b"],
    ["add", "a", "--file", "b"],
    ["remove"],
    ["list", "x"],
    ["list", "--file", "x"],
    ["paint"],
  ];
  const results = await Promise.all(calls.map((args) => run(folder.path, ...args)));
  for (const { code, err } of results) {
    expect(code).toBe(2);
    expect(err).toMatch(/^offcut models: [^\n]+$/);
  }
  const help = await run(folder.path, "--help");
  expect([help.code, help.out]).toEqual([0, expect.stringContaining("offcut models add --file PATH")]);
}, 30_000);

test("an interrupted download installs nothing, prints how to resume, and resumes", async () => {
  await using folder = await temporaryFolder();
  const data = join(folder.path, "data");
  const half = Promise.withResolvers<void>();
  const slow = (request: Request, content: Uint8Array, count: number) => {
    if (count !== 2) return null;
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(content.slice(0, 100_000)),
    });
    half.resolve();
    return new Response(body, { headers: { "content-length": String(content.length), etag: request.url } });
  };
  const files = { ...FILES, [MANIFEST_NAME]: new TextEncoder().encode(JSON.stringify(OWN)) };
  await using hub = startHub(slow, files);
  const { child, output } = start(data, ["add", "own", "--models-url", hub.url]);
  await half.promise;
  const part = join(data, "models/.partial/own/model.onnx.part");
  await until("the first half", async () => (await Bun.file(part).exists()) && Bun.file(part).size >= 100_000);
  process.kill(child.pid, "SIGINT");
  expect((await child.exited).code).toBe(130);
  expect(await output).toBe("");
  expect(child.stderrTail()).toContain("Interrupted. Run the command again to resume.");
  expect((await readdir(join(data, "models"))).sort()).toEqual([".partial", "lock"]);

  const again = await run(data, "add", "own", "--models-url", hub.url);
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining("Added own") });
  expect(hub.requests.some((request) => request.range === "bytes=100000-")).toBe(true);
  expect(await exists(join(data, "models/own/model.onnx"))).toBe(true);
}, 30_000);
