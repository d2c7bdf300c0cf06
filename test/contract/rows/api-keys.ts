/** Rows of the contract: API keys. Their family has the error shape of `/v1`. */
import { expect } from "bun:test";
import { sql } from "drizzle-orm";
import { emailOf, startSession, withPassword } from "../../http/accounts";
import { type Client, createClient } from "../../http/client";
import { NO_ID, outcome, tryCall } from "../../http/outcome";
import type { Paged } from "../../http/resources";
import { listErrors } from "../response-checks";
import * as schemas from "../schemas";
import type { DashboardFixtures, DashboardRow } from "./dashboard-fixtures";

type Key = { id: string; key: string | null; prefix: string; scopes: string[]; last_used_at: string | null };

const HOUR_MS = 3600 * 1000;

/** Mints a key, and fails unless the answer has the documented form. */
async function mint(as: Client, json: object): Promise<Key> {
  const { status, headers, body } = await as.call<Key>("POST", "/api-keys", { json });
  expect([status, headers.get("location"), listErrors(schemas.apiKeyWithSecret, body)]).toEqual([
    201,
    `/api-keys/${body.id}`,
    [],
  ]);
  return body;
}

const clientOf = ({ server }: DashboardFixtures, { key }: Key, userId: string) => createClient(server.url, key, userId);

export const apiKeyRows: DashboardRow[] = [
  [
    "POST /api-keys { name, expires_at? } -> 201 with key (sk_…, shown once, stored hashed)",
    async (fixtures) => {
      const as = await fixtures.user();
      const made = await mint(as, { name: "Station" });
      expect(made.key).toStartWith("sk_");
      expect(await tryCall(clientOf(fixtures, made, as.userId), "GET", "/v1/projects")).toBe("200");
      const { items } = await as.must<Paged<Key>>("GET", "/api-keys");
      expect(JSON.stringify(items)).not.toContain(made.key!);
      const rows = await fixtures.server.services().store.read.all(sql`SELECT * FROM api_keys`);
      expect(JSON.stringify(rows)).not.toContain(made.key!);
    },
  ],
  [
    "GET /api-keys (items, limit, next_cursor): id, name, prefix, created_at, last_used_at, expires_at; scopes",
    async ({ user }) => {
      const as = await user();
      // The user has a key already.
      for (let n = 0; n < 2; n++) await mint(as, { name: `k${n}`, expires_at: "2999-01-01T00:00:00Z" });
      const first = await as.must<Paged<{ id: string }>>("GET", "/api-keys?limit=2");
      expect(listErrors(schemas.pageOf(schemas.apiKey), first)).toEqual([]);
      const second = await as.must<Paged<{ id: string }>>("GET", `/api-keys?limit=2&cursor=${first.next_cursor}`);
      expect([first.items.length, second.items.length, second.next_cursor]).toEqual([2, 1, null]);
      for (const bad of ["limit=0", "limit=101", "cursor=x", "x=1"])
        expect(await tryCall(as, "GET", `/api-keys?${bad}`)).toBe(`422 validation_error query.${bad.split("=")[0]}`);
    },
  ],
  [
    "DELETE /api-keys/{id}: 204; the key is 401 from then on; somebody else's is 404",
    async (fixtures) => {
      const as = await fixtures.user();
      const made = await mint(as, { name: "k" });
      expect(await tryCall(fixtures.bert, "DELETE", `/api-keys/${made.id}`)).toBe("404 not_found");
      expect(await tryCall(as, "DELETE", `/api-keys/${made.id}`)).toBe("204");
      expect(await tryCall(clientOf(fixtures, made, as.userId), "GET", "/v1/projects")).toBe("401 unauthenticated");
      for (const [id, result] of [
        [made.id, "404 not_found"],
        [NO_ID, "404 not_found"],
        ["x", "422 validation_error path.key_id"],
      ])
        expect(await tryCall(as, "DELETE", `/api-keys/${id}`)).toBe(result!);
    },
  ],
  [
    "Keys have scopes (read, write; default both). read allows GET and HEAD; anything else without write is 403",
    async (fixtures) => {
      const as = await fixtures.user();
      const both = await mint(as, { name: "both" });
      expect(both.scopes).toEqual(["read", "write"]);
      const [reader, writer] = [
        clientOf(fixtures, await mint(as, { name: "r", scopes: ["read"] }), as.userId),
        clientOf(fixtures, await mint(as, { name: "w", scopes: ["write"] }), as.userId),
      ];
      expect(await tryCall(reader, "GET", "/v1/projects")).toBe("200");
      expect(await tryCall(reader, "POST", "/v1/projects", { name: "P" })).toBe("403 forbidden");
      expect(await tryCall(reader, "DELETE", `/v1/projects/${NO_ID}`)).toBe("403 forbidden");
      expect(await tryCall(writer, "POST", "/v1/projects", { name: "P" })).toBe("201");
      for (const scopes of [[], ["admin"], "read", ["read", "read"]])
        expect(await tryCall(as, "POST", "/api-keys", { name: "k", scopes })).toStartWith("422 validation_error");
    },
  ],
  [
    "Minting keys needs a session not older than 12 h: an API key gets 403 forbidden; an old session adds reason",
    async (fixtures) => {
      const { server } = fixtures;
      const user = await server.user();
      const as = await startSession(server, user);
      for (const [method, path] of [
        ["POST", "/api-keys"],
        ["GET", "/api-keys"],
        ["DELETE", `/api-keys/${NO_ID}`],
      ] as const)
        expect(await tryCall(user, method, path, method === "POST" ? { name: "k" } : undefined)).toBe("403 forbidden");
      const { store } = server.services();
      const age = 12 * HOUR_MS + 1;
      await store.write((tx) =>
        tx.run(sql`UPDATE sessions SET authenticated_at = authenticated_at - ${age} WHERE user_id = ${user.userId}`),
      );
      const refused = await as.call("POST", "/api-keys", { json: { name: "k" } });
      expect([refused.status, refused.body]).toEqual([
        403,
        { error: { code: "forbidden", message: expect.any(String), reason: "session_too_old" } },
      ]);
      expect(await tryCall(as, "GET", "/api-keys")).toBe("200");
    },
  ],
  [
    "Key lifetime: expires_at is an ISO 8601 time in the future, null for ever",
    async (fixtures) => {
      const as = await fixtures.user();
      for (const expires_at of ["2001-01-01T00:00:00Z", "soon", 5, ""])
        expect(await tryCall(as, "POST", "/api-keys", { name: "k", expires_at })).toBe(
          "422 validation_error body.expires_at",
        );
      expect(await mint(as, { name: "k", expires_at: null })).toMatchObject({ expires_at: null });
      for (const name of ["", "x".repeat(1_000), 5, null])
        expect(await tryCall(as, "POST", "/api-keys", { name })).toBe("422 validation_error body.name");
      expect(await tryCall(as, "POST", "/api-keys", { name: "k", color: 1 })).toBe("422 validation_error body.color");
    },
  ],
  [
    "A replayed answer never shows a secret again: key is null in it; the same key with another body is 422",
    async ({ user }) => {
      const as = await user();
      const make = (name: string) =>
        as.call<Key>("POST", "/api-keys", { json: { name }, headers: { "Idempotency-Key": "once" } });
      const [first, again, other] = [await make("k"), await make("k"), await make("other")];
      expect([first.body.id === again.body.id, again.body.key]).toEqual([true, null]);
      expect(outcome(other)).toStartWith("422 validation_error");
    },
  ],
  [
    "An API key acts in the workspace it was created in (POST /api-keys takes workspace_id)",
    async (fixtures) => {
      const { anna, bert, call, server } = fixtures;
      const { id } = (await call<{ id: string }>("POST", "/workspaces", { json: { name: "Studio" } })).body;
      const inside = clientOf(fixtures, await mint(anna, { name: "k", workspace_id: id }), anna.userId);
      const project = await inside.must<{ id: string }>("POST", "/v1/projects", { json: { name: "P" } });
      const own = clientOf(fixtures, await mint(anna, { name: "k" }), anna.userId);
      expect(await tryCall(own, "GET", `/v1/projects/${project.id}`)).toBe("404 not_found");
      expect(await tryCall(bert, "POST", "/api-keys", { name: "k", workspace_id: id })).toBe("404 not_found");
      expect(server.errors).toEqual([]);
    },
  ],
  [
    "Public error shape; a cookie needs an Origin header of this server",
    async (fixtures) => {
      const { server } = fixtures;
      expect(await tryCall(server.nobody, "GET", "/api-keys")).toBe("401 unauthenticated");
      const user = await withPassword(server, await server.user());
      const login = { email: emailOf(user), password: "correct horse battery" };
      const { token } = await server.nobody.must<{ token: string }>("POST", "/api/v1/auth/login", { json: login });
      const Cookie = `service_session=${token}`;
      const send = (headers: Record<string, string>) =>
        server.nobody.call("POST", "/api-keys", { json: { name: "k" }, headers: { Cookie, ...headers } });
      expect(outcome(await send({}))).toBe("403 forbidden");
      expect(outcome(await send({ Origin: "https://evil.example" }))).toBe("403 forbidden");
      expect(outcome(await send({ Origin: server.url() }))).toBe("201");
    },
  ],
];
