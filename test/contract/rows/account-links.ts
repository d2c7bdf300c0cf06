/** Rows of the contract: the links that confirm an address, reset a password or invite. */
import { expect } from "bun:test";
import { findUserById } from "../../../src/store/users";
import { createInvitation } from "../../../src/work/identity/invitations";
import { createPasswordResetLink } from "../../../src/work/identity/password-reset";
import { createAdmin, emailOf, PASSWORD, withPassword } from "../../http/accounts";
import type { Client } from "../../http/client";
import { startSmtpReceiver } from "../../smtp";
import { createDashboardFixtures, type DashboardFixtures, type DashboardRow } from "./dashboard-fixtures";

const NEW_PASSWORD = "staple horse correct";
const HOUR_MS = 3600_000;

/** Calls without authentication. */
const post = ({ getOutcome, server }: DashboardFixtures, path: string, json: object) =>
  getOutcome("POST", `/auth/${path}`, { json, as: server.nobody });

/** Starts a server with a mail server. */
async function startMailing() {
  const smtp = await startSmtpReceiver();
  const fixtures = await createDashboardFixtures({ SMTP_URL: smtp.url, PUBLIC_URL: "https://cut.example" });
  return {
    ...fixtures,
    readToken: async (to: string, after = 0) => /#(\w{43})/.exec((await smtp.mailTo(to, after)).text!)![1]!,
    [Symbol.asyncDispose]: async () => {
      await fixtures[Symbol.asyncDispose]();
      await smtp[Symbol.asyncDispose]();
    },
  };
}

/** Creates a link that an administrator hands over, and returns its token and its validity. */
async function createLink(
  { server }: DashboardFixtures,
  purpose: "invitation" | "password_reset",
  of: Pick<Client, "userId">,
): Promise<{ token: string; url: string; validMs: number }> {
  const admin = await createAdmin(server);
  const services = server.services();
  const [user, invitedBy] = [
    (await findUserById(services.store.read, of.userId))!,
    (await findUserById(services.store.read, admin.userId))!,
  ];
  const { url, expiresAt } = await services.store.write((tx) =>
    purpose === "invitation"
      ? createInvitation(services, tx, { email: user.email, userId: user.id, workspace: null, invitedBy })
      : createPasswordResetLink(services, tx, user, admin.userId),
  );
  return { token: url.split("#")[1]!, url, validMs: expiresAt - services.now() };
}

export const accountLinkRows: DashboardRow[] = [
  [
    "POST auth/verify-email: token, and a session of the account or its password, 204",
    async () => {
      await using fixtures = await startMailing();
      const { anna, getOutcome, readToken } = fixtures;
      expect(await getOutcome("POST", "/users/me/email-verification")).toBe("202");
      const token = await readToken(emailOf(anna));
      expect(await post(fixtures, "verify-email", { token })).toBe("401 unauthenticated");
      await withPassword(fixtures.server, anna);
      expect(await post(fixtures, "verify-email", { token })).toBe("422 validation_error body.password");
      expect(await post(fixtures, "verify-email", { token, password: PASSWORD })).toBe("204");
      expect(await post(fixtures, "verify-email", { token })).toBe("401 unauthenticated");
      expect(await getOutcome("POST", "/users/me/email-verification")).toBe("409 conflict");
    },
  ],
  [
    "POST auth/password/forgot: email, 202, always the same; POST auth/password/reset: token, password, 204",
    async () => {
      await using fixtures = await startMailing();
      const { anna, call, readToken, server } = fixtures;
      for (const email of [emailOf(anna), "nobody@example.test", "no address"]) {
        const { status, body } = await call("POST", "/auth/password/forgot", { json: { email }, as: server.nobody });
        expect([status, body as unknown]).toEqual([202, ""]);
      }
      const token = await readToken(emailOf(anna));
      for (const password of ["short", "x".repeat(201), "password123", emailOf(anna)]) {
        expect(await post(fixtures, "password/reset", { token, password })).toBe("422 validation_error body.password");
      }
      expect(await post(fixtures, "password/reset", { token, password: NEW_PASSWORD })).toBe("204");
      expect((await anna.call("GET", "/api/v1/users/me")).status).toBe(401);
      const used = await post(fixtures, "password/reset", { token, password: NEW_PASSWORD });
      const unknown = await post(fixtures, "password/reset", { token: "x", password: NEW_PASSWORD });
      expect([used, unknown]).toEqual(["401 unauthenticated", "401 unauthenticated"]);
    },
  ],
  [
    "OFFCUT_PUBLIC_URL: links are made from it, never from a Host header",
    async () => {
      await using fixtures = await startMailing();
      const { anna } = fixtures;
      const headers = { Host: "evil.example", "X-Forwarded-Host": "evil.example" };
      const json = { email: emailOf(anna) };
      await fixtures.call("POST", "/auth/password/forgot", { json, headers, as: fixtures.server.nobody });
      await fixtures.readToken(emailOf(anna));
      const { url } = await createLink(fixtures, "password_reset", anna);
      expect(url).toStartWith("https://cut.example/reset-password#");
    },
  ],
  [
    "Administrators can copy reset and invitation links: 1 hour and 7 days",
    async () => {
      await using fixtures = await createDashboardFixtures();
      const { anna, bert, server } = fixtures;
      await withPassword(server, anna);
      const reset = await createLink(fixtures, "password_reset", anna);
      const invitation = await createLink(fixtures, "invitation", bert);
      expect(Math.round(reset.validMs / HOUR_MS)).toBe(1);
      expect(Math.round(invitation.validMs / HOUR_MS)).toBe(7 * 24);
      server.advance(HOUR_MS);
      expect(await post(fixtures, "password/reset", { token: reset.token, password: NEW_PASSWORD })).toBe(
        "401 unauthenticated",
      );
      server.advance(7 * 24 * HOUR_MS);
      expect(await post(fixtures, "invitation", { token: invitation.token, password: NEW_PASSWORD })).toBe(
        "401 unauthenticated",
      );
    },
  ],
  [
    "POST auth/invitation: token, password, 201 session (an addition)",
    async (fixtures) => {
      const { server } = fixtures;
      const invited = await server.user();
      const { token } = await createLink(fixtures, "invitation", invited);
      const json = { token, password: PASSWORD };
      const { status, body, headers } = await fixtures.call("POST", "/auth/invitation", { json, as: server.nobody });
      expect([status, headers.get("location")]).toEqual([201, "/api/v1/users/me"]);
      expect(body).toMatchObject({ token: expect.any(String), user: { id: invited.userId } });
      expect(await post(fixtures, "invitation", json)).toBe("401 unauthenticated");
      expect(await post(fixtures, "invitation", { token: 5 })).toBe("422 validation_error body.password,body.token");
    },
  ],
  [
    "Unauthenticated calls (sign-up, password/forgot, verify-email, device/code): 20 an hour and address, then 429",
    async () => {
      await using fixtures = await createDashboardFixtures();
      const { call, server } = fixtures;
      for (let times = 0; times < 20; times++) {
        const [path, json] =
          times % 2 === 0 ? ["password/forgot", { email: "a@example.test" }] : ["verify-email", { token: "x" }];
        expect(await post(fixtures, path as string, json as object)).toBe(
          times % 2 === 0 ? "202" : "401 unauthenticated",
        );
      }
      const json = { email: "a@example.test" };
      const refused = await call("POST", "/auth/password/forgot", { json, as: server.nobody });
      expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
      server.advance(HOUR_MS);
      expect(await post(fixtures, "password/forgot", json)).toBe("202");
    },
  ],
  [
    "GET auth/methods: email; without SMTP nothing pretends to be sent",
    async (fixtures) => {
      const { call, getOutcome, server } = fixtures;
      expect((await call("GET", "/auth/methods", { as: server.nobody })).body).toMatchObject({ email: false });
      expect(await getOutcome("POST", "/users/me/email-verification")).toBe("409 conflict");
      await using mailing = await startMailing();
      const { body } = await mailing.call("GET", "/auth/methods", { as: mailing.server.nobody });
      expect(body).toMatchObject({ email: true });
    },
  ],
];
