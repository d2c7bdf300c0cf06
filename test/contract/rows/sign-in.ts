/** Rows of the contract: set-up, sign-up, sign-in and sign-out. */
import { expect } from "bun:test";
import { createAdmin, emailOf, PASSWORD, readCookie, withPassword } from "../../http/accounts";
import * as schemas from "../schemas";
import { conforms, createMember, HOUR_MS, type Started, signIn, startOwn } from "./account-setting";
import type { DashboardRow } from "./dashboard-fixtures";

export const signInRows: DashboardRow[] = [
  [
    "POST auth/setup: token, email, password -> 201 session of the first administrator; 409 conflict once set up",
    async () => {
      await using server = await startOwn();
      const token = (await server.services().setup.url())!.split("#")[1]!;
      const json = { token, email: "ada@studio.example", password: PASSWORD };
      const first = await server.nobody.call<Started>("POST", "/api/v1/auth/setup", { json });
      expect(first.status).toBe(201);
      conforms(schemas.startedSession, first.body);
      expect(readCookie(first)).toBe(first.body.token);
      expect(await server.nobody.call("POST", "/api/v1/auth/setup", { json })).toMatchObject({
        status: 409,
        body: { code: "conflict" },
      });
    },
  ],
  [
    "POST auth/signup: email, password -> 201 session; 403 forbidden while sign-up is closed (default)",
    async ({ call, server, getOutcome }) => {
      const json = { email: "new@example.test", password: PASSWORD };
      expect(await getOutcome("POST", "/auth/signup", { json, as: server.nobody })).toBe("403 forbidden");
      await using open = await startOwn({ SIGNUP: "open" });
      const signUp = () => open.nobody.call<Started>("POST", "/api/v1/auth/signup", { json });
      expect((await signUp()).status).toBe(403);
      await createAdmin(open);
      const made = await signUp();
      expect(made.status).toBe(201);
      conforms(schemas.startedSession, made.body);
      expect((await call("GET", "/auth/methods", { as: open.nobody })).body).toMatchObject({ signup: "open" });
    },
  ],
  [
    "POST auth/login: email, password -> 200 session { token, expires_at, user } plus the cookie; 401 unauthenticated",
    async (fixtures) => {
      const { server, call, getOutcome } = fixtures;
      const member = await createMember(fixtures);
      const email = emailOf(member);
      const done = await call<Started>("POST", "/auth/login", {
        json: { email, password: PASSWORD },
        as: server.nobody,
      });
      expect(done.status).toBe(200);
      conforms(schemas.startedSession, done.body);
      expect(done.body.user.id).toBe(member.userId);
      expect(done.headers.get("set-cookie")).toMatch(
        /^service_session=[\w-]+\.[\w-]+\.[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
      );
      for (const json of [
        { email, password: "wrong horse battery" },
        { email: "nobody@example.test", password: PASSWORD },
      ])
        expect(await getOutcome("POST", "/auth/login", { json, as: server.nobody })).toBe("401 unauthenticated");
    },
  ],
  [
    "POST auth/logout: 204, revoked everywhere",
    async ({ user, call, getOutcome, server }) => {
      const as = await user();
      const done = await call("POST", "/auth/logout", { as });
      expect([done.status, readCookie(done)]).toEqual([204, ""]);
      const cookie = { Cookie: `service_session=${as.key}` };
      expect(await getOutcome("GET", "/users/me", { as })).toBe("401 unauthenticated");
      expect(await getOutcome("GET", "/users/me", { as: server.nobody, headers: cookie })).toBe("401 unauthenticated");
    },
  ],
  [
    "GET /api/v1/auth/methods, without authentication: { is_set_up, signup, email, oidc: [{ name, start_url }] }",
    async ({ server, call }) => {
      const { status, body } = await call("GET", "/auth/methods", { as: server.nobody });
      expect(status).toBe(200);
      conforms(schemas.authMethods, body);
    },
  ],
  [
    "Passwords have 10 to 200 characters; common ones are refused",
    async (fixtures) => {
      const { call, getOutcome } = fixtures;
      const as = await createMember(fixtures);
      const change = (password: string) =>
        getOutcome("PUT", "/users/me/password", { json: { current_password: PASSWORD, password }, as });
      for (const bad of ["k4Rm-nd9o", "xy3".repeat(67), "password123", "1234567890"])
        expect(await change(bad)).toBe("422 validation_error body.password");
      const longest = `k4Rm-nd9o${"é7".repeat(96)}`.slice(0, 200);
      expect(await change(longest)).toBe("204");
      const json = { current_password: longest, password: "k4Rm-nd9ox" };
      expect((await call("PUT", "/users/me/password", { json, as })).status).toBe(204);
    },
  ],
  [
    "Login attempts: 10 failures in 15 minutes an account and 50 an address, then 429 with Retry-After",
    async () => {
      await using server = await startOwn();
      const member = await withPassword(server, await server.user());
      for (let i = 0; i < 10; i++) expect((await signIn(server, emailOf(member), "x")).status).toBe(401);
      const refused = await signIn(server, emailOf(member));
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^[1-9]\d*$/)]);
      for (let i = 0; i < 40; i++) expect((await signIn(server, `u${i}@example.test`, "x")).status).toBe(401);
      expect((await signIn(server, "another@example.test")).status).toBe(429);
      server.advance(15 * 60_000);
      expect((await signIn(server, emailOf(member))).status).toBe(200);
    },
  ],
  [
    "Unauthenticated calls (sign-up): 20 an hour and address, then 429",
    async () => {
      await using server = await startOwn({ SIGNUP: "open" });
      await createAdmin(server);
      const signUp = () =>
        server.nobody.call("POST", "/api/v1/auth/signup", { json: { email: "a@b", password: "short" } });
      for (let i = 0; i < 20; i++) expect((await signUp()).status).toBe(422);
      const refused = await signUp();
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^[1-9]\d*$/)]);
      server.advance(HOUR_MS);
      expect((await signUp()).status).toBe(422);
    },
  ],
  [
    "Secrets are never echoed",
    async ({ server, call }) => {
      const secret = "my secret password";
      for (const json of [
        { email: 5, password: secret },
        { email: "a@b", password: [secret] },
        { email: "a@b", password: `${secret}${"x".repeat(1100)}` },
        { email: "a@b", pass: secret },
        { email: "a@b", password: { secret } },
        secret,
        [secret],
      ]) {
        for (const path of ["/auth/login", "/auth/signup", "/auth/setup"]) {
          const { body } = await call("POST", path, { json, as: server.nobody });
          expect(JSON.stringify(body)).not.toContain("secret p");
        }
      }
    },
  ],
];
