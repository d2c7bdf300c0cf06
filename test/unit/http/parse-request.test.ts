import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { AppError } from "../../../src/domain/errors";
import { oneOf, orNull, pagingParameters, strictObject, uuidField } from "../../../src/domain/schema-parts";
import {
  type BodyLimits,
  findShapeError,
  MAX_BODY_BYTES,
  parseBody,
  parseForm,
  parsePath,
  parseQuery,
  readBodyText,
} from "../../../src/http/parse-request";

/** Returns the code of the error, with its fields if it has any. */
async function getRefusal(work: () => unknown): Promise<unknown> {
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

const LIMITS: BodyLimits = { type: "json", maxBytes: MAX_BODY_BYTES, timeoutMs: 30_000 };

describe("readBodyText, given", () => {
  test.each<[string, Request, unknown]>([
    ["JSON", request("{}"), "accepted"],
    ["JSON with a charset", request("{}", "Application/JSON; charset=utf-8"), "accepted"],
    ["no body and no type", request(null, null), "accepted"],
    ["a form", request("a=b", "application/x-www-form-urlencoded"), "unsupported_media_type"],
    ["a type that starts with application/json", request("{}", "application/json5"), "unsupported_media_type"],
    ["bytes without a type", request(new Uint8Array([123, 125]), null), "unsupported_media_type"],
    ["bytes that are not UTF-8", request(new Uint8Array([0x22, 0xff, 0x22])), "bad_request"],
    ["an incomplete character at the end", request(new Uint8Array([0x22, 0xc3])), "bad_request"],
    ["a body of the maximum size", request("x".repeat(MAX_BODY_BYTES)), "accepted"],
    ["a body that is one byte too large", request("x".repeat(MAX_BODY_BYTES + 1)), "payload_too_large"],
  ])("%s", async (_, given, expected) => {
    expect(await getRefusal(() => readBodyText(given, LIMITS))).toEqual(expected);
  });

  test("an endless body, refuses it as soon as it is too large", async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    expect(await getRefusal(() => readBodyText(request(endless), LIMITS))).toBe("payload_too_large");
    expect(sent).toBeLessThan(MAX_BODY_BYTES * 4);
  });
});

test("readBodyText refuses a body that is not received in time", async () => {
  const silent = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array([123])) });
  expect(await getRefusal(() => readBodyText(request(silent), { ...LIMITS, timeoutMs: 20 }))).toBe("bad_request");
});

describe("parseForm", () => {
  const schema = Type.Object({ token: Type.String({ minLength: 1 }), hint: Type.Optional(Type.String()) });
  test("decodes parameters, and ignores those that it does not know", () => {
    expect(parseForm(schema, "token=a%20b+c%26&x=1")).toMatchObject({ token: "a b c&" });
  });
  test.each([
    ["token=a&token=b", "bad_request"],
    ["token=a&x=1&x=2", "bad_request"],
    ["", "validation_error"],
    ["token=", "validation_error"],
    ["token", "validation_error"],
    ["__proto__=1&toString=1", "validation_error"],
    ['{"token":"a"}', "validation_error"],
  ])("refuses %j", async (text, code) => {
    const refusal = await getRefusal(() => parseForm(schema, text));
    expect(typeof refusal === "string" ? refusal : (refusal as { code: string }).code).toBe(code);
  });
});

describe("findShapeError, given", () => {
  const levels = (n: number, open = "[", close = "]") => open.repeat(n) + close.repeat(n);
  const object = (n: number) => JSON.stringify(Object.fromEntries(Array.from({ length: n }, (_, i) => [`p${i}`, [i]])));
  test.each<[string, string, boolean]>([
    ["64 lists", levels(64), false],
    ["65 lists", levels(65), true],
    ["65 objects", `${'{"a":'.repeat(65)}1${"}".repeat(65)}`, true],
    ["many lists side by side", `[${"[],".repeat(1_000)}[]]`, false],
    ["brackets in a string", JSON.stringify("[".repeat(100)), false],
    ["brackets in a string after an escaped quote", JSON.stringify(`"${"[".repeat(100)}`), false],
    ["brackets after a string that ends in a backslash", `["\\\\",${levels(64)}]`, true],
    ["closing brackets first", `${"]".repeat(100)}${levels(65)}`, false],
    ["an unterminated string", `"${"[".repeat(100)}`, false],
    ["1,024 properties", object(1_024), false],
    ["1,025 properties", object(1_025), true],
    ["1,025 properties in an object in a list", `[[1,${object(1_025)}]]`, true],
    ["two objects with 1,000 properties each", `[${object(1_000)},${object(1_000)}]`, false],
    ["a long string", `{"a":"${"x".repeat(5_000)}","b":1}`, false],
    ["a property with a long name", `{"${"x".repeat(1_025)}" : 1}`, true],
  ])("%s", (_, text, expected) => {
    expect(findShapeError(text) !== null).toBe(expected);
  });

  test("parseBody refuses deep nesting before it parses the text", async () => {
    const list = Type.Object({});
    expect(await getRefusal(() => parseBody(list, levels(200_000)))).toBe("bad_request");
    expect(await getRefusal(() => parseBody(list, "[".repeat(1_000_000)))).toBe("bad_request");
    expect(await getRefusal(() => parseBody(list, levels(64)))).toEqual({
      code: "validation_error",
      fields: ["body must be an object"],
    });
  });
});

describe("an error is small, given", () => {
  const schema = strictObject({
    items: Type.Array(strictObject({ start: Type.Number() }), {
      maxItems: 20_000,
      errorText: "must be a list of 20000",
    }),
    name: Type.Optional(Type.String({ maxLength: 10 })),
  });
  const refused = (value: unknown): AppError => {
    try {
      parseBody(schema, JSON.stringify(value));
    } catch (error) {
      if (error instanceof AppError) return error;
    }
    throw new Error("accepted");
  };
  const huge = "x".repeat(300_000);

  test.each<[string, unknown, number]>([
    ["invalid elements of a list within its limit", { items: Array.from({ length: 20_000 }, () => 7) }, 50],
    ["unknown properties", Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`p${n}`, 1])), 50],
    ["a list that is too long", { items: Array.from({ length: 300_000 }, () => 7) }, 1],
    ["a list that is too long, after other errors", { name: 7, items: Array.from({ length: 300_000 }, () => 7) }, 2],
    ["a long string", { items: [], name: huge }, 1],
    ["a property with a long name", { items: [], ["~/".repeat(500)]: 1 }, 1],
    ["a long name in a nested object", { items: [{ start: 1, ["~/".repeat(500)]: { "~/": huge } }] }, 1],
    ["an object instead of a string", { items: [], name: { huge } }, 1],
  ])("%s", (_, value, max) => {
    const { fields } = refused(value).details;
    expect(fields!.length).toBeGreaterThan(0);
    expect(fields!.length).toBeLessThanOrEqual(max);
    for (const field of fields!) expect(JSON.stringify(field).length).toBeLessThan(700);
  });

  test("a long query or path", async () => {
    const query = `http://x/?${Array.from({ length: 5_000 }, (_, n) => `p${n}=1`).join("&")}&${huge}=${huge}`;
    const readers: (() => unknown)[] = [
      () => parseQuery(strictObject(pagingParameters(100, 20)), new URL(query)),
      () => parsePath({ id: huge }),
    ];
    for (const read of readers) {
      const shown = await Promise.resolve()
        .then(read)
        .catch((error: AppError) => JSON.stringify(error.details));
      expect((shown as string).length).toBeLessThan(20_000);
    }
  });
});

describe("parseBody, given", () => {
  const schema = strictObject({
    name: Type.String({ minLength: 1 }),
    id: Type.Optional(uuidField("an id")),
    parent: Type.Optional(orNull(uuidField("an id or null"))),
    inner: Type.Optional(strictObject({ mode: Type.Optional(oneOf("a", "b")) })),
  });
  const failing = (...fields: string[]) => ({ code: "validation_error", fields });

  test.each<[string, string, unknown]>([
    ["a valid body", '{"name":"x"}', "accepted"],
    ["a backslash before u0000", '{"name":"x\\\\u0000"}', "accepted"],
    ["invalid JSON", "{name:1}", "bad_request"],
    ["an empty string", "", "bad_request"],
    ["an incomplete body", '{"name":"x"', "bad_request"],
    ["a list", "[]", failing("body must be an object")],
    ["null", "null", failing("body must be an object")],
    ["a missing property", "{}", failing("body.name is required")],
    ["an unknown property", '{"name":"x","nmae":1}', failing("body.nmae is not a known property")],
    ["a property named __proto__", '{"name":"x","__proto__":{}}', failing("body.__proto__ is not a known property")],
    ["an invalid ID", '{"name":"x","id":"7"}', failing("body.id must be a UUID")],
    ["an invalid ID or null", '{"name":"x","parent":"7"}', failing("body.parent must be a UUID or null")],
    ["an unknown enum value", '{"name":"x","inner":{"mode":"c"}}', failing("body.inner.mode must be one of a, b")],
    [
      "two errors",
      '{"name":"","id":1}',
      failing("body.name must have at least 1 characters", "body.id must be a UUID"),
    ],
    ["an escaped U+0000", '{"name":"x\\u0000y"}', failing("body.name must not contain the character U+0000")],
    [
      "U+0000 in a list and in a property name",
      '{"name":"x","a":[1,{"b":"\\u0000"}],"c\\u0000":"\\u0000"}',
      failing(
        "body.a.1.b must not contain the character U+0000",
        "body.c\\u0000 must not contain the character U+0000",
        "body.c\\u0000 must not contain the character U+0000",
      ),
    ],
  ])("%s", async (_, text, expected) => {
    expect(await getRefusal(() => parseBody(schema, text))).toEqual(expected);
  });

  test("does not repeat the input in the message", async () => {
    const secret = "hunter2hunter2";
    const shown = await getRefusal(() => parseBody(schema, JSON.stringify({ name: "x", id: secret, [secret]: 1 })));
    expect(JSON.stringify(shown)).not.toContain(`"${secret}"`);
  });
});

describe("parseQuery", () => {
  const schema = strictObject({ ...pagingParameters(100, 20), state: Type.Optional(oneOf("on", "off")) });
  const read = (query: string) => parseQuery(schema, new URL(`http://x/?${query}`));

  test("fills in defaults", () => {
    expect(read("")).toEqual({ limit: 20 });
    expect(read("limit=7&state=on&cursor=abc")).toEqual({ limit: 7, state: "on", cursor: "abc" });
  });

  const limit = "query.limit must be an integer from 1 to 100";
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
    ["__proto__=5", "query.__proto__ is not a known property"],
  ])("refuses %s", async (query, field) => {
    expect(await getRefusal(() => read(query))).toEqual({ code: "validation_error", fields: [field] });
  });
});

describe("parsePath", () => {
  const id = "01890a5d-ac96-774b-bcce-b302099a8057";
  test("returns IDs in lower case", () => {
    expect(parsePath({ asset_id: id.toUpperCase() })).toEqual({ asset_id: id });
  });

  test.each(["7", "", `${id}0`, "%00", "../x"])("refuses %j", async (value) => {
    const expected = { code: "validation_error", fields: ["path.asset_id must be a UUID"] };
    expect(await getRefusal(() => parsePath({ asset_id: value }))).toEqual(expected);
  });
});
