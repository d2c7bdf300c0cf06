/** The comparison of two OpenAPI documents: which changes are breaking, and that each is named once. */
import { describe, expect, test } from "bun:test";
import { type ComparedDocument, compareDocuments } from "./openapi-diff";

type Json = Record<string, unknown>;

const REQUEST = {
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: {
    name: { type: "string", minLength: 1, maxLength: 256, description: "the name" },
    mode: { type: "string", enum: ["tight", "loose"], pattern: "^(tight|loose)$", default: "tight" },
    note: { anyOf: [{ type: "string" }, { type: "null" }] },
    count: { type: "integer", minimum: 1, maximum: 10 },
    list: { type: "array", maxItems: 5, items: { type: "object", properties: { at: { type: "number" } } } },
  },
};

const tagged = (type: string, note: string) => ({
  type: "object",
  properties: { type: { type: "string", const: type }, note: { type: note } },
});

const THING = {
  type: "object",
  required: ["id", "state"],
  properties: {
    id: { type: "string", format: "uuid" },
    state: { type: "string", enum: ["pending", "done"] },
    share: { anyOf: [{ type: "number", minimum: 0, maximum: 1 }, { type: "null" }] },
    part: { $ref: "#/components/schemas/Part" },
    event: { anyOf: [tagged("made", "string")] },
  },
};

const content = (schema: unknown) => ({ "application/json": { schema } });
const THING_REF = { $ref: "#/components/schemas/Thing" };

const DOCUMENT = {
  info: { description: "The guide" },
  security: [{ apiKey: [] }],
  paths: {
    "/v1/things": {
      get: {
        operationId: "getThings",
        summary: "List",
        parameters: [
          { name: "limit", in: "query", required: false, schema: { type: "integer", maximum: 100, default: 20 } },
          { name: "state", in: "query", required: false, schema: { type: "string", enum: ["pending", "done"] } },
        ],
        responses: {
          200: {
            headers: { "X-Request-Id": { schema: { type: "string" } } },
            content: content({ type: "object", properties: { items: { type: "array", items: THING_REF } } }),
          },
          404: { content: content({ type: "object" }) },
        },
      },
      post: {
        operationId: "postThings",
        requestBody: { required: true, content: content(REQUEST) },
        responses: { 201: { content: content(THING_REF) } },
      },
    },
    "/v1/open": { get: { operationId: "getOpen", security: [], responses: { 204: {} } } },
  },
  components: {
    schemas: {
      Thing: THING,
      Part: { type: "object", properties: { whole: { anyOf: [THING_REF, { type: "null" }] } } },
    },
    securitySchemes: { apiKey: { type: "http", scheme: "bearer" } },
  },
};

/** Returns the document with one value replaced, or removed if it is undefined. A dot in a name is written as `~`. */
function change(path: string, value?: unknown): ComparedDocument {
  const copy = structuredClone(DOCUMENT) as unknown as Json;
  const names = path.split(".").map((name) => name.replaceAll("~", "."));
  const last = names.pop()!;
  let place = copy;
  for (const name of names) place = place[name] as Json;
  if (value === undefined && Array.isArray(place)) place.splice(Number(last), 1);
  else if (value === undefined) delete place[last];
  else place[last] = value;
  return copy as ComparedDocument;
}

const describeChanges = (before: ComparedDocument, after: ComparedDocument) =>
  compareDocuments(before, after).map(({ kind, what }) => `${kind}: ${what}`);

const POST = "paths./v1/things.post";
const BODY = `${POST}.requestBody.content.application/json.schema`;
const GET = "paths./v1/things.get";
const SCHEMA = "components.schemas.Thing";

const POST_REQUEST = "POST /v1/things request";

/** The change, its description, and the description of its reverse. */
const CASES: [title: string, after: ComparedDocument, forward: string[], backward: string[]][] = [
  ["a path", change("paths./v1/open"), ["breaking: /v1/open: path removed"], ["additive: GET /v1/open: added"]],
  ["a method", change(POST), ["breaking: POST /v1/things: method removed"], ["additive: POST /v1/things: added"]],
  [
    "an operation ID",
    change(`${GET}.operationId`, "list"),
    ["breaking: GET /v1/things: operation ID changed from getThings to list"],
    ["breaking: GET /v1/things: operation ID changed from list to getThings"],
  ],
  [
    "a parameter",
    change(`${GET}.parameters.1`),
    ["breaking: GET /v1/things query state: parameter removed"],
    ["additive: GET /v1/things query state: parameter added"],
  ],
  [
    "a required parameter",
    change(`${GET}.parameters.1.required`, true),
    ["breaking: GET /v1/things query state: is now required"],
    ["additive: GET /v1/things query state: is now optional"],
  ],
  [
    "the default of a parameter",
    change(`${GET}.parameters.0.schema.default`, 50),
    ["breaking: GET /v1/things query limit: default changed from 20 to 50"],
    ["breaking: GET /v1/things query limit: default changed from 50 to 20"],
  ],
  [
    "an enum value of a parameter",
    change(`${GET}.parameters.1.schema.enum`, ["done"]),
    ['breaking: GET /v1/things query state: value "pending" removed'],
    ['additive: GET /v1/things query state: value "pending" added'],
  ],
  [
    "a request property",
    change(`${BODY}.properties.note`),
    [`breaking: ${POST_REQUEST} note: property removed`],
    [`additive: ${POST_REQUEST} note: property added`],
  ],
  [
    "an enum value of a request, with its pattern",
    change(`${BODY}.properties.mode`, { ...REQUEST.properties.mode, enum: ["tight"], pattern: "^(tight)$" }),
    [`breaking: ${POST_REQUEST} mode: value "loose" removed`],
    [`additive: ${POST_REQUEST} mode: value "loose" added`],
  ],
  [
    "a required request property",
    change(`${BODY}.required`, ["name", "count"]),
    [`breaking: ${POST_REQUEST} count: is now required`],
    [`additive: ${POST_REQUEST} count: is now optional`],
  ],
  [
    "a type of a request",
    change(`${BODY}.properties.count`, { type: "string" }),
    [`breaking: ${POST_REQUEST} count: type changed from integer to string`],
    [`breaking: ${POST_REQUEST} count: type changed from string to integer`],
  ],
  [
    "null in a request",
    change(`${BODY}.properties.note`, { type: "string" }),
    [`breaking: ${POST_REQUEST} note: type null removed`],
    [`additive: ${POST_REQUEST} note: type null added`],
  ],
  [
    "a limit of a request",
    change(`${BODY}.properties.name.maxLength`, 100),
    [`breaking: ${POST_REQUEST} name: maxLength changed from 256 to 100`],
    [`additive: ${POST_REQUEST} name: maxLength changed from 100 to 256`],
  ],
  [
    "a lower limit of a request",
    change(`${BODY}.properties.count.minimum`),
    [`additive: ${POST_REQUEST} count: minimum changed from 1 to none`],
    [`breaking: ${POST_REQUEST} count: minimum changed from none to 1`],
  ],
  [
    "a format of a request",
    change(`${BODY}.properties.name.format`, "email"),
    [`breaking: ${POST_REQUEST} name: format changed from none to "email"`],
    [`additive: ${POST_REQUEST} name: format changed from "email" to none`],
  ],
  [
    "a property of list items in a request",
    change(`${BODY}.properties.list.items.properties.at`),
    [`breaking: ${POST_REQUEST} list[].at: property removed`],
    [`additive: ${POST_REQUEST} list[].at: property added`],
  ],
  [
    "other properties of a request",
    change(`${BODY}.additionalProperties`),
    [`additive: ${POST_REQUEST}: other properties are allowed`],
    [`breaking: ${POST_REQUEST}: other properties are refused`],
  ],
  [
    "a request body",
    change(`${POST}.requestBody`),
    ["breaking: POST /v1/things: request body removed"],
    ["breaking: POST /v1/things: request body added"],
  ],
  [
    "a content type of a request",
    change(`${POST}.requestBody.content`, { "text/plain": { schema: { type: "string" } } }),
    [
      `breaking: ${POST_REQUEST}: content type application/json removed`,
      `additive: ${POST_REQUEST}: content type text/plain added`,
    ],
    [
      `breaking: ${POST_REQUEST}: content type text/plain removed`,
      `additive: ${POST_REQUEST}: content type application/json added`,
    ],
  ],
  [
    "a property of a schema that two responses use",
    change(`${SCHEMA}.properties.share`),
    ["breaking: schema Thing share: property removed"],
    ["additive: schema Thing share: property added"],
  ],
  [
    "a response property that is always there",
    change(`${SCHEMA}.required`, ["id"]),
    ["breaking: schema Thing state: is now optional"],
    ["additive: schema Thing state: is now required"],
  ],
  [
    "an enum value of a response",
    change(`${SCHEMA}.properties.state.enum`, ["pending", "done", "failed"]),
    ['additive: schema Thing state: value "failed" added'],
    ['additive: schema Thing state: value "failed" removed'],
  ],
  [
    "a variant of a tagged union of a response",
    change(`${SCHEMA}.properties.event.anyOf`, [tagged("made", "string"), tagged("gone", "string")]),
    ['additive: schema Thing event: variant "gone" added'],
    ["additive: schema Thing event: type object removed"],
  ],
  [
    "a property of a variant of a tagged union of a response",
    change(`${SCHEMA}.properties.event.anyOf`, [tagged("made", "integer")]),
    ["breaking: schema Thing event.note: type changed from string to integer"],
    ["breaking: schema Thing event.note: type changed from integer to string"],
  ],
  [
    "null in a response",
    change(`${SCHEMA}.properties.share`, { type: "number", minimum: 0, maximum: 1 }),
    ["additive: schema Thing share: type null removed"],
    ["breaking: schema Thing share: type null added"],
  ],
  [
    "a bound of a response",
    change(`${SCHEMA}.properties.share.anyOf.0.maximum`, 100),
    ["breaking: schema Thing share: maximum changed from 1 to 100"],
    ["additive: schema Thing share: maximum changed from 100 to 1"],
  ],
  [
    "the format of a response",
    change(`${SCHEMA}.properties.id.format`),
    ['breaking: schema Thing id: format changed from "uuid" to none'],
    ['additive: schema Thing id: format changed from none to "uuid"'],
  ],
  [
    "anything instead of a type in a response",
    change(`${SCHEMA}.properties.id`, {}),
    ["breaking: schema Thing id: type changed from string to any"],
    ["additive: schema Thing id: type changed from any to string"],
  ],
  [
    "a successful status",
    change(`${POST}.responses`, { 200: { content: content(THING_REF) } }),
    ["breaking: POST /v1/things 201: response removed", "additive: POST /v1/things 200: response added"],
    ["breaking: POST /v1/things 200: response removed", "additive: POST /v1/things 201: response added"],
  ],
  [
    "an error",
    change(`${GET}.responses.404`),
    ["additive: GET /v1/things 404: response removed"],
    ["additive: GET /v1/things 404: response added"],
  ],
  [
    "a response header",
    change(`${GET}.responses.200.headers.X-Request-Id`),
    ["breaking: GET /v1/things 200 header X-Request-Id: removed"],
    ["additive: GET /v1/things 200 header X-Request-Id: added"],
  ],
  [
    "authentication of one operation",
    change("paths./v1/open.get.security"),
    ["breaking: GET /v1/open: needs authentication"],
    ["additive: GET /v1/open: needs no authentication"],
  ],
  [
    "an unknown keyword",
    change(`${SCHEMA}.properties.id.contentEncoding`, "base64"),
    ['breaking: schema Thing id: contentEncoding changed from none to "base64"'],
    ['breaking: schema Thing id: contentEncoding changed from "base64" to none'],
  ],
];

describe("a change is named, and so is its reverse:", () => {
  test.each(CASES)("%s", (_, after, forward, backward) => {
    expect(describeChanges(DOCUMENT as ComparedDocument, after)).toEqual(forward);
    expect(describeChanges(after, DOCUMENT as ComparedDocument)).toEqual(backward);
  });
});

test("nothing changed in a copy, nor in one with other texts and another order of keys", () => {
  expect(compareDocuments(DOCUMENT as ComparedDocument, structuredClone(DOCUMENT) as ComparedDocument)).toEqual([]);
  const texts = change(`${BODY}.properties.name`, {
    maxLength: 256,
    description: "another text",
    type: "string",
    minLength: 1,
  });
  expect(compareDocuments(DOCUMENT as ComparedDocument, texts)).toEqual([]);
});

test("a property named like a text keyword is a property", () => {
  const described = change(`${SCHEMA}.properties.description`, { type: "string" });
  expect(describeChanges(DOCUMENT as ComparedDocument, described)).toEqual([
    "additive: schema Thing description: property added",
  ]);
});

test("schemas and ways to authenticate cannot be renamed silently", () => {
  const renamed = JSON.parse(
    JSON.stringify(DOCUMENT).replaceAll("schemas/Part", "schemas/Piece").replace('"Part"', '"Piece"'),
  );
  expect(describeChanges(DOCUMENT as ComparedDocument, renamed)).toEqual([
    "breaking: schema Part: removed",
    "additive: schema Piece: added",
  ]);
  const other = change("components.securitySchemes.apiKey", { type: "http", scheme: "basic" });
  expect(describeChanges(DOCUMENT as ComparedDocument, other)).toEqual(["breaking: authentication apiKey: changed"]);
});
