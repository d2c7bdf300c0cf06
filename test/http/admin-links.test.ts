/** Links that an administrator hands over: invitations and password resets. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createAdmin, emailOf, PASSWORD, startSession, withPassword } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { attempt } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
/** A fresh session of an administrator. */
let admin: Client;
beforeAll(async () => {
  server = await harness();
  admin = await startSession(server, await createAdmin(server));
});
afterAll(() => server[Symbol.asyncDispose]());

const USERS = "/api/v1/admin/users";

type Invited = { user: { id: string }; invitation_url: string | null; expires_at: string };
const invite = (json: unknown, headers: Record<string, string> = {}) =>
  admin.call<Invited>("POST", USERS, { json, headers });
const tokenOf = (url: string | null, path: string) => {
  expect(url).toStartWith(`${server.url()}/${path}#`);
  return url!.split("#")[1]!;
};
const accept = (token: string, password = PASSWORD) =>
  server.nobody.call<{ user: { id: string } }>("POST", "/api/v1/auth/invitation", { json: { token, password } });
const signIn = async (email: string, password: string) =>
  (await server.nobody.call("POST", "/api/v1/auth/login", { json: { email, password } })).status;

test("an invited user chooses a password once, within 7 days", async () => {
  const json = { email: "Carla@Example.test", role: "admin", credits: 12 };
  const reply = await invite(json, { "Idempotency-Key": "carla" });
  const { user, invitation_url: url, expires_at: expiresAt } = reply.body;
  expect(reply).toMatchObject({
    status: 201,
    body: { user: { email: "carla@example.test", role: "admin", credits: 12 } },
  });
  expect(reply.headers.get("location")).toBe(`${USERS}/${user.id}`);
  expect(reply.headers.get("cache-control")).toBe("no-store");
  const days = (Date.parse(expiresAt) - server.services().now()) / (24 * 3600 * 1000);
  expect(days).toBeCloseTo(7, 3);
  // The link is in no stored response.
  expect((await invite(json, { "Idempotency-Key": "carla" })).body).toEqual({ ...reply.body, invitation_url: null });
  expect(await signIn("carla@example.test", PASSWORD)).toBe(401);
  const token = tokenOf(url, "invitation");
  expect(await accept(token)).toMatchObject({ status: 201, body: { user: { id: user.id } } });
  expect((await accept(token, "another good one")).status).toBe(401);
  expect(await signIn("carla@example.test", PASSWORD)).toBe(200);
  const late = (await invite({ email: "late@example.test" })).body;
  expect(late.user).toMatchObject({ role: "member", credits: 6000 });
  server.advance(7 * 24 * 3600 * 1000);
  expect((await accept(tokenOf(late.invitation_url, "invitation"))).status).toBe(401);
  admin = await startSession(server, admin);
});

test("a reset link sets a password once, within an hour, and ends the sessions", async () => {
  const anna = await withPassword(server, await server.user());
  const session = await startSession(server, anna);
  const create = async () => {
    const reply = await admin.call<{ url: string; expires_at: string }>(
      "POST",
      `${USERS}/${anna.userId}/password-reset`,
    );
    expect([reply.status, reply.headers.get("cache-control")]).toEqual([200, "no-store"]);
    return { ...reply.body, token: tokenOf(reply.body.url, "reset-password") };
  };
  const reset = async (token: string, password: string) =>
    (await server.nobody.call("POST", "/api/v1/auth/password/reset", { json: { token, password } })).status;
  const first = await create();
  expect((Date.parse(first.expires_at) - server.services().now()) / 3600_000).toBeCloseTo(1, 2);
  expect(await reset(first.token, "staple horse 4711")).toBe(204);
  expect(await reset(first.token, "staple horse 4712")).toBe(401);
  expect(await attempt(session, "GET", "/api/v1/users/me")).toBe("401 unauthenticated");
  expect(await signIn(emailOf(anna), "staple horse 4711")).toBe(200);
  const late = await create();
  server.advance(3600_000);
  expect(await reset(late.token, "staple horse 4713")).toBe(401);
});

test.each([{ role: "member" }, { disabled: true }])("the links of an administrator end with %p", async (json) => {
  const former = await startSession(server, await createAdmin(server));
  const anna = await withPassword(server, await server.user());
  const invited = await former.must<Invited>("POST", USERS, { json: { email: `${crypto.randomUUID()}@example.test` } });
  const reset = await former.must<{ url: string }>("POST", `${USERS}/${anna.userId}/password-reset`);
  expect(await attempt(admin, "PATCH", `${USERS}/${former.userId}`, json)).toBe("200");
  expect((await accept(tokenOf(invited.invitation_url, "invitation"))).status).toBe(401);
  const body = { token: tokenOf(reset.url, "reset-password"), password: "staple horse 4714" };
  expect((await server.nobody.call("POST", "/api/v1/auth/password/reset", { json: body })).status).toBe(401);
});

test.each([{ role: "member" }, { disabled: true }])(
  "so does the role of administrators who have not accepted, with %p",
  async (json) => {
    const former = await startSession(server, await createAdmin(server));
    const email = `${crypto.randomUUID()}@example.test`;
    const { user } = await former.must<Invited>("POST", USERS, { json: { email, role: "admin" } });
    const used = await former.must<Invited>("POST", USERS, { json: { email: `used-${email}`, role: "admin" } });
    expect((await accept(tokenOf(used.invitation_url, "invitation"))).status).toBe(201);
    expect(await attempt(admin, "PATCH", `${USERS}/${former.userId}`, json)).toBe("200");
    const readRole = async (id: string) => (await admin.must<{ role: string }>("GET", `${USERS}/${id}`)).role;
    expect([await readRole(user.id), await readRole(used.user.id)]).toEqual(["member", "admin"]);
  },
);

test("an administrator who has not accepted does not count as another one", async () => {
  await using own = await harness();
  const only = await startSession(own, await createAdmin(own));
  await only.must("POST", USERS, { json: { email: "waiting@example.test", role: "admin" } });
  expect(await attempt(only, "PATCH", `${USERS}/${only.userId}`, { role: "member" })).toBe("409 conflict");
});

test.each<[string, unknown, string]>([
  ["an invisible character", { email: "a\u200bnna@example.test" }, "422 body.email"],
  ["a look-alike", { email: "ａnna@example.test" }, "422 body.email"],
  ["no address", {}, "422 body.email"],
  ["an address that is none", { email: "anna" }, "422 body.email"],
  ["an address with a line break", { email: "a@b.test\nBcc: c@d.test" }, "422 body.email"],
  ["an unknown role", { email: "x@example.test", role: "owner" }, "422 body.role"],
  ["negative credits", { email: "x@example.test", credits: -1 }, "422 body.credits"],
  ["a password", { email: "x@example.test", password: PASSWORD }, "422 body.password"],
])("no invitation for %s", async (_, json, expected) => {
  expect(await attempt(admin, "POST", USERS, json)).toBe(expected);
});

test("no invitation for an address that has an account, also not two at once", async () => {
  expect(await attempt(admin, "POST", USERS, { email: emailOf(admin).toUpperCase() })).toBe("409 conflict");
  const both = await Promise.all([1, 2].map(() => attempt(admin, "POST", USERS, { email: "twice@example.test" })));
  expect(both.toSorted()).toEqual(["201", "409 conflict"]);
});
