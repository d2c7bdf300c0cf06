import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { AppError } from "../../../src/domain/errors";
import type { OidcProvider } from "../../../src/domain/oidc";
import { createOidcClient } from "../../../src/outbound/oidc";
import { type OidcServer, startOidcServer } from "../../oidc-server";

const REDIRECT_URI = "http://127.0.0.1:4700/api/v1/auth/oidc/callback";
const CHECKS = { state: "a-state", nonce: "a-nonce", codeVerifier: "v".repeat(64) };
let server: OidcServer;
let provider: OidcProvider;

beforeAll(async () => {
  const accounts = {
    anna: {
      email: "anna@example.com",
      email_verified: true,
      given_name: "Anna",
      family_name: "Ott",
      groups: ["editors"],
    },
    ben: { email: "ben@example.com", email_verified: false, groups: "sound" },
    carl: {},
  };
  server = await startOidcServer(accounts, [REDIRECT_URI]);
  const { issuer, clientId, clientSecret } = server;
  provider = {
    name: "Studio",
    issuer,
    clientId,
    clientSecret,
    scopes: ["openid", "email", "profile", "groups"],
    groupsClaim: "groups",
    adminGroup: "editors",
    createAccounts: false,
  };
});
afterAll(() => server[Symbol.asyncDispose]());

async function signIn(login: string) {
  const client = createOidcClient(Date.now);
  const checks = CHECKS;
  const url = await client.start(provider, REDIRECT_URI, checks);
  return { client, url: new URL(url), checks, callback: await server.signIn(url, login) };
}

async function codeOf(finishing: Promise<unknown>): Promise<string> {
  const error = await finishing.then(
    () => new Error("succeeded"),
    (thrown) => thrown,
  );
  return error instanceof AppError ? error.code : String(error);
}

describe("sign-in at a provider", () => {
  const rows: [login: string, expected: object][] = [
    ["anna", { email: "anna@example.com", emailVerified: true, firstName: "Anna", lastName: "Ott", isAdmin: true }],
    ["ben", { email: "ben@example.com", emailVerified: false, firstName: null, isAdmin: false }],
    ["carl", { email: null, emailVerified: false, isAdmin: false }],
  ];
  test.each(rows)("%s", async (login, expected) => {
    const { client, url, checks, callback } = await signIn(login);
    expect(url.searchParams.get("code_challenge_method")).toBe("S256");
    expect(url.href).not.toContain(checks.codeVerifier);
    expect(await client.finish(provider, callback, checks)).toMatchObject({ subject: login, ...expected });
  });

  test("a code works once", async () => {
    const { client, checks, callback } = await signIn("anna");
    await client.finish(provider, callback, checks);
    expect(await codeOf(client.finish(provider, callback, checks))).toBe("bad_request");
  });

  const changes: [name: string, change: (callback: URL, checks: Record<string, string>) => void][] = [
    ["another state", (callback) => callback.searchParams.set("state", "other")],
    ["no state", (callback) => callback.searchParams.delete("state")],
    ["another code", (callback) => callback.searchParams.set("code", "other")],
    ["another issuer", (callback) => callback.searchParams.set("iss", "http://127.0.0.1:1")],
    ["an error", (callback) => callback.searchParams.set("error", "access_denied")],
    ["another nonce", (_, checks) => Object.assign(checks, { nonce: "other" })],
    ["another verifier", (_, checks) => Object.assign(checks, { codeVerifier: "x".repeat(43) })],
  ];
  test.each(changes)("%s is refused", async (_, change) => {
    const { client, checks, callback } = await signIn("anna");
    const changed = { ...checks };
    change(callback, changed);
    expect(await codeOf(client.finish(provider, callback, changed))).toBe("bad_request");
  });

  test("a wrong secret is refused", async () => {
    const { client, checks, callback } = await signIn("anna");
    expect(await codeOf(client.finish({ ...provider, clientSecret: "wrong" }, callback, checks))).toBe("bad_request");
  });

  test("a provider that does not respond, and a server that is not a provider", async () => {
    const away = { ...provider, issuer: "http://127.0.0.1:1" };
    expect(await codeOf(createOidcClient(Date.now).start(away, REDIRECT_URI, CHECKS))).toBe("upstream_unavailable");
    const page = Bun.serve({ port: 0, fetch: () => new Response("<p>Hello</p>") });
    const other = { ...provider, issuer: `http://127.0.0.1:${page.port}` };
    expect(await codeOf(createOidcClient(Date.now).start(other, REDIRECT_URI, CHECKS))).toBe("upstream_unavailable");
    await page.stop(true);
  });
});
