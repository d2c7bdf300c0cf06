/** Spellings of paths: every path has one, except those that people type. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type IncomingMessage, request } from "node:http";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { NO_ID } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
beforeAll(async () => {
  server = await harness();
  anna = await server.user();
});
afterAll(() => server[Symbol.asyncDispose]());

const MESSAGE = "Path not found.";
const PUBLIC = { error: { code: "not_found", message: MESSAGE } };
const DASHBOARD = { detail: MESSAGE, code: "not_found" };
const OAUTH = { error: "not_found", error_description: MESSAGE };

describe("an unknown path is 404 in the error shape of its family", () => {
  test.each<[string, string, object]>([
    ["GET", "/v1/projects/", PUBLIC],
    ["POST", "/v1/projects/", PUBLIC],
    ["GET", `/v1/projects/${NO_ID}/`, PUBLIC],
    ["GET", "/v1/users/me/", PUBLIC],
    ["GET", "/v1/", PUBLIC],
    ["HEAD", "/v1/uploads/", PUBLIC],
    ["OPTIONS", `/v1/uploads/${NO_ID}/`, PUBLIC],
    ["GET", "/v1//projects", PUBLIC],
    ["GET", "/v1/projects//", PUBLIC],
    ["GET", "/v1%2Fprojects", PUBLIC],
    ["GET", "/v1/projects%2F", PUBLIC],
    ["GET", "/v1/users%2Fme", PUBLIC],
    ["GET", "/V1/projects", PUBLIC],
    ["GET", "/v1/Projects", PUBLIC],
    ["GET", "/api/v1/projects/", DASHBOARD],
    ["GET", "/api/v1//projects", DASHBOARD],
    ["GET", "/api/v1/users%2Fme", DASHBOARD],
    ["GET", "/api/v1/PROJECTS", DASHBOARD],
    ["POST", "/api/v1/assets/upload-resumable/", DASHBOARD],
    ["GET", "/api/v1/openapi.json/", DASHBOARD],
    ["GET", "/api-keys/", PUBLIC],
    ["GET", "/oauth/device/code/", OAUTH],
    ["POST", "/oauth/device/token/", OAUTH],
    ["GET", "/openapi.json/", PUBLIC],
    ["GET", "/healthz/", PUBLIC],
    ["GET", "/readyz/", PUBLIC],
    ["GET", "/Healthz", PUBLIC],
    ["GET", "/.well-known/oauth-authorization-server/", PUBLIC],
    ["GET", "/docs/swagger-ui.js/", PUBLIC],
    ["GET", "/standalone.css/", PUBLIC],
    ["GET", "/docs//", PUBLIC],
    ["GET", `/files/assets/${NO_ID}/source/`, PUBLIC],
  ])("%s %s", async (method, path, body) => {
    const reply = await anna.call(method, path);
    expect([reply.status, reply.body]).toEqual([404, method === "HEAD" ? "" : body] as never);
  });
});

test.each(["%2F", "..%2F..", "%00", "a%2Fb"])("an escaped ID is one parameter: %s", async (id) => {
  expect(await anna.call("GET", `/v1/projects/${id}`)).toMatchObject({
    status: 422,
    body: { error: { code: "validation_error" } },
  });
});

test.each([
  "/",
  "/projects",
  "/projects/",
  `/projects/${NO_ID}/`,
  "/sign-in/",
  "/admin/users/",
  "/oauth/device",
  "/oauth/device/",
  "/docs",
  "/docs/",
])("a page has its address with and without a slash at its end: %s", async (path) => {
  const { status, headers } = await anna.call("GET", path, { headers: { Accept: "text/html" } });
  expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
});

test.each(["/projects//", "/Projects", "/projects%2F"])("another spelling is not a page: %s", async (path) => {
  expect((await anna.call("GET", path, { headers: { Accept: "text/html" } })).status).toBe(404);
});

test.each(["//v1/projects", "//projects", "//", "//healthz"])(
  "two slashes at the start are not one: %s",
  async (path) => {
    const { hostname, port } = new URL(server.url());
    const headers = { Authorization: `Bearer ${anna.key}` };
    // `fetch` sends one slash.
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    request({ hostname, port, path, headers }, resolve).on("error", reject).end();
    const response = await promise;
    response.resume();
    expect(response.statusCode).toBe(404);
  },
);
