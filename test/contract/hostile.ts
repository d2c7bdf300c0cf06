/** Requests generated from the OpenAPI document: valid, nearly valid and hostile ones. */
import fc from "fast-check";
import { NO_ID } from "../http/outcome";
import type { ApiDocument, JsonSchema, Operation } from "./response-checks";

/** A path ID: one from a response (chosen when the request is sent) or a literal string. */
export type PathId = { known: number } | { text: string };
export type WildRequest = {
  method: string;
  /** `/v1/cuts/{cut_id}`; null for a path without an operation. */
  template: string | null;
  ids: PathId[];
  path: string;
  query: [string, string][];
  body: string | Uint8Array | null;
  headers: Record<string, string>;
  /** Whether the request has the user's key. */
  isSigned: boolean;
  /** The body has placeholders such as `%asset%` for IDs from responses. */
  pick: number;
};

const deep = (levels: number): unknown => {
  let value: unknown = 1;
  for (let n = 0; n < levels; n++) value = n % 2 ? [value] : { a: value };
  return value;
};

const HOSTILE_TEXTS = [
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\u202e\u200b\ufeff",
  "💥".repeat(300),
  "x".repeat(70_000),
  "../../../../etc/passwd",
  "'; DROP TABLE users; --",
  "%00%ff%2e%2e%2f",
  "{{7*7}}",
  "__proto__",
  "constructor",
  "NaN",
  "-1",
  "1e999",
  "0x10",
  "null",
  "a\r\nX-Evil: 1",
  "file:///etc/passwd",
  "http://127.0.0.1:1/",
  "http://[::1]:99999/",
  "http://169.254.169.254/latest",
  "00000000-0000-0000-0000-000000000000",
];
const HOSTILE_VALUES: unknown[] = [
  ...HOSTILE_TEXTS,
  null,
  true,
  false,
  0,
  -1,
  1.5,
  63,
  64,
  2 ** 31,
  2 ** 53,
  Number.MAX_SAFE_INTEGER,
  1e308,
  -1e308,
  5e-324,
  [],
  {},
  [[]],
  [null],
  { length: -1 },
  JSON.parse('{"__proto__":{"a":1},"constructor":null}'),
  deep(200),
  Array.from({ length: 3_000 }, (_, n) => n),
];
const HOSTILE_BODIES: (string | Uint8Array)[] = [
  "",
  "{",
  "[]",
  "null",
  '"text"',
  "12",
  '{"name":',
  '{"name":"a","name":"b"}',
  '{"name":"\\ud800"}',
  '{"name":"\\u0000"}',
  "\ufeff{}",
  `${"[".repeat(60_000)}`,
  JSON.stringify(deep(3_000)),
  `{"name":"${"x".repeat(1_048_600)}"}`,
  new Uint8Array([0xff, 0xfe, 0x00, 0x80]),
  new Uint8Array([...new TextEncoder().encode('{"name":"'), 0xc3, 0x28, 0xff, ...new TextEncoder().encode('"}')]),
];
const CONTENT_TYPES = [
  "application/json",
  "application/json; charset=utf-8",
  "APPLICATION/JSON;x=y",
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/offset+octet-stream",
  "application/",
  ";",
];
const BAD_PATHS = [
  "/v1",
  "/v1/",
  "/v1//projects",
  "/v1/projects/",
  "/v1/%ff",
  "/v1/%00",
  "/v1/projects/%2e%2e%2fusers",
  "/v1/projects/%",
  "/v1/PROJECTS",
  "/v1/uploads",
  "/v1/uploads/..%2f..%2fetc",
  "/files/assets/x/source",
  `/files/assets/${NO_ID}/source?expires=x&signature=%00`,
  `/files/__proto__/${NO_ID}/constructor?expires=99999999999999&signature=x`,
  "/v2/projects",
  `/v1/${"a/".repeat(500)}`,
  `/v1/projects/${"a".repeat(5_000)}`,
];

const hostileText = fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: "binary", maxLength: 40 }));
const hostileValue: fc.Arbitrary<unknown> = fc.oneof(fc.constantFrom(...HOSTILE_VALUES), fc.jsonValue({ maxDepth: 3 }));

/** Numbers for a schema: the bounds of its range, values just outside, and values between. */
function numberOf(schema: JsonSchema): fc.Arbitrary<number> {
  const low = schema.minimum ?? schema.exclusiveMinimum ?? 0;
  const high = schema.maximum ?? 100_000;
  const edges = [low - 1, low, low + 1, high - 1, high, high + 1];
  return fc.oneof(fc.constantFrom(...edges), fc.integer({ min: Math.ceil(low), max: Math.floor(high) }));
}

/** Values that a schema mostly accepts. `$id` stands for an ID from a response. */
function sampleOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(sampleOf));
  switch (schema.type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return numberOf(schema);
    case "number":
      return fc.oneof(numberOf(schema), fc.double({ noNaN: true, min: 0, max: 20 }));
    case "array":
      return fc.array(sampleOf(schema.items ?? {}), { maxLength: 4 });
    case "object":
      return objectOf(schema);
    case "string":
      if (schema.format === "uuid") return fc.oneof({ weight: 4, arbitrary: fc.constant("$id") }, fc.uuid());
      if (schema.pattern) return fc.stringMatching(new RegExp(schema.pattern), { maxLength: 12 });
      return fc.oneof(fc.string({ maxLength: 30 }), fc.string({ unit: "grapheme", minLength: 1, maxLength: 257 }));
    default:
      return hostileValue;
  }
}

/** Objects with the required properties and some others; sometimes one is invalid or unknown. */
function objectOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  const properties = Object.entries(schema.properties ?? {});
  const right = fc.record(Object.fromEntries(properties.map(([name, inner]) => [name, sampleOf(inner)])), {
    requiredKeys: schema.required ?? [],
  });
  const names = [...properties.map(([name]) => name), "extra", "__proto__"];
  const invalid = fc
    .tuple(right, fc.constantFrom(...names), hostileValue)
    .map(([value, name, bad]) => ({ ...(value as object), [name]: bad }));
  return fc.oneof({ weight: 3, arbitrary: right }, { weight: 1, arbitrary: invalid });
}

const jsonBody = (schema: JsonSchema) =>
  fc.oneof(
    { weight: 6, arbitrary: sampleOf(schema).map((value): string | Uint8Array => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_BODIES) },
  );

const pathId: fc.Arbitrary<PathId> = fc.oneof(
  { weight: 6, arbitrary: fc.nat(1_000).map((known) => ({ known })) },
  { weight: 1, arbitrary: fc.constant({ text: NO_ID }) },
  { weight: 1, arbitrary: hostileText.map((text) => ({ text: text.slice(0, 2_000) })) },
);

function queryOf(operation: Operation): fc.Arbitrary<[string, string][]> {
  const known = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
  const one = (name: string, value: fc.Arbitrary<unknown>) =>
    fc
      .oneof({ weight: 3, arbitrary: value.map(String) }, { weight: 1, arbitrary: hostileText })
      .map((text) => [name, text.slice(0, 3_000)] as [string, string]);
  const stray = one("stray", fc.constant("1"));
  const chosen = known.map(({ name, schema, required }) =>
    fc.option(one(name, sampleOf(schema)), { nil: null, freq: required ? 20 : 2 }),
  );
  return fc
    .tuple(fc.tuple(...chosen), fc.oneof({ weight: 20, arbitrary: fc.constant(null) }, stray))
    .map(([pairs, extra]) => [...pairs, extra].filter((pair) => pair !== null));
}

const uploadHeaders = fc.record(
  {
    "Tus-Resumable": fc.oneof({ weight: 8, arbitrary: fc.constant("1.0.0") }, fc.constantFrom("0.2.2", "x")),
    "Upload-Offset": fc.constantFrom("0", "0", "1", "64", "-1", "x", "9".repeat(30), "1.5"),
    "Upload-Checksum": fc.constantFrom("sha1 x", ""),
    "Upload-Length": fc.constantFrom("5", "x"),
  },
  { requiredKeys: ["Tus-Resumable"] },
);
const commonHeaders = fc.record(
  {
    "Idempotency-Key": fc.constantFrom("a", "b", "x".repeat(300), "é\u00a0"),
    "Upload-Metadata": fc.constantFrom("filename YS53YXY=", "filename", "filename ====", "filename Li4vLi4vYQBi,x y z"),
    Range: fc.constantFrom("bytes=0-", "x"),
    Accept: fc.constant("text/html"),
  },
  { requiredKeys: [] },
);

function requestOf(template: string, method: string, operation: Operation): fc.Arbitrary<WildRequest> {
  const isUpload = template.startsWith("/v1/uploads/");
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const body: fc.Arbitrary<string | Uint8Array | null> = schema
    ? jsonBody(schema)
    : isUpload && method === "PATCH"
      ? fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.constant(null))
      : fc.constant(null);
  const type = isUpload ? "application/offset+octet-stream" : "application/json";
  return fc
    .record({
      ids: fc.array(pathId, { minLength: 2, maxLength: 2 }),
      query: queryOf(operation),
      body,
      type: fc.oneof({ weight: 15, arbitrary: fc.constant(type) }, fc.constantFrom(...CONTENT_TYPES)),
      isSigned: fc.integer({ min: 0, max: 29 }).map((n) => n > 0),
      more: isUpload ? uploadHeaders : commonHeaders,
      pick: fc.nat(1_000),
    })
    .map(({ type: contentType, more, ...rest }) => ({
      ...rest,
      method,
      template,
      path: template,
      headers: { ...(rest.body === null ? {} : { "Content-Type": contentType }), ...(more as Record<string, string>) },
    }));
}

const stray: fc.Arbitrary<WildRequest> = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"),
  template: fc.constant(null),
  ids: fc.constant([]),
  path: fc.constantFrom(...BAD_PATHS),
  query: fc.constant([]),
  body: fc.constant(null),
  headers: fc.constant({}),
  isSigned: fc.boolean(),
  pick: fc.constant(0),
});

/** Requests to every operation of the document and to unknown paths. */
export function wildRequests(document: ApiDocument): fc.Arbitrary<WildRequest> {
  const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => requestOf(template, method.toUpperCase(), operation)),
  );
  return fc.oneof({ weight: 20, arbitrary: fc.oneof(...operations) }, { weight: 1, arbitrary: stray });
}
