import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { AppError } from "../../../src/domain/errors";
import { exactly, oneOf, paging, uuid } from "../../../src/http/fields";
import { LARGEST_JSON_BYTES, parseBody, parsePathIds, parseQuery, readBodyText } from "../../../src/http/reading";

/** The code of the refusal, with its fields when it has some. */
async function refusalOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { fields } = error.details;
    return fields ? { code: error.code, fields: fields.map((f) => `${f.field} ${f.message}`) } : error.code;
  }
  return "accepted";
}

const request = (body: BodyInit | null, type: string | null = "application/json") =>
  new Request("http://x/", {
    method: "POST",
    body,
    headers: type === null ? {} : { "Content-Type": type },
  });

describe("a body's text", () => {
  test.each<[string, Request, unknown]>([
    ["JSON", request("{}"), "accepted"],
    ["JSON with a charset", request("{}", "Application/JSON; charset=utf-8"), "accepted"],
    ["nothing at all", request(null, null), "accepted"],
    ["a form", request("a=b", "application/x-www-form-urlencoded"), "unsupported_media_type"],
    ["a type that only starts like JSON", request("{}", "application/json5"), "unsupported_media_type"],
    ["bytes without a type", request(new Uint8Array([123, 125]), null), "unsupported_media_type"],
    ["bytes that are no UTF-8", request(new Uint8Array([0x22, 0xff, 0x22])), "bad_request"],
    ["half a character at the end", request(new Uint8Array([0x22, 0xc3])), "bad_request"],
    ["the largest one", request("x".repeat(LARGEST_JSON_BYTES)), "accepted"],
    ["one that is a byte too large", request("x".repeat(LARGEST_JSON_BYTES + 1)), "payload_too_large"],
  ])("%s", async (_, given, expected) => {
    expect(await refusalOf(() => readBodyText(given))).toEqual(expected);
  });

  test("that never ends is refused as soon as it is too large", async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    expect(await refusalOf(() => readBodyText(request(endless)))).toBe("payload_too_large");
    expect(sent).toBeLessThan(LARGEST_JSON_BYTES * 2);
  });
});

describe("a body's value", () => {
  const schema = exactly({
    name: Type.String({ minLength: 1 }),
    id: Type.Optional(uuid("an id")),
    inner: Type.Optional(exactly({ mode: Type.Optional(oneOf("a", "b")) })),
  });
  const failing = (...fields: string[]) => ({ code: "validation_error", fields });

  test.each<[string, string, unknown]>([
    ["what fits", '{"name":"x"}', "accepted"],
    ["a backslash before u0000", '{"name":"x\\\\u0000"}', "accepted"],
    ["no JSON", "{name:1}", "bad_request"],
    ["an empty text", "", "bad_request"],
    ["half a body", '{"name":"x"', "bad_request"],
    ["a list", "[]", failing("body must be an object")],
    ["null", "null", failing("body must be an object")],
    ["a missing property", "{}", failing("body.name is required")],
    ["an unknown property", '{"name":"x","nmae":1}', failing("body.nmae is not a known property")],
    ["a property named __proto__", '{"name":"x","__proto__":{}}', failing("body.__proto__ is not a known property")],
    ["an id that is none", '{"name":"x","id":"7"}', failing("body.id must be a UUID")],
    ["a word that is none", '{"name":"x","inner":{"mode":"c"}}', failing("body.inner.mode must be one of a, b")],
    [
      "two failures",
      '{"name":"","id":1}',
      failing("body.name expected string length greater or equal to 1", "body.id must be a text"),
    ],
    ["a zero character", '{"name":"x\\u0000y"}', failing("body must not hold the character U+0000")],
  ])("%s", async (_, text, expected) => {
    expect(await refusalOf(() => parseBody(schema, text))).toEqual(expected);
  });

  test("may be left out where it is optional", () => {
    expect(parseBody(exactly({ a: Type.Optional(Type.String()) }), "", true)).toEqual({});
  });

  test("the message never shows what was sent", async () => {
    const secret = "hunter2hunter2";
    const shown = await refusalOf(() => parseBody(schema, JSON.stringify({ name: "x", id: secret, [secret]: 1 })));
    expect(JSON.stringify(shown)).not.toContain(`"${secret}"`);
  });
});

describe("a query", () => {
  const schema = exactly({ ...paging(), state: Type.Optional(oneOf("on", "off")) });
  const read = (query: string) => parseQuery(schema, new URL(`http://x/?${query}`));

  test("has its defaults", () => {
    expect(read("")).toEqual({ limit: 20 });
    expect(read("limit=7&state=on&cursor=abc")).toEqual({ limit: 7, state: "on", cursor: "abc" });
  });

  const limit = "query.limit must be a whole number from 1 to 100";
  test.each([
    ["limit=0", limit],
    ["limit=101", limit],
    ["limit=1.5", limit],
    ["limit=-1", limit],
    ["limit=many", limit],
    ["limit=", limit],
    ["limit=NaN", limit],
    ["limit=1e1", limit],
    ["limit=0x10", limit],
    ["limit=Infinity", limit],
    ["state=maybe", "query.state must be one of on, off"],
    ["state=", "query.state must be one of on, off"],
    ["offset=5", "query.offset is not a known property"],
    ["constructor=5", "query.constructor is not a known property"],
  ])("%s is refused", async (query, field) => {
    expect(await refusalOf(() => read(query))).toEqual({ code: "validation_error", fields: [field] });
  });
});

describe("path ids", () => {
  const id = "01890a5d-ac96-774b-bcce-b302099a8057";
  test("are given in lower case", () => {
    expect(parsePathIds({ asset_id: id.toUpperCase() })).toEqual({ asset_id: id });
  });

  test.each(["7", "", `${id}0`, "%00", "../x"])("%j is refused", async (value) => {
    const expected = { code: "validation_error", fields: ["path.asset_id must be a UUID"] };
    expect(await refusalOf(() => parsePathIds({ asset_id: value }))).toEqual(expected);
  });
});
