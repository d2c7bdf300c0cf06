/** The public resources, mounted a second time under `/api/v1` with another authenticator and the dashboard's error shape. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { AppError, type FieldError } from "../../src/domain/errors";
import { createHandler, type Handler } from "../../src/http/app";
import { family } from "../../src/http/family";
import { publicRoutes } from "../../src/http/public";
import { createRateLimiter } from "../../src/http/rate-limit";
import { getUser } from "../../src/store/users";
import { until } from "../until";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { NO_ID } from "./outcome";
import type { Asset, Paged } from "./resources";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
let handler: Handler;

/** Mounts the public resources for tokens of the form `session <user ID>`. */
const mountDashboard = ({ store, now }: ReturnType<Harness["services"]>) =>
  family({
    prefix: "/api/v1",
    authenticate: async ({ headers }) => {
      const user = await getUser(store.read, headers.get("authorization")?.replace("session ", "") ?? "");
      if (!user) throw new AppError("unauthenticated", "Sign in.");
      return { user, credential: { kind: "session", id: NO_ID, ageMs: now() - user.created_at } };
    },
    errorShape: {
      schema: Type.Object({ detail: Type.Unknown(), code: Type.Optional(Type.String()) }),
      toBody: (code, { message, details: { fields } }) =>
        code === "validation_error" ? { detail: fields?.map(toDetail) } : { detail: message, code },
    },
    rateLimit: createRateLimiter(6_000),
    routes: publicRoutes,
  });

const toDetail = ({ field, message: msg, type, input }: FieldError) => ({
  loc: field.split("."),
  msg,
  type,
  input,
  ctx: {},
});

beforeAll(async () => {
  server = await harness();
  anna = await server.user();
  handler = createHandler(server.services(), [mountDashboard(server.services())]);
});
afterAll(() => server[Symbol.asyncDispose]());

type Called<T> = { status: number; headers: Headers; body: T };

/** Calls the second family as the user, or without authentication. */
async function call<T = unknown>(
  method: string,
  path: string,
  init: RequestInit = {},
  user = anna.userId,
): Promise<Called<T>> {
  const headers = { ...(user && { Authorization: `session ${user}` }), ...(init.headers as Record<string, string>) };
  const response = await handler(new Request(`http://offcut.test${path}`, { ...init, method, headers }));
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as T };
}

const json = (value: unknown, headers: Record<string, string> = {}): RequestInit => ({
  body: JSON.stringify(value),
  headers: { "Content-Type": "application/json", ...headers },
});

const routes = publicRoutes.map(({ method, path }) => [method, path.replace(/:\w+/g, NO_ID)] as const);

test.each(routes)("%s %s has the status and code of the public family", async (method, path) => {
  const init = method === "GET" || method === "DELETE" ? {} : json({});
  const second = await call<{ code?: string; detail: unknown }>(method, `/api/v1${path}`, init);
  const first = await anna.call<{ error?: { code: string } }>(method, `/v1${path}`, init as Record<string, string>);
  expect(second.status).toBe(first.status);
  if (first.status === 200) expect(second.body).toEqual(first.body as never);
  else if (first.status === 422) expect(second.body.detail).toBeArray();
  else expect(second.body.code).toBe(first.body.error!.code);
  expect(second.headers.get("ratelimit-limit")).toBe("6000");
});

test.each(routes)("%s %s without a session is refused in the family's error shape", async (method, path) => {
  const { status, body } = await call(method, `/api/v1${path}`, {}, "");
  expect([status, body]).toEqual([401, { detail: "Sign in.", code: "unauthenticated" }]);
});

test.each([
  ["GET", "/api/v1/nothing"],
  ["GET", "/api/v1"],
  ["PUT", "/api/v1/projects"],
  ["POST", `/api/v1/uploads/${NO_ID}`],
])("%s %s is an unknown path in the family's error shape", async (method, path) => {
  expect(await call(method, path)).toMatchObject({
    status: 404,
    body: { detail: "Path not found.", code: "not_found" },
  });
});

test("validation errors name their location as the dashboard expects it", async () => {
  const { status, body } = await call("POST", "/api/v1/projects", json({ name: 5, more: 1 }));
  const detail = [
    { loc: ["body", "more"], msg: "is not a known property", type: "extra_forbidden", input: 1, ctx: {} },
    { loc: ["body", "name"], msg: expect.any(String), type: "string_type", input: 5, ctx: {} },
  ];
  expect([status, body]).toEqual([422, { detail: expect.arrayContaining(detail) }]);
});

test("an upload, a cut and a render are created, retrieved and linked below the second prefix", async () => {
  const project = await call<{ id: string }>("POST", "/api/v1/projects", json({ name: "P" }));
  expect(project.headers.get("location")).toBe(`/api/v1/projects/${project.body.id}`);

  const bytes = (await wav(2)) as Uint8Array<ArrayBuffer>;
  const opened = await call<Asset>(
    "POST",
    "/api/v1/assets",
    json({ project_id: project.body.id, size_bytes: bytes.length }),
  );
  const uploadPath = `/api/v1/uploads/${opened.body.id}`;
  expect(opened.headers.get("location")).toBe(`${server.services().publicUrl()}${uploadPath}`);
  expect(opened.body.upload_url).toBe(opened.headers.get("location"));

  const tus = { "Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream" };
  expect(await call("PATCH", uploadPath, { headers: {} })).toMatchObject({
    status: 412,
    body: { code: "precondition_failed" },
  });
  const other = await server.user();
  const foreign = await call("PATCH", uploadPath, { headers: tus, body: bytes }, other.userId);
  expect(foreign).toMatchObject({ status: 404, body: { code: "not_found" } });
  const sent = await call("PATCH", uploadPath, { headers: tus, body: bytes });
  expect([sent.status, sent.headers.get("upload-offset")]).toEqual([204, String(bytes.length)]);
  expect((await call("HEAD", uploadPath, { headers: tus })).status).toBe(200);

  await until(
    "the asset",
    async () => (await call<Asset>("GET", `/api/v1/assets/${opened.body.id}`)).body.state === "ready",
  );
  for (const kind of ["cuts", "renders"]) {
    const made = await call<{ id: string }>("POST", `/api/v1/${kind}`, json({ asset_id: opened.body.id }));
    expect([made.status, made.headers.get("location")]).toEqual([201, `/api/v1/${kind}/${made.body.id}`]);
    const listed = await call<Paged<{ id: string }>>("GET", `/api/v1/${kind}?asset_id=${opened.body.id}`);
    expect(listed.body.items.map(({ id }) => id)).toEqual([made.body.id]);
  }
});

test("the family has its own OpenAPI document", async () => {
  const { body } = await call<{ paths: object; components: { schemas: { Error: object } } }>(
    "GET",
    "/api/v1/openapi.json",
  );
  const paths = [...new Set(publicRoutes.map(({ path }) => path.replace(/:(\w+)/g, "{$1}"))), "/uploads/{upload_id}"];
  expect(Object.keys(body.paths)).toEqual(paths.map((path) => `/api/v1${path}`));
  expect(body.components.schemas.Error).toHaveProperty("properties.detail");
});
