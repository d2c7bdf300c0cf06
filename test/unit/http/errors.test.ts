import { describe, expect, test } from "bun:test";
import { AppError, HTTP_STATUS, type HttpCode } from "../../../src/domain/errors";
import { publicErrorShape, toErrorReply } from "../../../src/http/errors";
import { toErrorResponse } from "../../../src/http/family";
import { createLog } from "../../../src/lib/log";

function reply(error: unknown) {
  const unknown: unknown[] = [];
  const { status, body, headers } = toErrorReply(error, publicErrorShape, (e) => unknown.push(e));
  return { status, body, headers, unknown };
}

test.each(Object.entries(HTTP_STATUS) as [HttpCode, number][])("%s is a %d", (code, status) => {
  // RFC 9110 requires it on every 401.
  const headers: Record<string, string> = code === "unauthenticated" ? { "WWW-Authenticate": "Bearer" } : {};
  const expected = { status, body: { error: { code, message: "Message." } }, headers, unknown: [] };
  expect(reply(new AppError(code, "Message."))).toEqual(expected);
});

describe("an unexpected error", () => {
  test.each([
    ["an Error", new Error("SELECT password FROM users")],
    ["a string", "boom"],
    ["undefined", undefined],
    ["null", null],
    ["an AppError with a job code", new AppError("corrupt_media", "secret")],
  ])("that is %s is a 500 without details", (_, error) => {
    const { status, body } = reply(error);
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toMatch(/SELECT|boom/);
    expect(body).toMatchObject({ error: { code: "internal_error" } });
  });

  test("is passed on for the log", () => {
    const error = new Error("x");
    expect(reply(error).unknown).toEqual([error]);
  });
});

test.each([
  ["after the client has left", true, new DOMException("The connection was closed.", "AbortError"), "request.aborted"],
  ["that is aborted while the client waits", false, new DOMException("Aborted.", "AbortError"), "request.failed"],
  ["for another reason", true, new Error("x"), "request.failed"],
])("a request %s is logged as %p %p %s", (_, isAborted, error, event) => {
  const lines: string[] = [];
  const request = new Request("http://offcut/", { signal: isAborted ? AbortSignal.abort() : null });
  const { status } = toErrorResponse(
    error,
    request,
    publicErrorShape,
    createLog((line) => lines.push(line), false, "debug"),
  );
  expect(status).toBe(500);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: event === "request.failed" ? "error" : "debug", event },
  ]);
});

test.each(["ENOSPC", "EDQUOT", "SQLITE_FULL"])("a full disk (%s) is a 503 with Retry-After", (code) => {
  expect(reply(Object.assign(new Error("full"), { code }))).toMatchObject({
    status: 503,
    headers: { "Retry-After": "60" },
    body: { error: { code: "upstream_unavailable" } },
  });
});

test("the message is one line, and fields do not repeat the input", () => {
  const fields = [{ field: "body.name", message: "is required", type: "missing", input: "secret" }];
  const { body } = reply(new AppError("validation_error", "Two\n  lines.", { fields }));
  expect(body).toEqual({
    error: {
      code: "validation_error",
      message: "Two lines.",
      fields: [{ field: "body.name", message: "is required" }],
    },
  });
});
