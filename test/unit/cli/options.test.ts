import { describe, expect, test } from "bun:test";
import { parseCommand, UsageError, withExitCode } from "../../../src/cli/options";
import { ConfigError } from "../../../src/config";

describe("arguments", () => {
  test("of a command are parsed together with the settings", () => {
    const parsed = parseCommand(["create", "--email", "a@b", "--port=99", "--json"], { email: { type: "string" } });
    expect(parsed.positionals).toEqual(["create"]);
    expect(parsed.values).toMatchObject({ email: "a@b", port: "99", json: true });
  });

  test.each([
    ["an unknown option", ["--emial", "x"]],
    ["an option without its value", ["--email"]],
    ["a value for what takes none", ["--json=yes"]],
  ])("with %s are rejected with one line", (_, argv) => {
    try {
      parseCommand(argv, { email: { type: "string" } });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(UsageError);
      expect((error as Error).message).not.toContain("\n");
      expect((error as Error).message).toContain(argv[0]!.split("=")[0]!);
    }
  });
});

test.each([
  [["--emial", "x"], "Unknown option '--emial'."],
  [["--email"], "--email needs a value."],
  [["--email", "-5"], "--email needs a value. Write a value that begins with a dash as --email=-…"],
])("%j has a clear message", (argv, said) => {
  expect(() => parseCommand(argv, { email: { type: "string" } })).toThrow(new UsageError(said));
});

describe("a command's exit code", () => {
  test.each<[string, () => Promise<number>, number]>([
    ["that of the command", async () => 3, 3],
    ["2 for a usage error", async () => Promise.reject(new UsageError("wrong")), 2],
    ["2 for a configuration error", async () => Promise.reject(new ConfigError("wrong")), 2],
    [
      "0 when the output is closed",
      async () => Promise.reject(Object.assign(new Error("write"), { code: "EPIPE" })),
      0,
    ],
    ["1 for other errors", async () => Promise.reject(new Error("wrong")), 1],
  ])("is %s", async (_, body, expected) => {
    expect(await withExitCode("test", body)).toBe(expected);
  });
});
