/** Rows of the contract: sessions, the profile and the password. */
import { expect } from "bun:test";
import { sql } from "drizzle-orm";
import { newId } from "../../../src/lib/ids";
import { insertOidcIdentity } from "../../../src/store/oidc-identities";
import { createApiKey, disableUser } from "../../../src/work/access/command-accounts";
import { emailOf, PASSWORD, startSession, withPassword } from "../../http/accounts";
import { type Client, createClient } from "../../http/client";
import * as schemas from "../schemas";
import { conforms, createMember, DAY_MS, HOUR_MS, NEW_PASSWORD, signIn, startOwn } from "./account-setting";
import type { DashboardRow } from "./dashboard-fixtures";

export const sessionRows: DashboardRow[] = [
  [
    "GET sessions: { items, total, limit, offset } with id, created_at, last_seen_at, user_agent, address, is_current",
    async ({ user, server, call }) => {
      const as = await user();
      await startSession(server, as);
      const { body } = await call<{ items: { is_current: boolean }[] }>("GET", "/sessions", { as });
      conforms(schemas.sessionList, body);
      expect(body).toMatchObject({ total: 2, limit: 20, offset: 0 });
      expect(body.items.filter((item) => item.is_current)).toHaveLength(1);
    },
  ],
  [
    "Lists that only the dashboard family has: limit 1-100, default 20",
    async ({ call, getOutcome }) => {
      for (const bad of [0, 101, "x", 1.5])
        expect(await getOutcome("GET", `/sessions?limit=${bad}`)).toBe("422 validation_error query.limit");
      expect(await getOutcome("GET", "/sessions?offset=-1")).toBe("422 validation_error query.offset");
      expect((await call("GET", "/sessions?limit=100&offset=7")).body).toMatchObject({
        items: [],
        limit: 100,
        offset: 7,
      });
    },
  ],
  [
    "DELETE sessions/{id}: 204",
    async ({ user, server, call, getOutcome }) => {
      const as = await user();
      const other = await startSession(server, as);
      const { body } = await call<{ items: { id: string; is_current: boolean }[] }>("GET", "/sessions", { as });
      const { id } = body.items.find((item) => !item.is_current)!;
      expect(await getOutcome("DELETE", `/sessions/${id}`, { as })).toBe("204");
      expect(await getOutcome("GET", "/users/me", { as: other })).toBe("401 unauthenticated");
      expect(await getOutcome("DELETE", `/sessions/${id}`, { as })).toBe("404 not_found");
    },
  ],
  [
    "GET users/me/identities: { items, total, limit, offset }; DELETE …/{id}: 204, 409 for the last way to sign in",
    async ({ user, server, call, getOutcome }) => {
      const as = await user();
      const link = (subject: string) => {
        const identity = { id: newId(), user_id: as.userId, issuer: "https://login.example", subject, created_at: 1 };
        return server.services().store.write((tx) => insertOidcIdentity(tx, identity));
      };
      await link("a");
      const path = "/users/me/identities";
      const { body } = await call<{ items: { id: string }[] }>("GET", path, { as });
      conforms(schemas.identityList, body);
      expect(body).toMatchObject({ items: [{ provider: "login.example", email: null }], total: 1 });
      const remove = () => getOutcome("DELETE", `${path}/${body.items[0]!.id}`, { as });
      expect(await remove()).toBe("409 conflict");
      await withPassword(server, as);
      expect([await remove(), await remove()]).toEqual(["204", "404 not_found"]);
    },
  ],
  [
    "DELETE sessions: 204, and all sessions but that of the request have ended",
    async ({ user, server, getOutcome }) => {
      const as = await user();
      const others = [await startSession(server, as), await startSession(server, as)];
      expect(await getOutcome("DELETE", "/sessions", { as })).toBe("204");
      for (const other of others)
        expect(await getOutcome("GET", "/users/me", { as: other })).toBe("401 unauthenticated");
      expect(await getOutcome("GET", "/users/me", { as })).toBe("200");
    },
  ],
  [
    "A session ends 30 days after its last use and 180 days after sign-in; expires_at is the earlier of the two",
    async () => {
      await using server = await startOwn();
      const member = await withPassword(server, await server.user());
      const { body } = await signIn(server, emailOf(member));
      expect(Date.parse(body.expires_at) - server.services().now()).toBeCloseTo(30 * DAY_MS, -5);
      const [used, idle] = [createClient(server.url, body.token, member.userId), await startSession(server, member)];
      const status = async (client: Client) => (await client.call("GET", "/api/v1/users/me")).status;
      for (let days = 29; days < 174; days += 29) {
        server.advance(29 * DAY_MS);
        expect(await status(used)).toBe(200);
        if (days > 30) expect(await status(idle)).toBe(401);
      }
      server.advance(6 * DAY_MS);
      expect(await status(used)).toBe(200);
      server.advance(29 * DAY_MS);
      expect(await status(used)).toBe(401);
    },
  ],
  [
    "Changing the password needs a session not older than 12 h: an API key gets 403; an old session adds reason session_too_old",
    async () => {
      await using server = await startOwn();
      const user = await withPassword(server, await server.user());
      const session = await startSession(server, user);
      const json = { current_password: PASSWORD, password: NEW_PASSWORD };
      expect(await user.call("PUT", "/api/v1/users/me/password", { json })).toMatchObject({
        status: 403,
        body: { detail: expect.any(String), code: "forbidden" },
      });
      server.advance(12 * HOUR_MS + 1000);
      const old = await session.call("PUT", "/api/v1/users/me/password", { json });
      expect([old.status, old.body]).toEqual([
        403,
        { detail: expect.any(String), code: "forbidden", reason: "session_too_old" },
      ]);
    },
  ],
  [
    "PUT users/me/password: current_password, password -> 204; other sessions end",
    async (fixtures) => {
      const { server, getOutcome } = fixtures;
      const as = await createMember(fixtures);
      const other = await startSession(server, as);
      const change = (current_password: string) =>
        getOutcome("PUT", "/users/me/password", { json: { current_password, password: NEW_PASSWORD }, as });
      expect(await change("wrong horse battery")).toBe("422 validation_error body.current_password");
      expect(await change(PASSWORD)).toBe("204");
      expect(await getOutcome("GET", "/users/me", { as })).toBe("200");
      expect(await getOutcome("GET", "/users/me", { as: other })).toBe("401 unauthenticated");
    },
  ],
  [
    "A disabled user's keys and sessions get 401",
    async ({ server, getOutcome }) => {
      const user = await server.user();
      const session = await startSession(server, user);
      await disableUser(server.services(), { email: emailOf(user), disabled: true });
      for (const as of [user, session])
        expect(await getOutcome("GET", "/users/me", { as })).toBe("401 unauthenticated");
    },
  ],
  [
    "In the grace window (deleted_at set): login, users/me and logout work, everything else is 403; keys likewise",
    async (fixtures) => {
      const { server, call, getOutcome } = fixtures;
      const member = await createMember(fixtures);
      const { key } = await createApiKey(server.services(), { email: emailOf(member), name: "k" });
      const { store } = server.services();
      await store.write((tx) => tx.run(sql`UPDATE users SET deleted_at = 1 WHERE id = ${member.userId}`));
      const signedIn = await signIn(server, emailOf(member));
      expect([signedIn.status, signedIn.body.user]).toMatchObject([200, { deleted_at: "1970-01-01T00:00:00.001Z" }]);
      for (const as of [member, createClient(server.url, key, member.userId)]) {
        expect((await call("GET", "/users/me", { as })).body).toMatchObject({ deleted_at: expect.any(String) });
        for (const path of ["/projects", "/credits/history"])
          expect(await getOutcome("GET", path, { as })).toBe("403 forbidden");
      }
      expect(await getOutcome("GET", "/sessions", { as: member })).toBe("403 forbidden");
      expect(await getOutcome("POST", "/auth/logout", { as: member })).toBe("204");
    },
  ],
  [
    "GET /api/v1/users/me: id, email, first_name, last_name, two_factor_enabled, deleted_at, created_at",
    async ({ call }) => conforms(schemas.profile, (await call("GET", "/users/me")).body),
  ],
  [
    "PATCH /api/v1/users/me: absent fields stay unchanged; names of at most 120 characters; null clears a name",
    async ({ user, call, getOutcome }) => {
      const as = await user();
      const change = async (json: object) => (await call("PATCH", "/users/me", { json, as })).body;
      expect(await change({ first_name: "Ada", last_name: "💥".repeat(120) })).toMatchObject({ first_name: "Ada" });
      expect(await change({ last_name: null })).toMatchObject({ first_name: "Ada", last_name: null });
      expect(await change({})).toMatchObject({ first_name: "Ada" });
      expect(await change({ two_factor_enabled: null })).toMatchObject({ two_factor_enabled: false });
      for (const [field, bad] of [
        ["first_name", "x".repeat(121)],
        ["last_name", 5],
        ["two_factor_enabled", "yes"],
        ["email", "a@b"],
      ])
        expect(await getOutcome("PATCH", "/users/me", { json: { [field as string]: bad }, as })).toBe(
          `422 validation_error body.${field}`,
        );
    },
  ],
];
