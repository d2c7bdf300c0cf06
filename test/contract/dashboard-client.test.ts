/**
 * A typed client of the dashboard family, generated from its document: compiles, reports type errors, and works with a
 * session.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { emailOf, PASSWORD, startSession, withPassword } from "../http/accounts";
import { harness } from "../http/harness";
import { wav } from "../http/media";
import { compileClient } from "./generated-client";

setDefaultTimeout(60_000);

const CLIENT = `
import createClient from "openapi-fetch";
import type { components, paths } from "./api";

type Failure = components["schemas"]["Error"];

function must<T>(reply: { data?: T; error?: Failure; response: Response }): T {
  if (reply.data === undefined) throw new Error(\`\${reply.response.status} \${JSON.stringify(reply.error)}\`);
  return reply.data;
}

async function until<T>(read: () => Promise<T>, isDone: (value: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 500; tries++) {
    const value = await read();
    if (isDone(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  throw new Error("it takes too long");
}

/** Uploads through a signed link and runs a chain. */
export async function produce(baseUrl: string, token: string, bytes: Uint8Array<ArrayBuffer>) {
  const api = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${token}\` } });
  const { asset, upload } = must(await api.POST("/api/v1/assets/upload-url", { body: { type: "audio" } }));
  const sent = await fetch(upload.url, { method: upload.method, headers: upload.headers, body: bytes });
  if (!sent.ok) throw new Error(\`upload: \${sent.status}\`);
  const at = { params: { path: { asset_id: asset.id } } };
  await until(async () => must(await api.GET("/api/v1/assets/{asset_id}", at)), ({ state }) => state === "ready");

  const steps = [
    { processor_name: "cut" as const, params: { options: { mode: "tight" as const } } },
    { processor_name: "render" as const, params: { output: { format: "mp3" as const } } },
  ];
  const { id } = must(await api.POST("/api/v1/pipelines", { body: { input_asset_id: asset.id, steps } }));
  const path = { params: { path: { pipeline_id: id } } };
  const ended = await until(
    async () => must(await api.GET("/api/v1/pipelines/{pipeline_id}", path)),
    ({ finished_at }) => finished_at !== null,
  );
  const balance = must(await api.GET("/api/v1/credits/balance"));
  const notifications = must(await api.GET("/api/v1/notifications", { params: { query: { unread: "true" } } }));
  const { items: grid } = must(await api.GET("/api/v1/notifications/preferences"));
  const { items: prices } = must(await api.GET("/api/v1/billing/prices"));
  const requested = must(await api.POST("/api/v1/users/me/export"));
  return {
    state: ended.state,
    outputs: ended.steps.filter(({ output_asset_id }) => output_asset_id !== null).length,
    held: balance.total_held,
    unread: notifications.unread_count,
    preferences: grid.length > 0,
    prices: prices.length,
    exported: requested.type,
  };
}

export async function visit(baseUrl: string, email: string, password: string) {
  const open = createClient<paths>({ baseUrl, headers: { Origin: baseUrl } });
  const entered = must(await open.POST("/api/v1/auth/login", { body: { email, password } }));
  if (!("token" in entered)) throw new Error("a second factor is needed");
  const api = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${entered.token}\` } });

  const me = must(await api.PATCH("/api/v1/users/me", { body: { first_name: "Ada", last_name: null } }));
  const workspace = must(await api.POST("/api/v1/workspaces", { body: { name: "Studio" } }));
  const project = must(
    await api.POST("/api/v1/projects", {
      body: { name: "Typed" },
      params: { header: { "Offcut-Workspace": workspace.id } },
    }),
  );
  const author: string | null | undefined = project.created_by?.name;
  const elsewhere = await api.GET("/api/v1/projects/{project_id}", { params: { path: { project_id: project.id } } });
  const sessions = must(await api.GET("/api/v1/sessions", { params: { query: { limit: 5, offset: 0 } } }));
  const left = await api.POST("/api/v1/auth/logout");
  return {
    name: me.first_name,
    author,
    elsewhere: elsewhere.response.status,
    sessions: sessions.total,
    current: sessions.items[0]?.is_current,
    left: left.response.status,
  };
}
`;

const MISTAKES = `
import createClient from "openapi-fetch";
import type { paths } from "./api";
const api = createClient<paths>({ baseUrl: "" });
// @ts-expect-error: the path belongs to the other family
await api.GET("/v1/projects");
// @ts-expect-error: password is required
await api.POST("/api/v1/auth/login", { body: { email: "a@example.test" } });
// @ts-expect-error: unknown role
await api.PATCH("/api/v1/admin/users/{user_id}", { params: { path: { user_id: "" } }, body: { role: "owner" } });
// @ts-expect-error: unknown processor
const steps: paths["/api/v1/pipelines"]["post"]["requestBody"]["content"]["application/json"]["steps"] = [{ processor_name: "mix", params: {} }];
// @ts-expect-error: limit is a number
await api.GET("/api/v1/sessions", { params: { query: { limit: "5" } } });
`;

test("a generated client signs in, works in a workspace, uploads, runs a chain and signs out", async () => {
  await using server = await harness();
  const user = await withPassword(server, await server.user());
  const document = await server.nobody.must("GET", "/api/v1/openapi.json");
  await using compiled = await compileClient<{
    visit(url: string, email: string, password: string): Promise<object>;
    produce(url: string, token: string, bytes: Uint8Array): Promise<object>;
  }>(document, { "client.ts": CLIENT, "mistakes.ts": MISTAKES });
  expect(await compiled.client.visit(server.url(), emailOf(user), PASSWORD)).toEqual({
    name: "Ada",
    author: "Ada",
    elsewhere: 404,
    sessions: 1,
    current: true,
    left: 204,
  });
  const { key } = await startSession(server, await server.user());
  expect(await compiled.client.produce(server.url(), key, await wav(3))).toEqual({
    state: "completed",
    outputs: 2,
    held: 0,
    unread: 1,
    preferences: true,
    prices: 0,
    exported: "data_export_ready",
  });
});
