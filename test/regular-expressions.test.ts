/** Regular expressions take linear time: strangers send headers, scripts, names and metadata that others match. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { analyse } from "scslre";
import ts from "typescript-5";

const ROOT = join(import.meta.dir, "..");

/**
 * Patterns that may be slower, or are not known before they are used, by file: with a text that no stranger can make
 * long.
 */
const ALLOWED: Record<string, Record<string, string>> = {
  "src/build/native-addons.ts": { "new RegExp": "modules of the bundle" },
  "src/media/probing/description.ts": { "new RegExp": "a line of ffmpeg's, matched at its start" },
  "src/work/cluster/execution-files.ts": { "new RegExp": "names of files from a list, with numbers in them" },
  "src/domain/text/normalize.ts": { "new RegExp": "patterns of a list in this file" },
  "web/app/english.ts": { "/\\B(?=(\\d{3})+$)/g": "the digits of a number" },
};

type Pattern = { source: string; flags: string };

/** `built`: whether a pattern is made when the module is imported. `unknown`: whether one is made later. */
type Found = { patterns: Pattern[]; built: boolean; unknown: boolean };

/** Returns the literals of a TypeScript text, and the strings that are patterns of a schema. */
function findPatterns(file: string, text: string): Found {
  const found: Found = { patterns: [], built: false, unknown: false };
  const visit = (node: ts.Node, isInFunction: boolean): void => {
    if (ts.isRegularExpressionLiteral(node)) found.patterns.push(parseLiteral(node.text));
    if (ts.isPropertyAssignment(node) && node.name.getText() === "pattern") {
      const source = readString(node.initializer);
      if (source !== null) found.patterns.push({ source, flags: "u" });
    }
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === "RegExp") {
      if (isInFunction) found.unknown = true;
      else found.built = true;
    }
    ts.forEachChild(node, (child) => visit(child, isInFunction || ts.isFunctionLike(node)));
  };
  const kind = file.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind), false);
  return found;
}

function parseLiteral(text: string): Pattern {
  const end = text.lastIndexOf("/");
  return { source: text.slice(1, end), flags: text.slice(end + 1) };
}

/**
 * Returns the text of a string or template, with a digit in place of each number or word inserted; null for another
 * expression.
 */
function readString(node: ts.Expression): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map((span) => `9${span.literal.text}`).join("");
}

/** Returns the patterns that these modules build when they are imported, with the file of each. */
function listBuiltPatterns(files: string[]): (Pattern & { file: string })[] {
  const script = `
    const built = [];
    globalThis.RegExp = new Proxy(RegExp, { construct(target, values) {
      const pattern = new target(...values);
      const file = new Error().stack.split("\\n").map((line) => line.match(/\\/((?:src|web)\\/[^:)]+)/)?.[1]).find(Boolean);
      if (file) built.push({ file, source: pattern.source, flags: pattern.flags });
      return pattern;
    } });
    for (const file of ${JSON.stringify(files.map((file) => join(ROOT, file)))}) await import(file);
    console.log(JSON.stringify(built));`;
  const child = Bun.spawnSync([process.execPath, "-e", script], { cwd: ROOT, stderr: "inherit" });
  return JSON.parse(child.stdout.toString());
}

/** Returns whether a text of length n can take more than a multiple of n steps. */
const isSuperLinear = ({ source, flags }: Pattern): boolean => analyse({ source, flags }).reports.length > 0;

test("no pattern of the product backtracks over a long text", async () => {
  const files = [...new Glob("{src,web}/**/*.{ts,tsx}").scanSync(ROOT)].sort();
  expect(files.length).toBeGreaterThan(500);
  const slow: string[] = [];
  const building: string[] = [];
  const report = (file: string, pattern: string) => {
    if (ALLOWED[file]?.[pattern] === undefined) slow.push(`${file}: ${pattern}`);
  };
  const check = (file: string, pattern: Pattern) => {
    if (isSuperLinear(pattern)) report(file, `/${pattern.source}/${pattern.flags}`);
  };
  for (const file of files) {
    const found = findPatterns(file, await Bun.file(join(ROOT, file)).text());
    for (const pattern of found.patterns) check(file, pattern);
    if (found.unknown) report(file, "new RegExp");
    if (found.built) building.push(file);
  }
  const built = listBuiltPatterns(building);
  expect([...new Set(built.map(({ file }) => file))].sort()).toEqual(building);
  for (const pattern of built) check(pattern.file, pattern);
  expect([...new Set(slow)]).toEqual([]);
}, 60_000);

describe("the rule itself", () => {
  test.each([
    ["a separator between spaces", "text.split(/\\s*;\\s*/)"],
    ["two runs that meet", "const RANGE = /^(\\d*)\\s*-?\\s*(\\d*)$/;"],
    ["nested repetition", "const NAME = /^(?:[a-z]+)+$/;"],
    ["a run at the end", "const trimmed = text.replace(/\\/+$/, '');"],
    ["a pattern of a schema", "Type.String({ pattern: '^a*a*$' })"],
    ["a pattern of a schema with a number", `Type.String({ pattern: \`^a*a*.{1,\${MAX}}$\` })`],
  ])("finds %s", (_, text) => {
    expect(findPatterns("example.ts", text).patterns.map(isSuperLinear)).toEqual([true]);
  });

  test("distinguishes a pattern that is built on import from one that is not", () => {
    const built = "const A = new RegExp(B);";
    expect(findPatterns("example.ts", built)).toEqual({ patterns: [], built: true, unknown: false });
    expect(findPatterns("example.ts", `const f = () => { ${built} }`)).toMatchObject({ built: false, unknown: true });
  });
});
