/**
 * Every `expect(…).rejects` and `.resolves` is awaited or returned: an assertion that is not awaited may fail after its
 * test, or never.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = import.meta.dir;

/**
 * Returns the first lines of statements that begin with `expect` and end with an assertion about a promise. The
 * formatter has laid them out.
 */
function listUnawaited(text: string): number[] {
  const lines = text.split("\n");
  return lines.flatMap((line, n) => {
    const indent = /^(\s*)(?:void )?expect\(/.exec(line)?.[1];
    if (indent === undefined) return [];
    const isEnd = (each: string) => /[;,]$/.test(each) && /^\s*/.exec(each)![0].length <= indent.length;
    const end = /[;,]$/.test(line) ? n : lines.findIndex((each, m) => m > n && isEnd(each));
    const statement = lines.slice(n, end + 1).join("\n");
    // An item of an array, for which its `Promise.all` waits, ends with a comma.
    return statement.endsWith(";") && /\)\s*\.(?:not\.)?(?:rejects|resolves)\b/.test(statement) ? [n + 1] : [];
  });
}

test("every expectation about a promise is awaited", async () => {
  const found: string[] = [];
  let expectations = 0;
  for await (const file of new Bun.Glob("**/*.ts").scan(ROOT)) {
    if (file === "awaited-expectations.test.ts") continue;
    const text = await Bun.file(join(ROOT, file)).text();
    expectations += text.match(/\.(?:rejects|resolves)\b/g)?.length ?? 0;
    found.push(...listUnawaited(text).map((line) => `test/${file}:${line}`));
  }
  expect(expectations).toBeGreaterThan(100);
  expect(found).toEqual([]);
});

test.each([
  [`expect(run()).rejects.toThrow("no");`, [1]],
  [`  void expect(run()).resolves.toBe(1);`, [1]],
  [`  expect(\n    run({ a: 1 }),\n  ).rejects.toThrow("no");`, [1]],
  [`  expect(run()).rejects.toMatchObject({\n    code: "no",\n  });`, [1]],
  [`test("x", async () => {\n  expect(1).toBe(1);\n  expect(run()).rejects.toThrow();\n});`, [3]],
  [`  await expect(run()).rejects.toThrow("no");`, []],
  [`  return expect(run()).rejects.toThrow("no");`, []],
  [`test("x", () => expect(run()).rejects.toThrow());`, []],
  [`  await Promise.all([\n    expect(run()).rejects.toThrow(),\n    expect(run()).resolves.toBe(1),\n  ]);`, []],
  [`  expect(\n    await run(),\n  ).toBe("a");\n  await expect(run()).rejects.toThrow();`, []],
  [`  expect(text).toContain(".rejects");`, []],
])("%j has unawaited expectations in the lines %j", (text, lines) => {
  expect(listUnawaited(text)).toEqual(lines);
});
