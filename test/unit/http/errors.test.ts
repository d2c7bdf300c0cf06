import { describe, expect, test } from "bun:test";
import { AppError, HTTP_STATUS, type HttpCode } from "../../../src/domain/errors";
import { publicErrorShape, toErrorReply } from "../../../src/http/errors";

function answer(error: unknown) {
  const unknown: unknown[] = [];
  const { status, body, headers } = toErrorReply(error, publicErrorShape, (e) => unknown.push(e));
  return { status, body, headers, unknown };
}

test.each(Object.entries(HTTP_STATUS) as [HttpCode, number][])("%s is a %d", (code, status) => {
  // RFC 9110 wants every 401 to say how to authenticate.
  const headers: Record<string, string> = code === "unauthenticated" ? { "WWW-Authenticate": "Bearer" } : {};
  const expected = { status, body: { error: { code, message: "Said." } }, headers, unknown: [] };
  expect(answer(new AppError(code, "Said."))).toEqual(expected);
});

describe("an error nobody expected", () => {
  test.each([
    ["an Error", new Error("SELECT password FROM users")],
    ["a text", "boom"],
    ["nothing", undefined],
    ["null", null],
    ["a job's own code", new AppError("corrupt_media", "secret")],
  ])("that is %s is a 500 that shows nothing of it", (_, error) => {
    const { status, body } = answer(error);
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toMatch(/SELECT|boom/);
    expect(body).toMatchObject({ error: { code: "internal_error" } });
  });

  test("is handed on for the log", () => {
    const error = new Error("x");
    expect(answer(error).unknown).toEqual([error]);
  });
});

test.each(["ENOSPC", "EDQUOT", "SQLITE_FULL"])("a full disk (%s) is transient, with a time to try again", (code) => {
  expect(answer(Object.assign(new Error("full"), { code }))).toMatchObject({
    status: 503,
    headers: { "Retry-After": "60" },
    body: { error: { code: "upstream_unavailable" } },
  });
});

test("a message is one line, and fields are shown without what was sent", () => {
  const fields = [{ field: "body.name", message: "is required", type: "missing", input: "secret" }];
  const { body } = answer(new AppError("validation_error", "Two\n  lines.", { fields }));
  expect(body).toEqual({
    error: {
      code: "validation_error",
      message: "Two lines.",
      fields: [{ field: "body.name", message: "is required" }],
    },
  });
});
