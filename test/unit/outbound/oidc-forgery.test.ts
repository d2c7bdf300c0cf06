/** ID tokens of a provider that has been taken over, or of somebody between it and the server. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { AppError } from "../../../src/domain/errors";
import type { OidcProvider } from "../../../src/domain/oidc";
import { createOidcClient } from "../../../src/outbound/oidc";

const REDIRECT_URI = "http://127.0.0.1:4700/api/v1/auth/oidc/callback";
const CHECKS = { state: "a-state", nonce: "a-nonce", codeVerifier: "v".repeat(64) };

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;
let keys: Keys;
let foreign: Keys;
let server: ReturnType<typeof Bun.serve>;
/** Responses of the token endpoint and the user info endpoint. */
let idToken = "";
let userInfo: object = {};

beforeAll(async () => {
  keys = await generateKeyPair("RS256", { extractable: true });
  foreign = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: "1", alg: "RS256", use: "sig" };
  server = Bun.serve({
    port: 0,
    fetch: (request) => {
      const { pathname, origin } = new URL(request.url);
      if (pathname === "/token")
        return Response.json({ access_token: "a", token_type: "Bearer", expires_in: 60, id_token: idToken });
      if (pathname === "/me") return Response.json(userInfo);
      if (pathname === "/jwks") return Response.json({ keys: [jwk] });
      return Response.json({
        issuer: origin,
        authorization_endpoint: `${origin}/auth`,
        token_endpoint: `${origin}/token`,
        userinfo_endpoint: `${origin}/me`,
        jwks_uri: `${origin}/jwks`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
      });
    },
  });
});
afterAll(() => server.stop(true));

const provider = (): OidcProvider => ({
  name: "Studio",
  issuer: `http://127.0.0.1:${server.port}`,
  clientId: "offcut",
  clientSecret: "a-secret-of-the-client",
  scopes: ["openid"],
  groupsClaim: "groups",
  adminGroup: "editors",
  createAccounts: false,
});

const now = () => Math.floor(Date.now() / 1000);
const claims = (change: JWTPayload = {}): JWTPayload => ({
  iss: provider().issuer,
  aud: "offcut",
  sub: "ada",
  nonce: CHECKS.nonce,
  iat: now(),
  exp: now() + 60,
  ...change,
});
const without = (name: string): JWTPayload =>
  Object.fromEntries(Object.entries(claims()).filter(([key]) => key !== name));
const sign = (payload: JWTPayload, key: Keys = keys, kid = "1") =>
  new SignJWT(payload).setProtectedHeader({ alg: "RS256", kid }).sign(key.privateKey);

async function finish(): Promise<string> {
  const callback = new URL(`${REDIRECT_URI}?code=c&state=${CHECKS.state}`);
  try {
    const { subject, isAdmin, emailVerified } = await createOidcClient(Date.now).finish(provider(), callback, CHECKS);
    return `${subject} ${isAdmin} ${emailVerified}`;
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
}

test("a valid token is accepted", async () => {
  userInfo = { sub: "ada", groups: ["editors"], email_verified: "true" };
  idToken = await sign(claims());
  expect(await finish()).toBe("ada true true");
});

test("claims of the token take precedence over the user info", async () => {
  userInfo = { sub: "ada", groups: ["editors"], email_verified: true };
  idToken = await sign(claims({ groups: [], email_verified: false }));
  expect(await finish()).toBe("ada false false");
});

test.each<[string, object, object, boolean]>([
  ["of another address", { email: "b@x.test" }, { email: "a@x.test", email_verified: true }, false],
  ["without an address", { email_verified: true }, { email: "a@x.test" }, false],
  ["of the same address", { email: "a@x.test" }, { email: "a@x.test", email_verified: true }, true],
  ["in the token alone", { email: "a@x.test", email_verified: true }, {}, true],
  ["in the user info alone", {}, { email: "a@x.test", email_verified: true }, true],
])("a confirmation %s", async (_, token, info, expected) => {
  userInfo = { sub: "ada", ...info };
  idToken = await sign(claims(token as JWTPayload));
  expect(await finish()).toBe(`ada false ${expected}`);
});

/** Changes claims and keeps the signature. */
function alter(token: string, change: JWTPayload): string {
  const [header, , signature] = token.split(".");
  return [header, Buffer.from(JSON.stringify(claims(change))).toString("base64url"), signature].join(".");
}

const rows: [name: string, make: () => string | Promise<string>, subject?: string][] = [
  ["no signature", () => new UnsecuredJWT(claims()).encode()],
  ["a subject that was altered", async () => alter(await sign(claims()), { sub: "eve" }), "eve"],
  ["groups that were altered", async () => alter(await sign(claims()), { groups: ["editors"] })],
  ["another key", () => sign(claims(), foreign)],
  ["a key that the provider does not have", () => sign(claims(), foreign, "2")],
  [
    "the public key as a shared secret",
    async () => {
      const secret = new TextEncoder().encode(JSON.stringify(await exportJWK(keys.publicKey)));
      return new SignJWT(claims()).setProtectedHeader({ alg: "HS256" }).sign(secret);
    },
  ],
  ["another issuer", () => sign(claims({ iss: "https://evil.example" }))],
  ["another audience", () => sign(claims({ aud: "another-client" }))],
  ["several audiences without a party", () => sign(claims({ aud: ["offcut", "another-client"] }))],
  ["another nonce", () => sign(claims({ nonce: "of-another-sign-in" }))],
  ["no nonce", () => sign(without("nonce"))],
  ["an end in the past", () => sign(claims({ iat: now() - 7200, exp: now() - 3600 }))],
  ["no subject", () => sign(without("sub"))],
  ["no token", () => ""],
  ["a token that is none", () => "a.b.c"],
];
test.each(rows)("a token with %s is refused", async (_, make, sub = "ada") => {
  userInfo = { sub };
  idToken = await make();
  expect(await finish()).toBe("bad_request");
});

test("user info about somebody else is refused", async () => {
  userInfo = { sub: "eve", groups: ["editors"] };
  idToken = await sign(claims());
  expect(await finish()).toBe("bad_request");
});
