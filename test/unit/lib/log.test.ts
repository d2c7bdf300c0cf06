import { describe, expect, test } from "bun:test";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { createLog, LOG_LEVELS, type LogLevel } from "../../../src/lib/log";

function captured(readable: boolean) {
  const lines: string[] = [];
  return { lines, log: createLog((line) => lines.push(line), readable) };
}

describe("JSON output", () => {
  test("a line is one JSON object with time, level, event and the fields of the logger", () => {
    const { lines, log } = captured(false);
    log.with({ request: "r1" }).with({ job: "j1" }).warn("slow", { seconds: 3 });
    expect(lines).toHaveLength(1);
    const line = JSON.parse(lines[0]!);
    expect(line).toMatchObject({ level: "warn", event: "slow", request: "r1", job: "j1", seconds: 3 });
    expect(new Date(line.time).toISOString()).toBe(line.time);
  });

  test("a field replaces neither time nor level nor event", () => {
    const { lines, log } = captured(false);
    log.info("name", { time: "never", level: "error", event: "forged", n: 1 });
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: "info", event: "name", n: 1 });
    expect(lines[0]).not.toContain("never");
  });

  test("text with line breaks stays on one line", () => {
    const { lines, log } = captured(false);
    log.info("name", { name: "a\nb\r\u2028c" });
    expect(lines[0]).not.toContain("\n");
    expect(JSON.parse(lines[0]!).name).toBe("a\nb\r\u2028c");
  });

  test("an error keeps its name, message, code and cause", () => {
    const { lines, log } = captured(false);
    const error = Object.assign(new Error("no room", { cause: new Error("disk") }), { code: "ENOSPC" });
    log.error("failed", { error });
    expect(JSON.parse(lines[0]!).error).toMatchObject({
      name: "Error",
      message: "no room",
      code: "ENOSPC",
      cause: "disk",
    });
  });
});

test("of a failed query, the log has the statement and the cause but no parameters", () => {
  const { lines, log } = captured(false);
  const cause = new DrizzleQueryError("insert into keys values (?)", ["very\nsecret"], new Error("constraint failed"));
  log.error("failed", { error: cause, other: new Error("outer", { cause }) });
  expect(lines[0]).not.toContain("secret");
  expect(JSON.parse(lines[0]!)).toMatchObject({
    error: { message: "Failed query: insert into keys values (?)", cause: "constraint failed" },
    other: { message: "outer", cause: "Failed query: insert into keys values (?)" },
  });
  expect(JSON.parse(lines[0]!).error.stack).toContain("log.test.ts");
});

test.each([
  ["text", true],
  ["JSON", false],
])("%s has no character that controls a terminal", (_, readable) => {
  const { lines, log } = captured(readable);
  const hostile = "a\u001b[2J\u009b2J\r\n\u007f\u2028\u2029\u202e\u2066\u200f\u061cb";
  log.warn("sign_in.failed", { error: new Error(hostile), name: hostile });
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
  expect(lines[0]).toContain("\\u001b[2J\\u009b2J");
  if (!readable) expect(JSON.parse(lines[0]!)).toMatchObject({ name: hostile, error: { message: hostile } });
});

test("on a terminal, a line is text", () => {
  const { lines, log } = captured(true);
  log.info("ready", { port: 4700, url: "http://x" });
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}ready port=4700 url=http:\/\/x$/);
});

describe("the level", () => {
  const write = (level: LogLevel) => {
    const lines: string[] = [];
    const log = createLog((line) => lines.push(JSON.parse(line).event), false, level);
    for (const name of LOG_LEVELS) log.with({ job: "j1" })[name](name);
    return { lines, recent: log.recent().map((line) => JSON.parse(line).event) };
  };

  test.each<[LogLevel, string[]]>([
    ["debug", ["debug", "info", "warn", "error"]],
    ["info", ["info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["error", ["error"]],
  ])("%s writes itself and what is more important", (level, written) => {
    expect(write(level).lines).toEqual(written);
  });

  test("is info without a setting", () => {
    const { lines, log } = captured(false);
    log.debug("hidden");
    log.info("shown");
    expect(lines).toHaveLength(1);
  });

  test("takes nothing from a bug report, and debug lines add to it only when they are written", () => {
    expect(write("error").recent).toEqual(["info", "warn", "error"]);
    expect(write("debug").recent).toEqual(["debug", "info", "warn", "error"]);
  });
});
