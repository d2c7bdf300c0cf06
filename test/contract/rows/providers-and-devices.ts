/** Rows of the contract: sign-in at OpenID Connect providers, and the device grant. */
import { expect } from "bun:test";
import { createAdmin, startSession } from "../../http/accounts";
import { type Client, createClient, type Reply } from "../../http/client";
import { type Harness, harness } from "../../http/harness";
import { startOidcServer } from "../../oidc-server";
import type { DashboardRow } from "./dashboard-fixtures";

type OAuthBody = Record<string, unknown> & { error?: string; device_code: string; user_code: string };

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

const post = (by: Client, path: string, form: Record<string, string>): Promise<Reply<OAuthBody>> =>
  by.call<OAuthBody>("POST", `/oauth/${path}`, {
    body: new URLSearchParams(form).toString(),
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  });

/** Starts a grant and returns its codes with a poll. */
async function startGrant({ nobody }: Harness, form: Record<string, string> = {}) {
  const { body } = await post(nobody, "device/code", { client_id: "panel", ...form });
  const { device_code, user_code } = body;
  return { user_code, poll: () => post(nobody, "token", { grant_type: GRANT, device_code, client_id: "panel" }) };
}

const PUBLIC_URL = "http://offcut.test:4700";

/** Runs `work` with a server that knows a provider, whose only user `ada` is in the group of administrators. */
async function withProvider(
  work: (server: Harness, signIn: () => Promise<Reply<unknown>>) => Promise<void>,
): Promise<void> {
  const claims = { email: "ada@studio.example", email_verified: true, groups: ["editors"] };
  await using provider = await startOidcServer({ ada: claims }, [`${PUBLIC_URL}/api/v1/auth/oidc/callback`]);
  const { issuer, clientId, clientSecret } = provider;
  await using server = await harness({
    PUBLIC_URL,
    OIDC_NAME: "Studio",
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    OIDC_SCOPES: "openid,email,groups",
    OIDC_GROUPS_CLAIM: "groups",
    OIDC_ADMIN_GROUP: "editors",
  });
  await work(server, async () => {
    const { nobody } = server;
    const started = await nobody.call("GET", "/api/v1/auth/oidc/start?provider=Studio&redirect=/projects");
    const [cookie = ""] = started.headers.get("set-cookie")!.split(";");
    const back = await provider.signIn(started.headers.get("location")!, "ada");
    return nobody.call("GET", back.href.replace(PUBLIC_URL, server.url()), { headers: { cookie } });
  });
}

export const providerAndDeviceRows: DashboardRow[] = [
  [
    "OFFCUT_OIDC_* sets a single provider; auth/methods: oidc: [{ name, start_url }]",
    () =>
      withProvider(async ({ nobody }) => {
        expect(await nobody.must("GET", "/api/v1/auth/methods")).toMatchObject({
          oidc: [{ name: "Studio", start_url: `${PUBLIC_URL}/api/v1/auth/oidc/start?provider=Studio` }],
        });
      }),
  ],
  [
    "oidc/start?provider=NAME&redirect=/path: redirect is a path of this server, anything else is 422",
    () =>
      withProvider(async ({ nobody }) => {
        for (const redirect of ["https://evil.example", "//evil.example", "projects"])
          expect(
            await nobody.call("GET", `/api/v1/auth/oidc/start?provider=Studio&redirect=${redirect}`),
          ).toMatchObject({
            status: 422,
            body: { detail: [{ loc: ["query", "redirect"] }] },
          });
        const { status } = await nobody.call("GET", "/api/v1/auth/oidc/start?provider=Studio&redirect=/projects");
        expect(status).toBe(302);
      }),
  ],
  [
    "oidc/callback sets the cookie; administrators are made by a configured OIDC group, also while sign-up is closed",
    () =>
      withProvider(async (server, signIn) => {
        const answer = await signIn();
        expect([answer.status, answer.headers.get("location")]).toEqual([303, "/projects"]);
        const token = /^service_session=([^;]+)/.exec(answer.headers.get("set-cookie")!)![1]!;
        const ada = createClient(server.url, token, "");
        expect((await ada.call("GET", "/api/v1/admin/users")).status).toBe(200);
      }),
  ],
  [
    "Device grant: device/code, token (a named sk_ key, once), revoke; device codes take scope",
    async () => {
      await using server = await harness();
      const user = await startSession(server, await createAdmin(server));
      const { user_code, poll } = await startGrant(server, { scope: "read" });
      expect((await poll()).body.error).toBe("authorization_pending");
      expect((await poll()).body.error).toBe("slow_down");
      expect((await post(user, "device/approve", { user_code })).status).toBe(200);
      const { body } = await poll();
      const token = String(body.access_token);
      expect([token.slice(0, 3), body.token_type, body.scope]).toEqual(["sk_", "Bearer", "read"]);
      expect((await poll()).body.error).toBe("invalid_grant");
      const { items } = await user.must<{ items: { name: string }[] }>("GET", "/api-keys");
      expect(items).toMatchObject([{ name: "panel", scopes: ["read"] }]);
      expect((await post(server.nobody, "revoke", { token })).status).toBe(200);
      expect((await createClient(server.url, token, "").call("GET", "/v1/users/me")).status).toBe(401);
    },
  ],
  [
    "Device grant: denied, expired; the page device; RFC 8414 metadata",
    async () => {
      await using server = await harness();
      const user = await startSession(server, await createAdmin(server));
      const [first, second] = [await startGrant(server), await startGrant(server)];
      await post(user, "device/deny", { user_code: first.user_code });
      expect((await first.poll()).body.error).toBe("access_denied");
      server.advance(601_000);
      expect((await second.poll()).body.error).toBe("expired_token");
      const page = await server.nobody.call("GET", "/oauth/device");
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(await server.nobody.must("GET", "/.well-known/oauth-authorization-server")).toMatchObject({
        issuer: server.url(),
        device_authorization_endpoint: `${server.url()}/oauth/device/code`,
        token_endpoint: `${server.url()}/oauth/token`,
        revocation_endpoint: `${server.url()}/oauth/revoke`,
      });
    },
  ],
  [
    "Device grant: bodies are form-encoded, client_id has 1 to 64 characters; device/code: 20 an hour and address, then 429",
    async () => {
      await using server = await harness();
      const { nobody } = server;
      const json = { client_id: "panel" };
      expect((await nobody.call("POST", "/oauth/device/code", { json })).status).toBe(415);
      for (const client_id of ["", "a".repeat(65)])
        expect((await post(nobody, "device/code", { client_id })).body.error).toBe("invalid_request");
      for (let n = 0; n < 20; n++)
        expect((await post(nobody, "device/code", { client_id: "a".repeat(64) })).status).toBe(200);
      expect((await post(nobody, "device/code", json)).status).toBe(429);
    },
  ],
];
