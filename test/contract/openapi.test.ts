/** The OpenAPI document: valid OpenAPI 3.1, describes the mounted routes, and generates a working typed client. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { publicRoutes } from "../../src/http/public";
import { type Harness, harness } from "../http/harness";
import { video } from "../http/media";
import { NO_ID } from "../http/outcome";
import { compileClient } from "./generated-client";
import type { ApiDocument, JsonSchema, Operation } from "./response-checks";

setDefaultTimeout(60_000);

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
const UPLOADS = ["OPTIONS", "HEAD", "PATCH", "DELETE"].map((method) => `${method} /v1/uploads/{upload_id}`);

type Whole = ApiDocument & {
  info: { title: string; version: string };
  security: Record<string, unknown>[];
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, unknown> };
};

let server: Harness;
let document: Whole;
beforeAll(async () => {
  server = await harness();
  document = (await server.nobody.call<Whole>("GET", "/openapi.json")).body;
});
afterAll(() => server[Symbol.asyncDispose]());

const operations = (): [call: string, path: string, operation: Operation & { operationId: string }][] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, Operation & { operationId: string }] => [
      `${method.toUpperCase()} ${path}`,
      path,
      operation as Operation & { operationId: string },
    ]),
  );

/** Yields every object in a value with its path. */
function* objectsIn(value: unknown, at = "#"): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [at, value as Record<string, unknown>];
  for (const [key, inner] of Object.entries(value)) yield* objectsIn(inner, `${at}/${key}`);
}

describe("the document", () => {
  test("is OpenAPI 3.1 with a title, version 0.0.0 and API key security", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: "Offcut", version: "0.0.0" });
    for (const needed of document.security) {
      for (const name of Object.keys(needed)) expect(document.components.securitySchemes).toHaveProperty(name);
    }
  });

  test("has operations with unique IDs, path parameters and described responses", () => {
    const ids = operations().map(([, , operation]) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [call, path, operation] of operations()) {
      const inPath = (operation.parameters ?? []).filter((one) => one.in === "path");
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
      expect([call, inPath.map((one) => one.name).toSorted()]).toEqual([call, named.toSorted()]);
      expect([call, inPath.every((one) => one.required)]).toEqual([call, true]);
      const names = (operation.parameters ?? []).map((one) => `${one.in} ${one.name}`);
      expect([call, new Set(names).size]).toEqual([call, names.length]);
      for (const [status, answer] of Object.entries(operation.responses)) {
        expect([call, status]).toEqual([call, expect.stringMatching(/^[2-5]\d\d$/)]);
        expect([call, answer.description]).toEqual([call, expect.stringMatching(/./)]);
      }
    }
  });

  test("has JSON Schema 2020-12 schemas whose references and required fields exist", () => {
    for (const [at, one] of objectsIn({ paths: document.paths, components: document.components })) {
      if (typeof one.$ref === "string") {
        const name = /^#\/components\/schemas\/(\w+)$/.exec(one.$ref)?.[1];
        expect([at, Object.keys(document.components.schemas)]).toEqual([at, expect.arrayContaining([name])]);
      }
      const isSchema = /\/(schema|schemas\/\w+|items|properties\/\w+|anyOf\/\d+)$/.test(at);
      if (!isSchema || at.endsWith("/properties")) continue;
      const types = [one.type ?? []].flat();
      expect([at, types.filter((type) => !TYPES.includes(String(type)))]).toEqual([at, []]);
      expect([at, "nullable" in one]).toEqual([at, false]);
      const properties = Object.keys((one.properties as object | undefined) ?? {});
      const missing = ((one.required as string[] | undefined) ?? []).filter((name) => !properties.includes(name));
      expect([at, missing]).toEqual([at, []]);
      if (typeof one.pattern === "string") new RegExp(one.pattern, "u");
    }
  });

  test("has a valid example for every POST body", async () => {
    const user = await server.user();
    for (const [call, path, operation] of operations()) {
      const content = operation.requestBody?.content["application/json"];
      if (!content || !call.startsWith("POST")) continue;
      expect([call, content.example]).toEqual([call, expect.anything()]);
      const reply = await user.call("POST", path.replace(/\{\w+\}/g, NO_ID), { json: content.example });
      expect([call, [200, 201, 404, 422].includes(reply.status)]).toEqual([call, true]);
      // The resources in the examples do not exist, but their fields are valid. The example host does not resolve.
      const fields = reply.status === 422 ? JSON.stringify(reply.body) : "";
      if (!path.includes("webhook")) expect([call, fields]).toEqual([call, ""]);
    }
  });
});

describe("a mounted route", () => {
  const mounted = () => publicRoutes.map((route) => `${route.method} /v1${route.path.replace(/:(\w+)/g, "{$1}")}`);

  test("is documented", () => {
    expect(
      operations()
        .map(([call]) => call)
        .toSorted(),
    ).toEqual([...mounted(), ...UPLOADS].toSorted());
  });

  test("is a 401 without a key, and a 404 with any other method", async () => {
    for (const path of Object.keys(document.paths)) {
      const at = path.replace(/\{\w+\}/g, NO_ID);
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
        const isDocumented = operations().some(([call]) => call === `${method} ${path}`);
        const isUpload = path.startsWith("/v1/uploads");
        const headers: Record<string, string> = isUpload ? { "Tus-Resumable": "1.0.0" } : {};
        const { status } = await server.nobody.call(method, at, { headers });
        expect([method, path, status]).toEqual([method, path, isDocumented ? 401 : 404]);
      }
    }
  });
});

const CLIENT = `
import createClient from "openapi-fetch";
import type { components, paths } from "./api";

type Failure = components["schemas"]["Error"];

function must<T>(reply: { data?: T; error?: Failure; response: Response }): T {
  if (reply.data === undefined) throw new Error(\`\${reply.response.status} \${reply.error?.error.code}\`);
  return reply.data;
}

async function until<T extends { state: string }>(state: T["state"], read: () => Promise<T>): Promise<T> {
  for (let tries = 0; tries < 500; tries++) {
    const current = await read();
    if (current.state === state) return current;
    if (current.state === "failed") throw new Error(JSON.stringify(current));
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  throw new Error("it takes too long");
}

export async function mainJob(baseUrl: string, key: string, bytes: Uint8Array<ArrayBuffer>) {
  const api = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${key}\` } });
  const project = must(await api.POST("/v1/projects", { body: { name: "Typed" } }));
  const opened = must(await api.POST("/v1/assets", { body: { project_id: project.id, size_bytes: bytes.length } }));
  const sent = await api.PATCH("/v1/uploads/{upload_id}", {
    params: { path: { upload_id: opened.id }, header: { "Tus-Resumable": "1.0.0", "Upload-Offset": "0" } },
    headers: { "Content-Type": "application/offset+octet-stream" },
    body: "",
    bodySerializer: () => bytes,
  });
  if (sent.response.status !== 204) throw new Error(\`upload: \${sent.response.status}\`);
  const asset = await until("ready", async () =>
    must(await api.GET("/v1/assets/{asset_id}", { params: { path: { asset_id: opened.id } } })),
  );
  const begun = must(await api.POST("/v1/cuts", { body: { asset_id: asset.id, options: { mode: "tight" } } }));
  const cut = await until("completed", async () =>
    must(await api.GET("/v1/cuts/{cut_id}", { params: { path: { cut_id: begun.id } } })),
  );
  const asked = must(
    await api.POST("/v1/renders", { body: { asset_id: asset.id, cut_id: cut.id, output: { format: "mp4" } } }),
  );
  const render = await until("completed", async () =>
    must(await api.GET("/v1/renders/{render_id}", { params: { path: { render_id: asked.id } } })),
  );
  const { items } = must(await api.GET("/v1/renders", { params: { query: { cut_id: cut.id, limit: 1 } } }));
  const kept: number = cut.plan?.kept_duration ?? 0;
  return { listed: items[0]?.id === render.id, kept, source: asset.duration_seconds, link: render.download_url };
}
`;

const MISTAKES = `
import createClient from "openapi-fetch";
import type { paths } from "./api";
const api = createClient<paths>({ baseUrl: "" });
// @ts-expect-error: unknown path
await api.GET("/v1/nothing");
// @ts-expect-error: name is required
await api.POST("/v1/projects", { body: {} });
// @ts-expect-error: unknown state
await api.GET("/v1/projects", { params: { query: { state: "gone" } } });
`;

test("a generated client compiles, reports type errors, and runs the main workflow", async () => {
  await using compiled = await compileClient<{
    mainJob(
      url: string,
      key: string,
      bytes: Uint8Array,
    ): Promise<{ listed: boolean; kept: number; source: string; link: string }>;
  }>(document, { "client.ts": CLIENT, "mistakes.ts": MISTAKES });
  const user = await server.user();
  const done = await compiled.client.mainJob(server.url(), user.key!, await video(4));
  expect(done).toMatchObject({ listed: true, source: "4" });
  expect(done.kept).toBeGreaterThan(0);
  expect(done.kept).toBeLessThan(4);
  expect((await fetch(done.link)).status).toBe(200);
});
