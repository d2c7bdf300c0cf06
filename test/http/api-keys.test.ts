/** API keys, through the family `/api-keys`. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { newId } from "../../src/lib/ids";
import { setEmailVerified } from "../../src/store/users";
import { runAdmin } from "../../src/work/access/admin-commands";
import { startSmtpReceiver } from "../smtp";
import { emailOf, listAuditLog, startSession } from "./accounts";
import { type Client, createClient } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { NO_ID, tryCall } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let owner: Client;
let anna: Client;
beforeAll(async () => {
  server = await harness();
  owner = await server.user();
  anna = await startSession(server, owner);
});
afterAll(() => server[Symbol.asyncDispose]());

type Key = {
  id: string;
  name: string;
  prefix: string;
  scopes: string[];
  workspace_id: string;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
};
type NewKey = Key & { key: string | null };
type Page = { items: Key[]; limit: number; next_cursor: string | null };

const create = (client: Client, json: object = { name: "station" }, headers: Record<string, string> = {}) =>
  client.call<NewKey>("POST", "/api-keys", { json, headers });

test("a key is shown once, works at once and until it is revoked", async () => {
  const made = await create(anna, { name: "Editing station" });
  const { key, ...shown } = made.body;
  expect(made.status).toBe(201);
  expect(made.headers.get("location")).toBe(`/api-keys/${shown.id}`);
  expect(key).toMatch(/^sk_[0-9A-Za-z]{40}$/);
  expect(shown).toEqual({
    id: expect.any(String),
    name: "Editing station",
    prefix: key!.slice(0, 9),
    scopes: ["read", "write"],
    workspace_id: anna.userId,
    created_at: expect.any(String),
    last_used_at: null,
    expires_at: null,
  });
  const { items } = await anna.must<Page>("GET", "/api-keys");
  expect(items.find(({ id }) => id === shown.id)).toEqual(shown);
  const client = createClient(server.url, key, anna.userId);
  expect(await tryCall(client, "GET", "/v1/users/me")).toStartWith("200");
  expect(await tryCall(anna, "DELETE", `/api-keys/${shown.id}`)).toStartWith("204");
  expect(await tryCall(client, "GET", "/v1/users/me")).toBe("401 unauthenticated");
  expect(await tryCall(anna, "DELETE", `/api-keys/${shown.id}`)).toBe("404 not_found");
  const entries = (await listAuditLog(server)).filter(({ target_id: id }) => id === shown.id);
  expect(entries.map(({ action, actor_id }) => [action, actor_id])).toEqual([
    ["api_key.created", anna.userId],
    ["api_key.deleted", anna.userId],
  ]);
  expect(JSON.stringify(entries)).not.toContain(key!);
});

test("a key without write reads only", async () => {
  const { key } = (await create(anna, { name: "read only", scopes: ["read"] })).body;
  const reader = createClient(server.url, key, anna.userId);
  expect(await tryCall(reader, "GET", "/v1/projects")).toStartWith("200");
  expect(await tryCall(reader, "POST", "/v1/projects", { name: "a" })).toBe("403 forbidden");
});

test("a key expires", async () => {
  const expires_at = new Date(server.services().now() + 60_000).toISOString();
  const { body } = await create(anna, { name: "short", expires_at });
  expect(body.expires_at).toBe(expires_at);
  const client = createClient(server.url, body.key, anna.userId);
  expect(await tryCall(client, "GET", "/v1/users/me")).toStartWith("200");
  server.advance(61_000);
  expect(await tryCall(client, "GET", "/v1/users/me")).toBe("401 unauthenticated");
});

describe("refused:", () => {
  const past = "2020-01-01T00:00:00Z";
  test.each<[string, object, string]>([
    ["no name", {}, "422 validation_error body.name"],
    ["an empty name", { name: "" }, "422 validation_error body.name"],
    ["a long name", { name: "a".repeat(201) }, "422 validation_error body.name"],
    ["a time in the past", { name: "a", expires_at: past }, "422 validation_error body.expires_at"],
    ["a time that is none", { name: "a", expires_at: "soon" }, "422 validation_error body.expires_at"],
    ["no scope", { name: "a", scopes: [] }, "422 validation_error body.scopes"],
    ["an unknown scope", { name: "a", scopes: ["admin"] }, "422 validation_error body.scopes.0"],
    ["a scope twice", { name: "a", scopes: ["read", "read"] }, "422 validation_error body.scopes"],
    ["an unknown property", { name: "a", key: "sk_mine" }, "422 validation_error body.key"],
    ["a workspace that does not exist", { name: "a", workspace_id: NO_ID }, "404 not_found"],
    ["a workspace that is no UUID", { name: "a", workspace_id: "x" }, "422 validation_error body.workspace_id"],
  ])("%s", async (_, json, expected) => {
    expect(await tryCall(anna, "POST", "/api-keys", json)).toBe(expected);
  });

  test("the workspace of somebody else", async () => {
    const ben = await server.user();
    expect((await create(anna, { name: "a", workspace_id: ben.userId })).status).toBe(404);
  });

  test("an API key, on every call", async () => {
    const { id } = (await create(anna)).body;
    for (const [method, path] of [
      ["POST", "/api-keys"],
      ["GET", "/api-keys"],
      ["DELETE", `/api-keys/${id}`],
    ] as const) {
      const reply = await owner.call(method, path, method === "POST" ? { json: { name: "a" } } : {});
      expect([method, reply.status, reply.body]).toMatchObject([method, 403, { error: { code: "forbidden" } }]);
    }
  });

  test("nobody, in the public family's shape", async () => {
    expect(await server.nobody.call("GET", "/api-keys")).toMatchObject({
      status: 401,
      body: { error: { code: "unauthenticated" } },
    });
    expect(await anna.call("GET", `/api-keys/${NO_ID}`)).toMatchObject({
      status: 404,
      body: { error: { code: "not_found" } },
    });
  });

  test("the key of somebody else", async () => {
    const ben = await startSession(server, await server.user());
    const { id, key } = (await create(ben)).body;
    expect(await tryCall(anna, "DELETE", `/api-keys/${id}`)).toBe("404 not_found");
    expect(await tryCall(createClient(server.url, key, ben.userId), "GET", "/v1/users/me")).toStartWith("200");
    expect((await anna.must<Page>("GET", "/api-keys")).items.map((item) => item.id)).not.toContain(id);
  });

  test("the hundred-and-first key", async () => {
    const full = await startSession(server, await server.user(0));
    const statuses = await Promise.all(Array.from({ length: 102 }, async () => (await create(full)).status));
    // The harness made one.
    expect(statuses.filter((status) => status === 201)).toHaveLength(99);
    expect(statuses.filter((status) => status === 409)).toHaveLength(3);
  });
});

test("creating needs a sign-in within 12 h, everything else does not", async () => {
  await using own = await harness();
  const old = await startSession(own, await own.user());
  const { id } = (await create(old)).body;
  own.advance(12 * 3600_000 - 1_000);
  expect((await create(old)).status).toBe(201);
  own.advance(2_000);
  expect(await create(old)).toMatchObject({
    status: 403,
    body: { error: { code: "forbidden", reason: "session_too_old" } },
  });
  expect((await old.call("GET", "/api-keys")).status).toBe(200);
  expect((await old.call("DELETE", `/api-keys/${id}`)).status).toBe(204);
});

test("a repeated creation is one key, and its replay hides it", async () => {
  const headers = { "Idempotency-Key": newId() };
  const [first, second] = await Promise.all([create(anna, undefined, headers), create(anna, undefined, headers)]);
  expect(first.body.id).toBe(second.body.id);
  const third = await create(anna, undefined, headers);
  expect(third).toMatchObject({ status: 201, body: { id: first.body.id, key: null } });
  expect([first.body.key, second.body.key].filter((key) => key !== null)).toHaveLength(1);
  expect((await create(anna, { name: "other" }, headers)).status).toBe(422);
});

test("lists are paged, newest first", async () => {
  const client = await startSession(server, await server.user(0));
  const made: string[] = [];
  for (let i = 0; i < 4; i++) made.unshift((await create(client, { name: `key ${i}` })).body.id);
  const first = await client.must<Page>("GET", "/api-keys?limit=3");
  expect(first.items.map(({ id }) => id)).toEqual(made.slice(0, 3));
  const second = await client.must<Page>("GET", `/api-keys?limit=3&cursor=${first.next_cursor}`);
  expect(second.items.map(({ name }) => name)).toEqual(["key 0", "test"]);
  expect(second.next_cursor).toBeNull();
  expect(await tryCall(anna, "GET", `/api-keys?cursor=${first.next_cursor}`)).toBe("422 validation_error query.cursor");
});

test("a cookie needs an Origin of this server to change anything", async () => {
  const cookie = `service_session=${anna.key}`;
  const call = (origin: string | null) =>
    server.nobody.call("POST", "/api-keys", {
      json: { name: "by cookie" },
      headers: { cookie, ...(origin === null ? {} : { origin }) },
    });
  expect((await call(server.url())).status).toBe(201);
  for (const origin of [null, "null", "https://evil.example"]) expect((await call(origin)).status).toBe(403);
});

test("the OpenAPI document describes every call", async () => {
  type Operation = { operationId: string; tags: string[] };
  const { paths } = await server.nobody.must<{ paths: Record<string, Record<string, Operation>> }>(
    "GET",
    "/api-keys/openapi.json",
  );
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, tags }]) => [method, path, operationId, ...tags]),
  );
  expect(operations).toEqual([
    ["post", "/api-keys", "postApiKeys", "api-keys"],
    ["get", "/api-keys", "getApiKeys", "api-keys"],
    ["delete", "/api-keys/{key_id}", "deleteApiKeysKeyId", "api-keys"],
  ]);
});

describe("a mail says that a key was created", () => {
  const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

  test("in the dashboard, for a device and in the shell; at most 10 an hour", async () => {
    await using smtp = await startSmtpReceiver();
    await using mailing = await harness({ SMTP_URL: smtp.url });
    const user = await mailing.user();
    const session = await startSession(mailing, user);
    const email = emailOf(user);
    await mailing.services().store.write((tx) => setEmailVerified(tx, user.userId, 1));
    // Two calls with one key of the request create one API key.
    for (let times = 0; times < 2; times++)
      expect((await create(session, { name: "Station" }, { "Idempotency-Key": "one" })).status).toBe(201);
    const { subject, text } = await smtp.mailTo(email);
    expect(subject).toBe("An API key was created");
    expect(text).toContain('The API key "Station" (sk_');

    const form = (path: string, fields: Record<string, string>, by = mailing.nobody) =>
      by.must<{ device_code: string; user_code: string }>("POST", `/oauth/${path}`, {
        body: new URLSearchParams(fields).toString(),
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
      });
    const { device_code, user_code } = await form("device/code", { client_id: "panel" });
    await form("device/approve", { user_code }, session);
    await form("token", { grant_type: GRANT, device_code, client_id: "panel" });
    expect((await smtp.mailTo(email, 1)).text).toContain('The API key "panel"');

    await runAdmin(mailing.services(), "key create", { email, name: "shell" });
    expect((await smtp.mailTo(email, 2)).text).toContain('The API key "shell"');

    for (let n = 0; n < 20; n++) expect((await create(session, { name: `k${n}` })).status).toBe(201);
    // Counted separately, so that a sign-in code is not dropped.
    const rows = await mailing.services().store.read.all(`SELECT id FROM mails WHERE template = 'api_key_created'`);
    expect(rows).toHaveLength(10);
  });
});
