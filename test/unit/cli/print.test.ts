/** Texts of others in the output of commands. */
import { afterEach, expect, spyOn, test } from "bun:test";
import { print, printError } from "../../../src/cli/print";
import { createProgress } from "../../../src/cli/progress";
import { formatTextTable } from "../../../src/cli/text-table";

const written: string[] = [];
const spies = [process.stdout, process.stderr].map((stream) =>
  spyOn(stream, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  }),
);
afterEach(() => {
  for (const spy of spies) spy.mockRestore();
});

const HOSTILE = "a\u001b[2J\u009b2J\r\u2028\u202eb";
const ESCAPED = "a\\u001b[2J\\u009b2J\\u000d\\u2028\\u202eb";

test("the output of commands keeps its lines, an error is one line, and other control characters are escaped", () => {
  print(`${HOSTILE}\nnext\n`);
  printError(`offcut worker: ${HOSTILE}\nwritten: other.mp4`);
  print(`${JSON.stringify({ name: HOSTILE })}\n`);
  for (const spy of spies) spy.mockRestore();
  expect(written.slice(0, 2)).toEqual([`${ESCAPED}\nnext\n`, `offcut worker: ${ESCAPED}\\u000awritten: other.mp4\n`]);
  expect(written[2]).not.toContain("\u009b");
  expect(JSON.parse(written[2]!)).toEqual({ name: HOSTILE });
});

test("a cell adds no line to a table", () => {
  expect(formatTextTable([["NAME"], ["one\ntwo"], [HOSTILE]])).toBe(`NAME\none\\u000atwo\n${ESCAPED}\n`);
});

test("nor does a title to progress", () => {
  const lines: string[] = [];
  createProgress({ write: (text) => lines.push(text) }).show("one\ntwo", "rendering", 0);
  expect(lines).toEqual(["one\\u000atwo: rendering\n"]);
});
