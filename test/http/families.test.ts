/** The public resources under `/api/v1`: the same handlers with the dashboard family's error shape. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { publicRoutes } from "../../src/http/public";
import { until } from "../until";
import type { CallOptions, Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { NO_ID } from "./outcome";
import type { Asset, Paged } from "./resources";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
beforeAll(async () => {
  server = await harness({ RATE_LIMIT: "6000" });
  anna = await server.user();
});
afterAll(() => server[Symbol.asyncDispose]());

/** Resources that both families have in different forms. */
const DIFFERENT = ["GET /users/me"];
/** Resources that have more fields for the dashboard. */
const EXTENDED = ["GET /credits/history"];

const routes = publicRoutes.map(({ method, path }) => [method, path.replace(/:\w+/g, NO_ID)] as const);

test.each(routes)("%s %s has the status and code of the public family", async (method, path) => {
  const options: CallOptions = method === "GET" || method === "DELETE" ? {} : { json: {} };
  const second = await anna.call<{ code?: string; detail: unknown }>(method, `/api/v1${path}`, options);
  const first = await anna.call<{ error?: { code: string } }>(method, `/v1${path}`, options);
  expect(second.status).toBe(first.status);
  if (DIFFERENT.includes(`${method} ${path}`)) return;
  if (first.status === 200 && EXTENDED.includes(`${method} ${path}`)) expect(second.body).toMatchObject(first.body);
  else if (first.status === 200) expect(second.body).toEqual(first.body as never);
  else if (first.status === 422) expect(second.body.detail).toBeArray();
  else expect(second.body.code).toBe(first.body.error!.code);
  expect(second.headers.get("ratelimit-limit")).toBe("6000");
});

test.each(routes)("%s %s without authentication is refused in the family's error shape", async (method, path) => {
  const { status, body } = await server.nobody.call(method, `/api/v1${path}`);
  expect([status, body]).toEqual([401, { detail: expect.any(String), code: "unauthenticated" }]);
});

test.each([
  ["GET", "/api/v1/nothing"],
  ["GET", "/api/v1"],
  ["PUT", "/api/v1/projects"],
  ["POST", `/api/v1/uploads/${NO_ID}`],
])("%s %s is an unknown path in the family's error shape", async (method, path) => {
  expect(await anna.call(method, path)).toMatchObject({
    status: 404,
    body: { detail: "Path not found.", code: "not_found" },
  });
});

test.each([
  ["/nothing", "Page not found", "Path not found.", "Check the address, or start from the dashboard."],
  [
    `/files/renders/${NO_ID}/file?expires=1&signature=x`,
    "File not available",
    "Download link is invalid or has expired.",
    "Download link is invalid or has expired.",
  ],
  ["/v1/nothing", null, "Path not found.", "Path not found."],
])(
  "%s is a page for a person, where none of a family, and an error for a program",
  async (path, title, message, text) => {
    const page = await server.nobody.call<string>("GET", path, { headers: { Accept: "text/html,*/*;q=0.8" } });
    expect([page.status, page.headers.get("content-type")]).toEqual([
      404,
      expect.stringMatching(title ? /html/ : /json/),
    ]);
    expect(JSON.stringify(page.body)).toContain(title ?? message);
    expect(JSON.stringify(page.body)).toContain(text);
    const { status, body } = await server.nobody.call("GET", path);
    expect([status, body]).toEqual([404, { error: { code: "not_found", message } }]);
  },
);

describe("a failing field has the error type of pydantic v2:", () => {
  type Detail = { loc: string[]; msg: string; type: string; input: unknown; ctx: object };
  const EDIT = { first_name: "a".repeat(121) };
  test.each<[string, string, unknown, Partial<Detail>[]]>([
    ["POST", "/projects", { name: 5 }, [{ loc: ["body", "name"], type: "string_type", input: 5, ctx: {} }]],
    ["POST", "/projects", {}, [{ loc: ["body", "name"], type: "missing", input: null, ctx: {} }]],
    ["POST", "/projects", [], [{ loc: ["body"], type: "model_attributes_type", input: null, ctx: {} }]],
    ["POST", "/projects", { name: "" }, [{ type: "string_too_short", input: "", ctx: { min_length: 1 } }]],
    ["POST", "/projects", { name: "a", more: 1 }, [{ loc: ["body", "more"], type: "extra_forbidden", input: 1 }]],
    ["POST", "/projects", { name: "a".repeat(257) }, [{ type: "string_too_long", ctx: { max_length: 256 } }]],
    ["PATCH", "/users/me", EDIT, [{ loc: ["body", "first_name"], type: "string_too_long", ctx: { max_length: 120 } }]],
    ["PATCH", "/users/me", { last_name: 1 }, [{ loc: ["body", "last_name"], type: "string_type", input: 1 }]],
    [
      "POST",
      "/assets",
      { project_id: "x", size_bytes: 0, language: "eng" },
      [
        { loc: ["body", "project_id"], type: "uuid_parsing", input: "x", ctx: { error: "not a UUID" } },
        { loc: ["body", "size_bytes"], type: "greater_than", input: 0, ctx: { gt: 0 } },
        { loc: ["body", "language"], type: "string_pattern_mismatch", input: "eng" },
      ],
    ],
    ["POST", "/assets", { project_id: NO_ID, size_bytes: 1.5 }, [{ type: "int_from_float", input: 1.5 }]],
    ["POST", "/assets", { project_id: NO_ID, size_bytes: "9" }, [{ type: "int_type", input: "9" }]],
    ["GET", "/projects?limit=0", null, [{ loc: ["query", "limit"], type: "greater_than_equal", ctx: { ge: 1 } }]],
    ["GET", "/projects?limit=101", null, [{ loc: ["query", "limit"], type: "less_than_equal", ctx: { le: 100 } }]],
    ["GET", "/projects?limit=x", null, [{ loc: ["query", "limit"], type: "int_parsing", input: "x", ctx: {} }]],
    ["GET", "/projects?state=x", null, [{ type: "enum", ctx: { expected: "'active' or 'archived'" } }]],
    ["GET", "/projects?cursor=x", null, [{ loc: ["query", "cursor"], type: "value_error", input: null }]],
    ["GET", "/projects/x", null, [{ loc: ["path", "project_id"], type: "uuid_parsing", input: "x" }]],
    ["POST", "/webhook-endpoints", { url: "x", event_types: 1 }, [{ loc: ["body", "event_types"], type: "list_type" }]],
  ])("%s %s %p", async (method, path, json, expected) => {
    const { status, body } = await anna.call<{ detail: Detail[] }>(
      method,
      `/api/v1${path}`,
      json === null ? {} : { json },
    );
    expect([status, Object.keys(body)]).toEqual([422, ["detail"]]);
    expect(body.detail).toMatchObject(expected);
    for (const one of body.detail) expect(Object.keys(one).sort()).toEqual(["ctx", "input", "loc", "msg", "type"]);
  });
});

test("the profile has its own form, and a change of names is shown by both families", async () => {
  const bert = await server.user();
  const read = await bert.must<Record<string, unknown>>("GET", "/api/v1/users/me");
  expect(read).toEqual({
    id: bert.userId,
    email: `${bert.userId}@example.test`,
    first_name: null,
    last_name: null,
    role: "member",
    email_verified_at: null,
    has_password: false,
    two_factor_enabled: false,
    deleted_at: null,
    created_at: expect.any(String),
  });
  const change = (json: object) => bert.must<Record<string, unknown>>("PATCH", "/api/v1/users/me", { json });
  expect(await change({ first_name: "Bert", last_name: "Ö" })).toEqual({ ...read, first_name: "Bert", last_name: "Ö" });
  expect(await change({})).toMatchObject({ first_name: "Bert", last_name: "Ö" });
  expect(await change({ first_name: null })).toMatchObject({ first_name: null, last_name: "Ö" });
  expect(await bert.must("GET", "/v1/users/me")).toMatchObject({ name: "Ö" });
});

/** The field that only this family has. */
const BY_ANNA = { created_by: { id: expect.any(String), name: null } };

test("an upload, a cut and a render are created, retrieved and linked below the second prefix", async () => {
  const project = await anna.call<{ id: string }>("POST", "/api/v1/projects", { json: { name: "P" } });
  expect(project.headers.get("location")).toBe(`/api/v1/projects/${project.body.id}`);

  expect(project.body).toMatchObject(BY_ANNA);
  expect(await anna.must("GET", `/v1/projects/${project.body.id}`)).not.toHaveProperty("created_by");

  const bytes = (await wav(2)) as Uint8Array<ArrayBuffer>;
  const opened = await anna.call<Asset>("POST", "/api/v1/assets", {
    json: { project_id: project.body.id, size_bytes: bytes.length },
  });
  const uploadPath = `/api/v1/uploads/${opened.body.id}`;
  expect(opened.headers.get("location")).toBe(`${server.services().publicUrl()}${uploadPath}`);
  expect(opened.body.upload_url).toBe(opened.headers.get("location"));

  const tus = { "Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream" };
  expect(await anna.call("PATCH", uploadPath)).toMatchObject({ status: 412, body: { code: "precondition_failed" } });
  const other = await server.user();
  const foreign = await other.call("PATCH", uploadPath, { headers: tus, body: bytes });
  expect(foreign).toMatchObject({ status: 404, body: { code: "not_found" } });
  const sent = await anna.call("PATCH", uploadPath, { headers: tus, body: bytes });
  expect([sent.status, sent.headers.get("upload-offset")]).toEqual([204, String(bytes.length)]);
  expect((await anna.call("HEAD", uploadPath, { headers: tus })).status).toBe(200);

  await until(
    "the asset",
    async () => (await anna.must<Asset>("GET", `/api/v1/assets/${opened.body.id}`)).state === "ready",
  );
  for (const kind of ["cuts", "renders"]) {
    const made = await anna.call<{ id: string }>("POST", `/api/v1/${kind}`, { json: { asset_id: opened.body.id } });
    expect([made.status, made.headers.get("location")]).toEqual([201, `/api/v1/${kind}/${made.body.id}`]);
    const listed = await anna.must<Paged<{ id: string }>>("GET", `/api/v1/${kind}?asset_id=${opened.body.id}`);
    expect(listed.items).toMatchObject([{ id: made.body.id, created_by: { id: anna.userId, name: null } }]);
    expect(made.body).toMatchObject(BY_ANNA);
    const [one, same] = [`/v1/${kind}/${made.body.id}`, `/api/v1/${kind}/${made.body.id}`];
    expect(await anna.must("GET", one)).not.toHaveProperty("created_by");
    expect(await anna.must("GET", same)).toMatchObject(BY_ANNA);
  }
});

test("the family has its own OpenAPI document, which describes its mounted routes", async () => {
  const document = await server.nobody.must<{ paths: object; components: { schemas: Record<string, object> } }>(
    "GET",
    "/api/v1/openapi.json",
  );
  const paths = publicRoutes.map(({ path }) => `/api/v1${path.replace(/:(\w+)/g, "{$1}")}`);
  expect(Object.keys(document.paths)).toEqual(expect.arrayContaining([...paths, "/api/v1/uploads/{upload_id}"]));
  const { Error: errors, ...resources } = document.components.schemas;
  expect(errors).toMatchObject({ anyOf: [{ properties: { detail: {}, code: {} } }, { properties: { detail: {} } }] });
  expect(resources.Project).toMatchObject({
    properties: { created_by: {} },
    required: expect.arrayContaining(["created_by"]),
  });
  const { components } = await server.nobody.must<typeof document>("GET", "/openapi.json");
  expect(components.schemas.Project).not.toHaveProperty("properties.created_by");
  expect(resources).toHaveProperty("Profile");
  expect(resources).not.toHaveProperty("User");
});
