/** The direction rule and the other project rules, checked by reading the imports. */
import { describe, expect, test } from "bun:test";
import { dirname, join, relative } from "node:path";
import { Glob } from "bun";

const ROOT = join(import.meta.dir, "..");
const LINES_CEILING = 350;
const COLUMNS_CEILING = 120;
const IS_COMMENT = /^ *(\/\/(?! biome-ignore)|\/?\*)/;

/** Imports point from a layer to the ones after it. Folders of one layer never import each other. */
const LAYERS = [
  ["main.ts"],
  ["cli"],
  ["boot.ts", "boot-worker.ts"],
  ["boot-tools.ts", "boot-folder.ts"],
  ["boot-database.ts"],
  ["data-folder.ts"],
  ["media-folder.ts"],
  ["http"],
  ["work"],
  ["store", "media", "speech", "queue", "blobs", "outbound"],
  ["domain", "lib"],
];
/** Read once and passed on: types of it are known everywhere above the adapters. */
const CONFIG = "config";
/** Folders that build or demonstrate the product and are not part of it. */
const TOOLING = ["build", "demo"];

/** The only package of `domain`, which is as pure: the boundaries of the product are described with it. */
const SCHEMAS = /^@sinclair\/typebox(\/|$)/;

/** Modules and expressions that only one place may use. */
const RESERVED: { what: string; module?: RegExp; text?: RegExp; allowed: (file: string) => boolean }[] = [
  { what: "Elysia", module: /^(elysia|@elysiajs\/.+)$/, allowed: (file) => file.startsWith("http/") },
  { what: "drizzle", module: /^drizzle-orm(\/|$)/, allowed: (file) => file.startsWith("store/") },
  { what: "BullMQ", module: /^(bullmq|ioredis)$/, allowed: (file) => /^queue\/bullmq(-[a-z]+)?\.ts$/.test(file) },
  {
    what: "spawning",
    module: /^(node:)?child_process$/,
    text: /\bBun\.(spawn|spawnSync|\$)|\bspawn(Sync)?\(|import \{[^}]*\$[^}]*\} from "bun"/,
    allowed: (file) => file === "lib/process.ts",
  },
  {
    what: "output to a terminal",
    text: /\bprocess\.std(out|err)\.write\(|\bconsole\.\w+\(/,
    // Files of the speech process write to a pipe.
    allowed: (file) => /^(cli\/print|lib\/log|speech\/(second-recognizer|transcriber-selector))\.ts$/.test(file),
  },
];

type Source = { file: string; text: string };

/** Lists the broken rules as `file: problem`. `file` is relative to `src/`. */
function violations(sources: Source[]): string[] {
  return sources.flatMap((source) => {
    const modules = importsOf(source.text);
    return [...directionErrors(source.file, modules), ...reservedErrors(source, modules), ...lengthErrors(source)].map(
      (error) => `${source.file}: ${error}`,
    );
  });
}

function importsOf(text: string): string[] {
  const code = withoutComments(text);
  const patterns = [
    /\b(?:import|export)\s[^"';]*?\bfrom\s*["']([^"']+)["']/g,
    /\bimport\s*["']([^"']+)["']/g,
    /\b(?:import|require|require\.resolve)\(\s*["'`]([^"'`]+)["'`]/g,
  ];
  return patterns.flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[1]!));
}

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");

function directionErrors(file: string, modules: string[]): string[] {
  const from = placeOf(file);
  const errors: string[] = [];
  for (const module of modules.filter((name) => name.startsWith("."))) {
    const target = relative(ROOT, join(ROOT, dirname(file), module));
    if (target.startsWith("..")) {
      const assets = /^\.\.\/(migrations|web|package\.json)/;
      if (!assets.test(target)) errors.push(`imports ${module} from outside src`);
      continue;
    }
    const isFile = !target.includes("/") && target !== CONFIG && !target.endsWith(".ts");
    const to = placeOf(isFile ? `${target}.ts` : target);
    if (!mayImport(from, to)) errors.push(`imports ${target}: ${from} must not import ${to}`);
  }
  if (from === "domain")
    for (const module of modules)
      if (!module.startsWith(".") && !SCHEMAS.test(module))
        errors.push(`imports ${module}: domain is pure and imports only domain`);
  return errors;
}

/** The folder in `src/`, or the name of a file directly in it. */
const placeOf = (file: string) => (file.includes("/") ? file.slice(0, file.indexOf("/")) : file);
const layerOf = (place: string) => LAYERS.findIndex((layer) => layer.includes(place));

function mayImport(from: string, to: string): boolean {
  if (from === to) return true;
  if (TOOLING.includes(from)) return true;
  if (TOOLING.includes(to)) return false;
  if (from.endsWith(".d.ts") || to.endsWith(".d.ts")) return true;
  if (from === CONFIG) return to === "domain" || to === "lib";
  if (to === CONFIG) return layerOf(from) >= 0 && layerOf(from) <= layerOf("work");
  if (from === "http" && ["media", "speech", "queue", "outbound"].includes(to)) return false;
  return layerOf(from) >= 0 && layerOf(to) > layerOf(from);
}

function reservedErrors({ file, text }: Source, modules: string[]): string[] {
  if (TOOLING.includes(placeOf(file))) return [];
  const code = withoutComments(text);
  return RESERVED.filter((rule) => !rule.allowed(file))
    .filter((rule) => modules.some((name) => rule.module?.test(name)) || rule.text?.test(code))
    .map((rule) => `uses ${rule.what}, which has its place elsewhere`);
}

function lengthErrors({ text }: Source): string[] {
  const lines = text.split("\n");
  const errors: string[] = [];
  if (lines.length - 1 > LINES_CEILING)
    errors.push(`has ${lines.length - 1} lines, more than ${LINES_CEILING}: give it one subject`);
  const wide = lines.findIndex((line) => line.length > COLUMNS_CEILING && IS_COMMENT.test(line));
  if (wide !== -1) errors.push(`has a comment beyond column ${COLUMNS_CEILING} in line ${wide + 1}`);
  return errors;
}

/** Lists import cycles, by value or by type, as `a.ts -> b.ts -> a.ts`. Each file of a cycle is in at least one. */
function findCycles(sources: Source[]): string[] {
  const files = new Set(sources.map(({ file }) => file));
  const imports = new Map(
    sources.map(({ file, text }) => [
      file,
      importsOf(text).flatMap((module) => findImported(file, module, files) ?? []),
    ]),
  );
  const seen = new Set<string>();
  return [...files].flatMap((file) => {
    const cycle = seen.has(file) ? null : findShortestCycle(file, imports);
    for (const one of cycle ?? []) seen.add(one);
    return cycle === null ? [] : [cycle.join(" -> ")];
  });
}

/** Returns the file that a relative import names. */
function findImported(from: string, module: string, files: Set<string>): string | undefined {
  if (!module.startsWith(".")) return undefined;
  const path = join(dirname(from), module);
  return [path, ...[".ts", ".tsx", "/index.ts", "/index.tsx"].map((end) => path + end)].find((one) => files.has(one));
}

function findShortestCycle(file: string, imports: Map<string, string[]>): string[] | null {
  const importer = new Map<string, string>();
  const queue = [file];
  for (const at of queue) {
    for (const next of imports.get(at)!) {
      if (next === file) {
        const path = [file];
        for (let one = at; one !== file; one = importer.get(one)!) path.unshift(one);
        return [file, ...path];
      }
      if (importer.has(next)) continue;
      importer.set(next, at);
      queue.push(next);
    }
  }
  return null;
}

async function readSources(folder: string, pattern: string): Promise<Source[]> {
  const root = join(ROOT, folder);
  const files = [...new Glob(pattern).scanSync(root)].sort();
  return await Promise.all(files.map(async (file) => ({ file, text: await Bun.file(join(root, file)).text() })));
}

test("the sources follow the project rules", async () => {
  expect(violations(await readSources("src", "**/*.ts"))).toEqual([]);
});

test("sources and pages have no import cycles, not even of types", async () => {
  const sources = await readSources("", "{src,web}/**/*.{ts,tsx}");
  expect(sources.length).toBeGreaterThan(1_000);
  expect(findCycles(sources)).toEqual([]);
});

test("tests, fixtures and pages keep to a readable length and width too", async () => {
  const sources = await readSources("", "{migrations,test,web}/**/*.{ts,tsx}");
  expect(sources.length).toBeGreaterThan(1_000);
  expect(sources.flatMap((source) => lengthErrors(source).map((error) => `${source.file}: ${error}`))).toEqual([]);
});

test("pages import nothing from the server but its pure rules", async () => {
  const sources = await readSources("web", "**/*.{ts,tsx}");
  const found = sources.flatMap(({ file, text }) =>
    importsOf(text).flatMap((module) => (module.startsWith(".") ? join(dirname(file), module) : [])),
  );
  const outside = new Set(found.filter((target) => target.startsWith("..")));
  expect([...outside].filter((target) => !/^\.\.\/(src\/domain|dist\/api-types)\//.test(target))).toEqual([]);
  expect(outside.size).toBeGreaterThan(0);
});

/** Below this, a module of the dashboard with one importer belongs into it, unless that exceeds `MERGED_CEILING`. */
const SMALL_LINES = 50;
const MERGED_CEILING = 250;

/** Lists modules of the dashboard that belong into their only importer. One that is loaded later has its own file. */
function findFragments(sources: Source[]): string[] {
  const files = new Map(sources.map(({ file, text }) => [file, text]));
  const names = new Set(files.keys());
  const importers = new Map<string, Set<string>>();
  const loadedLater = new Set<string>();
  for (const { file, text } of sources) {
    for (const module of importsOf(text)) {
      const target = findImported(file, module, names);
      if (target !== undefined) importers.set(target, (importers.get(target) ?? new Set()).add(file));
    }
    for (const [, module] of withoutComments(text).matchAll(/\bimport\(\s*"([^"]+)"/g))
      loadedLater.add(findImported(file, module!, names) ?? "");
  }
  const countLines = (file: string) => files.get(file)!.split("\n").length - 1;
  return [...importers].flatMap(([file, by]) => {
    const [importer] = by;
    const [lines, others] = [countLines(file), countLines(importer!)];
    const isFragment = by.size === 1 && lines < SMALL_LINES && lines + others <= MERGED_CEILING;
    return isFragment && !loadedLater.has(file) ? [`${file}: belongs into ${importer}, which alone imports it`] : [];
  });
}

test("a small module of the dashboard has more than one importer", async () => {
  expect(findFragments(await readSources("", "web/**/*.{ts,tsx}"))).toEqual([]);
});

describe("the rule itself", () => {
  const wrong: [string, string, string][] = [
    ["a lower layer imports a higher one", "work/cut.ts", 'import { app } from "../http/app";'],
    ["folders of one layer import each other", "media/probe.ts", 'import { engine } from "../speech/engine";'],
    ["lib and domain import each other", "lib/log.ts", 'import { AppError } from "../domain/errors";'],
    ["domain imports a package", "domain/time.ts", 'import { x } from "some-package";'],
    ["domain does input and output", "domain/time.ts", 'import { readFile } from "node:fs/promises";'],
    ["http imports media", "http/public/assets.ts", 'import { probe } from "../../media/probe";'],
    ["http imports the queue", "http/app.ts", 'import type { Runner } from "../queue/runner";'],
    ["anything imports main", "cli/serve.ts", 'import "../main";'],
    ["the running product imports tooling", "speech/models.ts", 'import { write } from "../build/onnx";'],
    ["an adapter reads the configuration", "store/db.ts", 'import { loadConfig } from "../config";'],
    ["Elysia outside http", "work/cut.ts", 'import { Elysia } from "elysia";'],
    ["drizzle outside the store", "http/app.ts", 'import { eq } from "drizzle-orm";'],
    ["BullMQ outside its file", "queue/runner.ts", 'import { Queue } from "bullmq";'],
    ["spawning elsewhere", "media/ffmpeg.ts", 'const child = Bun.spawn(["ffmpeg"]);'],
    ["spawning by node", "media/ffmpeg.ts", 'import { spawn } from "node:child_process";'],
    ["output elsewhere", "cli/key.ts", "process.stdout.write(text);"],
    ["a dynamic import", "media/probe.ts", 'const engine = await import("../speech/engine");'],
    ["a re-export", "store/db.ts", 'export * from "../queue/runner";'],
    ["an import over several lines", "media/probe.ts", 'import {\n  a,\n  b,\n} from "../speech/engine";'],
    ["an import from outside", "work/cut.ts", 'import { speak } from "../../test/fixtures/flite";'],
    ["an unknown folder", "helpers/text.ts", 'import { sleep } from "../lib/time";'],
    ["a file that is too long", "work/cut.ts", "\n".repeat(LINES_CEILING + 1)],
    ["a comment that is too wide", "work/cut.ts", ` * ${"a".repeat(COLUMNS_CEILING)}\n`],
  ];
  test.each(wrong)("finds: %s", (_, file, text) => {
    expect(violations([{ file, text }])).toHaveLength(1);
  });

  const right: [string, string, string][] = [
    ["to the right", "work/cut.ts", 'import { probe } from "../media/probe";'],
    ["http reads the store", "http/public/assets.ts", 'import { assets } from "../../store/assets";'],
    [
      "an adapter uses domain and lib",
      "media/probe.ts",
      'import { x } from "../domain/media";\nimport { y } from "../lib/process";',
    ],
    ["domain describes data", "domain/plan-text.ts", 'import { Type } from "@sinclair/typebox";'],
    ["within a folder", "domain/plan.ts", 'import type { Span } from "./time";'],
    ["main starts a command", "main.ts", 'import { serve } from "./cli/serve";'],
    ["a comment", "media/probe.ts", '// import { engine } from "../speech/engine";\n/* Bun.spawn */'],
    ["its own place", "lib/process.ts", "Bun.spawn([]);"],
    [
      "embedded SQL",
      "store/migrate.ts",
      'import initial from "../../migrations/0000_initial.sql" with { type: "text" };',
    ],
  ];
  test.each(right)("allows: %s", (_, file, text) => {
    expect(violations([{ file, text }])).toEqual([]);
  });

  const fragments: [string, Record<string, string>, string[]][] = [
    [
      "a small module with one importer",
      { "web/a.tsx": 'import { b } from "./b";', "web/b.ts": "export const b = 1;\n" },
      ["web/b.ts: belongs into web/a.tsx, which alone imports it"],
    ],
    [
      "one that would make its importer too long",
      { "web/a.tsx": `import { b } from "./b";${"\n".repeat(MERGED_CEILING)}`, "web/b.ts": "export const b = 1;\n" },
      [],
    ],
    ["a longer one", { "web/a.tsx": 'import { b } from "./b";', "web/b.ts": "\n".repeat(SMALL_LINES) }, []],
    [
      "one with two importers",
      { "web/a.tsx": 'import { b } from "./b";', "web/c.tsx": 'import { b } from "./b";', "web/b.ts": "" },
      [],
    ],
    ["one that is loaded later", { "web/a.tsx": 'const load = () => import("./b");', "web/b.ts": "" }, []],
  ];
  test.each(fragments)("fragments: %s", (_, files, expected) => {
    expect(findFragments(Object.entries(files).map(([file, text]) => ({ file, text })))).toEqual(expected);
  });

  const cycles: [string, Record<string, string>, string[]][] = [
    [
      "a cycle of values",
      { "src/a.ts": 'import { b } from "./b";', "src/b.ts": 'export { a } from "./a";' },
      ["src/a.ts -> src/b.ts -> src/a.ts"],
    ],
    [
      "a cycle of types",
      { "web/a.tsx": 'import type { B } from "./b";', "web/b.tsx": 'let a: import("./a").A;' },
      ["web/a.tsx -> web/b.tsx -> web/a.tsx"],
    ],
    [
      "a cycle of three, and not who imports it",
      {
        "src/main.ts": 'import "./work/a";',
        "src/work/a.ts": 'import { b } from "./b";',
        "src/work/b.ts": 'import type { C } from "../c";',
        "src/c/index.ts": 'const { a } = await import("../work/a");\nimport "node:fs";',
      },
      ["src/work/a.ts -> src/work/b.ts -> src/c/index.ts -> src/work/a.ts"],
    ],
    [
      "two cycles that share a file",
      {
        "src/a.ts": 'import "./b";\nimport "./c";',
        "src/b.ts": 'import { a } from "./a";',
        "src/c.ts": 'import { a } from "./a";',
      },
      ["src/a.ts -> src/b.ts -> src/a.ts", "src/c.ts -> src/a.ts -> src/c.ts"],
    ],
    [
      "two ways to one file",
      { "src/a.ts": 'import "./b";\nimport "./c";', "src/b.ts": 'import "./c";', "src/c.ts": '// import "./a";' },
      [],
    ],
  ];
  test.each(cycles)("cycles: %s", (_, files, expected) => {
    expect(findCycles(Object.entries(files).map(([file, text]) => ({ file, text })))).toEqual(expected);
  });
});
