/** Sessions over HTTP: their end by logout, from the list, by a new password, by disabling, and by time. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { createPasswordResetLink } from "../../src/work/identity/password-reset";
import { createAdmin, emailOf, listAuditLog, PASSWORD, readCookie, startSession, withPassword } from "./accounts";
import { createClient } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { NO_ID } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

type SessionItem = { id: string; is_current: boolean; last_seen_at: string; user_agent: string; address: string };
type SessionList = { items: SessionItem[]; total: number; limit: number; offset: number };

const NEW_PASSWORD = "staple horse 4711";
const DAY_MS = 24 * 3600 * 1000;

let server: Harness;
beforeAll(async () => {
  server = await harness();
  await createAdmin(server);
});
afterAll(() => server[Symbol.asyncDispose]());

const signIn = (email: string, password: string, headers: Record<string, string> = {}) =>
  server.nobody.call<{ token: string }>("POST", "/api/v1/auth/login", { json: { email, password }, headers });
const status = async (session: { call: Harness["nobody"]["call"] }) =>
  (await session.call("GET", "/api/v1/users/me")).status;

test("logout ends the session in the header and in the cookie, and no other one", async () => {
  const anna = await server.user();
  const [first, second] = [await startSession(server, anna), await startSession(server, anna)];
  const reply = await first.call("POST", "/api/v1/auth/logout");
  expect([reply.status, readCookie(reply)]).toEqual([204, ""]);
  expect(reply.headers.get("set-cookie")).toContain("Max-Age=0");
  expect(await first.call("GET", "/api/v1/users/me")).toMatchObject({
    status: 401,
    body: { code: "unauthenticated" },
  });
  const cookie = { Cookie: `service_session=${first.key}` };
  expect((await server.nobody.call("GET", "/api/v1/users/me", { headers: cookie })).status).toBe(401);
  expect((await first.call("POST", "/api/v1/auth/logout")).status).toBe(401);
  expect(await status(second)).toBe(200);
});

test("a user has at most 500 sessions: the next one ends the one that was used least recently", async () => {
  const anna = await server.user();
  const { store } = server.services();
  const [first, idle] = [await startSession(server, anna), await startSession(server, anna)];
  await store.write(async (tx) => {
    await tx.run(sql`UPDATE sessions SET last_seen_at = last_seen_at - 1000 WHERE id =
      (SELECT max(id) FROM sessions WHERE user_id = ${anna.userId})`);
    await tx.run(sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 498)
      INSERT INTO sessions SELECT 'copy' || i, user_id, created_at, authenticated_at, last_seen_at, expires_at, user_agent, address
      FROM n, (SELECT * FROM sessions WHERE user_id = ${anna.userId} ORDER BY id LIMIT 1)`);
  });
  expect([await status(first), await status(idle)]).toEqual([200, 200]);
  const last = await startSession(server, anna);
  expect([await status(first), await status(idle), await status(last)]).toEqual([200, 401, 200]);
  expect((await last.call<SessionList>("GET", "/api/v1/sessions")).body.total).toBe(500);
});

test("logout by cookie needs the server's own origin", async () => {
  const session = await startSession(server, await server.user());
  const logout = (origin: string | null) =>
    server.nobody.call("POST", "/api/v1/auth/logout", {
      headers: { Cookie: `service_session=${session.key}`, ...(origin && { Origin: origin }) },
    });
  for (const origin of [null, "https://evil.example", "null"]) {
    expect(await logout(origin)).toMatchObject({ status: 403, body: { code: "forbidden" } });
  }
  expect((await logout(server.url())).status).toBe(204);
  expect(await status(session)).toBe(401);
});

test("the list has the open sessions of the user, the last used first, in pages", async () => {
  const anna = await withPassword(server, await server.user());
  const other = await startSession(server, await server.user());
  await startSession(server, anna);
  server.advance(2 * 60_000);
  const { token } = (await signIn(emailOf(anna), PASSWORD, { "User-Agent": "Browser 1" })).body;
  const current = createClient(server.url, token, anna.userId);
  const list = (query = "") => current.must<SessionList>("GET", `/api/v1/sessions${query}`);
  const all = await list();
  expect(all).toMatchObject({ total: 2, limit: 20, offset: 0 });
  expect(Object.keys(all.items[0]!).sort()).toEqual(
    ["address", "created_at", "id", "is_current", "last_seen_at", "user_agent"].sort(),
  );
  expect(all.items).toMatchObject([
    { is_current: true, user_agent: "Browser 1", address: "127.0.0.1" },
    { is_current: false, user_agent: "test", address: "192.0.2.1" },
  ]);
  expect(await list("?limit=1&offset=1")).toEqual({ items: [all.items[1]!], total: 2, limit: 1, offset: 1 });
  expect(await list("?offset=2")).toMatchObject({ items: [], total: 2 });
  for (const query of ["?limit=0", "?limit=101", "?offset=-1", "?offset=x", "?cursor=x"]) {
    expect((await current.call("GET", `/api/v1/sessions${query}`)).status).toBe(422);
  }
  const [, older] = all.items;
  expect((await other.call("DELETE", `/api/v1/sessions/${older!.id}`)).status).toBe(404);
  expect((await current.call("DELETE", `/api/v1/sessions/${older!.id}`)).status).toBe(204);
  expect((await current.call("DELETE", `/api/v1/sessions/${older!.id}`)).status).toBe(404);
  expect((await current.call("DELETE", "/api/v1/sessions/x")).status).toBe(422);
  expect(await list()).toMatchObject({ total: 1 });
});

test("an API key can neither list nor end sessions, nor change the password", async () => {
  const anna = await server.user();
  const session = await startSession(server, anna);
  const calls: [string, string, object?][] = [
    ["GET", "/api/v1/sessions"],
    ["DELETE", `/api/v1/sessions/${NO_ID}`],
    ["POST", "/api/v1/auth/logout"],
    ["PUT", "/api/v1/users/me/password", { current_password: PASSWORD, password: NEW_PASSWORD }],
  ];
  for (const [method, path, json] of calls) {
    expect(await anna.call(method, path, { json })).toMatchObject({ status: 403, body: { code: "forbidden" } });
  }
  expect(await status(session)).toBe(200);
});

describe("a new password", () => {
  const change = (session: { call: Harness["nobody"]["call"] }, current: string, password: string) =>
    session.call("PUT", "/api/v1/users/me/password", { json: { current_password: current, password } });

  test("ends the links that reset it", async () => {
    const anna = await withPassword(server, await server.user());
    const { store } = server.services();
    const user = { id: anna.userId, email: emailOf(anna) };
    const link = await store.write((tx) => createPasswordResetLink(server.services(), tx, user, anna.userId));
    expect((await change(await startSession(server, anna), PASSWORD, NEW_PASSWORD)).status).toBe(204);
    const json = { token: link.url.split("#")[1], password: "another horse 4711" };
    expect((await server.nobody.call("POST", "/api/v1/auth/password/reset", { json })).status).toBe(401);
  });

  test("ends all other sessions of the user, and is the only one that signs in", async () => {
    const anna = await withPassword(server, await server.user());
    const bystander = await startSession(server, await server.user());
    const [current, other] = [await startSession(server, anna), await startSession(server, anna)];
    expect((await change(current, PASSWORD, NEW_PASSWORD)).status).toBe(204);
    expect([await status(current), await status(other), await status(bystander), await status(anna)]).toEqual([
      200, 401, 200, 200,
    ]);
    expect((await signIn(emailOf(anna), PASSWORD)).status).toBe(401);
    expect((await signIn(emailOf(anna), NEW_PASSWORD)).status).toBe(200);
    const actions = (await listAuditLog(server)).filter((row) => row.target_id === anna.userId);
    expect(actions.map(({ action }) => action)).toEqual(["user.password_changed", "session.refused"]);
    expect(actions[0]).toMatchObject({ actor_id: anna.userId, actor_kind: "user", address: "127.0.0.1" });
  });

  test.each([
    ["a wrong current password", "wrong horse battery", NEW_PASSWORD, "current_password"],
    ["nine characters", PASSWORD, "k4Rm-nd9o", "password"],
    ["a common password", PASSWORD, "Passw0rd2024!", "password"],
    ["201 characters", PASSWORD, "xy3".repeat(67), "password"],
  ])("is refused: %s", async (_, current, password, field) => {
    const anna = await withPassword(server, await server.user());
    const session = await startSession(server, anna);
    const { status: code, body } = await change(session, current, password);
    expect([code, body]).toMatchObject([422, { detail: [{ loc: ["body", field], type: "value_error", input: null }] }]);
    expect(JSON.stringify(body)).not.toContain(password);
    expect((await signIn(emailOf(anna), PASSWORD)).status).toBe(200);
  });

  test("needs a session that is not older than 12 hours", async () => {
    await using other = await harness();
    const anna = await withPassword(other, await other.user());
    const session = await startSession(other, anna);
    other.advance(DAY_MS / 2 + 1);
    expect(await change(session, PASSWORD, NEW_PASSWORD)).toMatchObject({
      status: 403,
      body: { detail: expect.any(String), code: "forbidden", reason: "session_too_old" },
    });
    expect((await change(await startSession(other, anna), PASSWORD, NEW_PASSWORD)).status).toBe(204);
  });

  test("an account without a password cannot be given one with a stolen session", async () => {
    const session = await startSession(server, await server.user());
    for (const guess of ["x", PASSWORD]) expect((await change(session, guess, NEW_PASSWORD)).status).toBe(422);
  });
});

test("a session ends after 30 days without use, and 180 days after sign-in, over restarts too", async () => {
  await using other = await harness();
  const anna = await other.user();
  const [used, idle] = [await startSession(other, anna), await startSession(other, anna)];
  for (let day = 20; day < 180; day += 20) {
    other.advance(20 * DAY_MS);
    expect(await status(used)).toBe(200);
    if (day === 100) await other.restart();
  }
  expect(await status(idle)).toBe(401);
  other.advance(20 * DAY_MS);
  expect(await status(used)).toBe(401);
});

test("a session in the grace period reads the profile and logs out, and nothing else", async () => {
  const anna = await server.user();
  const session = await startSession(server, anna);
  await server.services().store.write((tx) => tx.run(sql`UPDATE users SET deleted_at = 1 WHERE id = ${anna.userId}`));
  expect(await status(session)).toBe(200);
  expect(await session.call("GET", "/api/v1/projects")).toMatchObject({ status: 403, body: { code: "forbidden" } });
  expect((await session.call("GET", "/api/v1/sessions")).status).toBe(403);
  expect((await session.call("POST", "/api/v1/auth/logout")).status).toBe(204);
});

test("without an authenticator nobody can ask for a second factor, and only a fresh session may", async () => {
  const anna = await server.user();
  const session = await startSession(server, anna);
  const change = (client: { call: Harness["nobody"]["call"] }, wanted: unknown) =>
    client.call("PATCH", "/api/v1/users/me", { json: { two_factor_enabled: wanted } });
  expect(await change(session, true)).toMatchObject({ status: 409, body: { code: "conflict" } });
  expect(await change(anna, true)).toMatchObject({ status: 403, body: { code: "forbidden" } });
  for (const same of [false, null]) expect((await change(anna, same)).status).toBe(200);
  expect((await change(session, "yes")).status).toBe(422);
});
