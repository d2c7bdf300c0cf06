import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { AppError } from "../../../src/domain/errors";
import { oneOf, pagingParameters, strictObject, uuidField } from "../../../src/http/fields";
import {
  findShapeError,
  MAX_BODY_BYTES,
  parseBody,
  parsePathIds,
  parseQuery,
  readBodyText,
} from "../../../src/http/parse-request";

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

const LIMITS = { maxBytes: MAX_BODY_BYTES, timeoutMs: 30_000 };

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
    ["the largest one", request("x".repeat(MAX_BODY_BYTES)), "accepted"],
    ["one that is a byte too large", request("x".repeat(MAX_BODY_BYTES + 1)), "payload_too_large"],
  ])("%s", async (_, given, expected) => {
    expect(await refusalOf(() => readBodyText(given, LIMITS))).toEqual(expected);
  });

  test("that never ends is refused as soon as it is too large", async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    expect(await refusalOf(() => readBodyText(request(endless), LIMITS))).toBe("payload_too_large");
    expect(sent).toBeLessThan(MAX_BODY_BYTES * 4);
  });
});

test("a body that does not arrive in time is refused", async () => {
  const silent = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array([123])) });
  expect(await refusalOf(() => readBodyText(request(silent), { ...LIMITS, timeoutMs: 20 }))).toBe("bad_request");
});

describe("nesting", () => {
  const levels = (n: number, open = "[", close = "]") => open.repeat(n) + close.repeat(n);
  const object = (n: number) => JSON.stringify(Object.fromEntries(Array.from({ length: n }, (_, i) => [`p${i}`, [i]])));
  test.each<[string, string, boolean]>([
    ["64 lists", levels(64), false],
    ["65 lists", levels(65), true],
    ["65 objects", `${'{"a":'.repeat(65)}1${"}".repeat(65)}`, true],
    ["many beside each other", `[${"[],".repeat(1_000)}[]]`, false],
    ["brackets in a string", JSON.stringify("[".repeat(100)), false],
    ["brackets in a string behind an escaped quote", JSON.stringify(`"${"[".repeat(100)}`), false],
    ["brackets behind a string that ends in a backslash", `["\\\\",${levels(64)}]`, true],
    ["closing ones first", `${"]".repeat(100)}${levels(65)}`, false],
    ["a string that never ends", `"${"[".repeat(100)}`, false],
    ["1,024 properties", object(1_024), false],
    ["1,025 properties", object(1_025), true],
    ["1,025 properties in an object in a list", `[[1,${object(1_025)}]]`, true],
    ["1,000 properties each", `[${object(1_000)},${object(1_000)}]`, false],
    ["a long text", `{"a":"${"x".repeat(5_000)}","b":1}`, false],
    ["a property with a long name", `{"${"x".repeat(1_025)}" : 1}`, true],
  ])("%s", (_, text, expected) => {
    expect(findShapeError(text) !== null).toBe(expected);
  });

  test("that is too deep is refused before the text is parsed", async () => {
    const list = Type.Object({});
    expect(await refusalOf(() => parseBody(list, levels(200_000)))).toBe("bad_request");
    expect(await refusalOf(() => parseBody(list, "[".repeat(1_000_000)))).toBe("bad_request");
    expect(await refusalOf(() => parseBody(list, levels(64)))).toEqual({
      code: "validation_error",
      fields: ["body must be an object"],
    });
  });
});

describe("a refusal is small, whatever was sent", () => {
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
    ["elements of a list that fits", { items: Array.from({ length: 20_000 }, () => 7) }, 50],
    ["unknown properties", Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`p${n}`, 1])), 50],
    ["a list that is too long", { items: Array.from({ length: 300_000 }, () => 7) }, 1],
    ["a list that is too long, behind other errors", { name: 7, items: Array.from({ length: 300_000 }, () => 7) }, 2],
    ["a long text", { items: [], name: huge }, 1],
    ["a property with a long name", { items: [], ["~/".repeat(500)]: 1 }, 1],
    ["a long name in another", { items: [{ start: 1, ["~/".repeat(500)]: { "~/": huge } }] }, 1],
    ["an object where a text belongs", { items: [], name: { huge } }, 1],
  ])("%s", (_, value, most) => {
    const { fields } = refused(value).details;
    expect(fields!.length).toBeGreaterThan(0);
    expect(fields!.length).toBeLessThanOrEqual(most);
    for (const field of fields!) expect(JSON.stringify(field).length).toBeLessThan(700);
  });

  test("of a query and of a path, too", async () => {
    const query = `http://x/?${Array.from({ length: 5_000 }, (_, n) => `p${n}=1`).join("&")}&${huge}=${huge}`;
    const readers: (() => unknown)[] = [
      () => parseQuery(strictObject(pagingParameters()), new URL(query)),
      () => parsePathIds({ id: huge }),
    ];
    for (const read of readers) {
      const shown = await Promise.resolve()
        .then(read)
        .catch((error: AppError) => JSON.stringify(error.details));
      expect((shown as string).length).toBeLessThan(20_000);
    }
  });
});

describe("a body's value", () => {
  const schema = strictObject({
    name: Type.String({ minLength: 1 }),
    id: Type.Optional(uuidField("an id")),
    inner: Type.Optional(strictObject({ mode: Type.Optional(oneOf("a", "b")) })),
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
    expect(parseBody(strictObject({ a: Type.Optional(Type.String()) }), "", true)).toEqual({});
  });

  test("the message never shows what was sent", async () => {
    const secret = "hunter2hunter2";
    const shown = await refusalOf(() => parseBody(schema, JSON.stringify({ name: "x", id: secret, [secret]: 1 })));
    expect(JSON.stringify(shown)).not.toContain(`"${secret}"`);
  });
});

describe("a query", () => {
  const schema = strictObject({ ...pagingParameters(), state: Type.Optional(oneOf("on", "off")) });
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
    ["__proto__=5", "query.__proto__ is not a known property"],
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
