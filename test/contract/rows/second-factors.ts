/** Rows of the contract: the second factor of a sign-in. */
import { expect } from "bun:test";
import { generateSync } from "otplib";
import { setEmailVerified } from "../../../src/store/users";
import { createApiKey } from "../../../src/work/access/command-accounts";
import { emailOf, PASSWORD, startSession, withPassword } from "../../http/accounts";
import { type Client, createClient } from "../../http/client";
import { startSmtpReceiver } from "../../smtp";
import * as schemas from "../workspace-schemas";
import { conforms } from "./account-setting";
import { createDashboardFixtures, type DashboardFixtures, type DashboardRow } from "./dashboard-fixtures";

type Enrollment = { secret: string; otpauth_url: string; recovery_codes: string[] };
type SignIn = { two_factor_required: boolean; challenge: string; methods: string[]; token: string };

const STEP_MS = 30_000;
const showCode = ({ server }: DashboardFixtures, secret: string) =>
  generateSync({ secret, epoch: Math.floor(server.services().now() / 1000) });

const signIn = ({ call, server }: DashboardFixtures, user: Client) =>
  call<SignIn>("POST", "/auth/login", { json: { email: emailOf(user), password: PASSWORD }, as: server.nobody });

const answer = ({ getOutcome, server }: DashboardFixtures, challenge: string, code: string) =>
  getOutcome("POST", "/auth/login/two-factor", { json: { challenge, code }, as: server.nobody });

/** Creates a user with a confirmed authenticator. */
async function enroll(fixtures: DashboardFixtures): Promise<Enrollment & { as: Client }> {
  const { call, server, user } = fixtures;
  const as = await user();
  await withPassword(server, as);
  const { body } = await call<Enrollment>("POST", "/users/me/two-factor", { as, json: { password: PASSWORD } });
  await call("POST", "/users/me/two-factor/confirm", { as, json: { code: showCode(fixtures, body.secret) } });
  server.advance(STEP_MS);
  return { ...body, as };
}

export const secondFactorRows: DashboardRow[] = [
  [
    "POST users/me/two-factor: 201 { secret, otpauth_url, recovery_codes }; …/confirm: code, 204; DELETE: password, 204",
    async (fixtures) => {
      const { call, getOutcome, server, user } = fixtures;
      const as = await user();
      await withPassword(server, as);
      const path = "/users/me/two-factor";
      const confirm = (code: unknown) => getOutcome("POST", `${path}/confirm`, { as, json: { code } });
      expect(await confirm("123456")).toBe("409 conflict");
      const confirmed = { as, json: { password: PASSWORD } };
      expect(await getOutcome("POST", path, { as })).toBe("422 validation_error body.password");
      const { status, body } = await call<Enrollment>("POST", path, confirmed);
      expect([status, Object.keys(body).sort()]).toEqual([201, ["otpauth_url", "recovery_codes", "secret"]]);
      expect(body.otpauth_url).toStartWith("otpauth://totp/");
      expect(await confirm("x")).toBe("422 validation_error body.code");
      expect(await confirm(123456)).toBe("422 validation_error body.code");
      expect(await confirm(showCode(fixtures, body.secret))).toBe("204");
      expect(await getOutcome("POST", path, confirmed)).toBe("409 conflict");
      const remove = (password: string) => getOutcome("DELETE", path, { as, json: { password } });
      expect(await remove("wrong horse battery")).toBe("422 validation_error body.password");
      expect(await remove(PASSWORD)).toBe("204");
      expect(await remove(PASSWORD)).toBe("204");
    },
  ],
  [
    "GET users/me/two-factor: is_enabled, has_authenticator, can_mail, recovery_codes_left; POST …/recovery-codes: password, 200 { recovery_codes }",
    async (fixtures) => {
      const { call, getOutcome } = fixtures;
      const path = "/users/me/two-factor";
      const { as, recovery_codes: old } = await enroll(fixtures);
      const signInWith = async (code: string) => answer(fixtures, (await signIn(fixtures, as)).body.challenge, code);
      expect(await signInWith(old[0]!)).toBe("200");
      const { body } = await call("GET", path, { as });
      conforms(schemas.twoFactor, body);
      expect(body).toEqual({ is_enabled: true, has_authenticator: true, can_mail: false, recovery_codes_left: 9 });
      const replace = (password: string) => ({ as, json: { password } });
      const codesPath = `${path}/recovery-codes`;
      expect(await getOutcome("POST", codesPath, replace("wrong horse battery"))).toBe(
        "422 validation_error body.password",
      );
      const made = await call<{ recovery_codes: string[] }>("POST", codesPath, replace(PASSWORD));
      expect([made.status, new Set([...made.body.recovery_codes, ...old]).size]).toEqual([200, 20]);
      expect((await call("GET", path, { as })).body).toMatchObject({ recovery_codes_left: 10 });
      expect(await signInWith(old[1]!)).toBe("401 unauthenticated");
      expect(await signInWith(made.body.recovery_codes[0]!)).toBe("200");
      const none = await withPassword(fixtures.server, await fixtures.user());
      const other = await startSession(fixtures.server, none);
      expect(await getOutcome("POST", codesPath, { as: other, json: { password: PASSWORD } })).toBe("409 conflict");
    },
  ],
  [
    "POST auth/login: 200 session, or 200 { two_factor_required: true, challenge, methods }; POST auth/login/two-factor: 200 session",
    async (fixtures) => {
      const { secret, as } = await enroll(fixtures);
      const { body } = await signIn(fixtures, as);
      expect(body as unknown).toEqual({
        two_factor_required: true,
        challenge: expect.any(String),
        methods: ["totp", "recovery"],
      });
      const json = { challenge: body.challenge, code: showCode(fixtures, secret) };
      const { server } = fixtures;
      const done = await fixtures.call<SignIn>("POST", "/auth/login/two-factor", { json, as: server.nobody });
      expect([done.status, Object.keys(done.body)]).toEqual([200, ["token", "expires_at", "user"]]);
      expect(done.headers.get("set-cookie")).toStartWith(`service_session=${done.body.token}; `);
      expect(await fixtures.getOutcome("POST", "/auth/login/two-factor", { json, as: server.nobody })).toBe(
        "401 unauthenticated",
      );
    },
  ],
  [
    "TOTP with otplib, single-use recovery codes, or a code by email. A code works once",
    async (fixtures) => {
      const { secret, as, recovery_codes: codes } = await enroll(fixtures);
      const challenges = [];
      for (let times = 0; times < 4; times++) challenges.push((await signIn(fixtures, as)).body.challenge);
      const code = showCode(fixtures, secret);
      expect(await answer(fixtures, challenges[0]!, code)).toBe("200");
      expect(await answer(fixtures, challenges[1]!, code)).toBe("401 unauthenticated");
      expect(await answer(fixtures, challenges[2]!, codes[0]!)).toBe("200");
      expect(await answer(fixtures, challenges[3]!, codes[0]!)).toBe("401 unauthenticated");
    },
  ],
  [
    "two_factor_enabled: true: a TOTP code when the user has enrolled an authenticator, else a code by e-mail; with neither possible 409",
    async (fixtures) => {
      const as = await withPassword(fixtures.server, await fixtures.user());
      const json = { two_factor_enabled: true, password: PASSWORD };
      expect(await fixtures.getOutcome("PATCH", "/users/me", { as, json })).toBe("409 conflict");
      await using smtp = await startSmtpReceiver();
      await using mailing = await createDashboardFixtures({ SMTP_URL: smtp.url });
      const { server } = mailing;
      const anna = await withPassword(server, mailing.anna);
      await server.services().store.write((tx) => setEmailVerified(tx, anna.userId, server.services().now()));
      const { body } = await mailing.call("PATCH", "/users/me", { json });
      expect(body).toMatchObject({ two_factor_enabled: true });
      const { challenge, methods } = (await signIn(mailing, anna)).body;
      expect(methods).toEqual(["email"]);
      const code = /^ +(\d{6})$/m.exec((await smtp.mailTo(emailOf(anna), 1)).text!)![1]!;
      expect(await answer(mailing, challenge, code)).toBe("200");
      expect((await mailing.call("PATCH", "/users/me", { json: { two_factor_enabled: null } })).body).toMatchObject({
        two_factor_enabled: true,
      });
    },
  ],
  [
    "Changing two_factor_enabled needs a session not older than 12 h: an API key gets 403, an old session reason session_too_old",
    async () => {
      await using own = await createDashboardFixtures();
      const { call, getOutcome, server, anna } = own;
      const { key } = await createApiKey(server.services(), { email: emailOf(anna), name: "k" });
      const withKey = createClient(server.url, key, anna.userId);
      const json = { two_factor_enabled: true };
      expect(await getOutcome("PATCH", "/users/me", { json, as: withKey })).toBe("403 forbidden");
      expect(await getOutcome("POST", "/users/me/two-factor", { as: withKey })).toBe("403 forbidden");
      server.advance(12 * 3600_000 + 1);
      for (const [method, path, body] of [
        ["PATCH", "/users/me", json],
        ["POST", "/users/me/two-factor", undefined],
        ["DELETE", "/users/me/two-factor", { password: PASSWORD }],
      ] as const) {
        const refused = await call(method, path, { json: body });
        expect([refused.status, refused.body]).toEqual([
          403,
          { detail: expect.any(String), code: "forbidden", reason: "session_too_old" },
        ]);
      }
      expect((await call("PATCH", "/users/me", { json: { first_name: "Ada" } })).status).toBe(200);
    },
  ],
];
