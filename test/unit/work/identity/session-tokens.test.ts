/** The tokens of sessions: only signed ones are valid. */
import { describe, expect, test } from "bun:test";
import { exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { silentLog } from "../../../../src/lib/log";
import { createSessionKey, openSessionKeys } from "../../../../src/work/identity/session-keys";
import { signSessionToken, verifySessionToken } from "../../../../src/work/identity/sessions";

const DAY_MS = 24 * 3600 * 1000;
const NOW = 1_800_000_000_000;
const KEY = createSessionKey(NOW - DAY_MS);
const KEYS = openSessionKeys([KEY], { now: () => NOW, log: silentLog(), save: async () => {} });
const CLAIMS = { userId: "user", sessionId: "session", issuedAt: NOW, expiresAt: NOW + DAY_MS };

const verify = (token: string, now = NOW) => verifySessionToken(KEYS, token, now);
const secret = new TextEncoder().encode(KEY.secret);
const seconds = NOW / 1000;

/** A token like the server's, with changes. `undefined` removes a claim. */
function forge(
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
  key: Uint8Array | CryptoKey = secret,
) {
  const all = { iss: "offcut", aud: "offcut/session", sub: "user", sid: "session", iat: seconds, exp: seconds + 60 };
  const payload = Object.fromEntries(Object.entries({ ...all, ...claims }).filter(([, value]) => value !== undefined));
  return new SignJWT(payload).setProtectedHeader({ alg: "HS256", typ: "JWT", kid: KEY.kid, ...header }).sign(key);
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Signs valid claims with the server's key under a header that the library would not sign. */
function signAsIs(header: object): string {
  const claims = { iss: "offcut", aud: "offcut/session", sub: "user", sid: "session", iat: seconds, exp: seconds + 60 };
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${new Bun.CryptoHasher("sha256", KEY.secret).update(signed).digest("base64url")}`;
}

test("a token signed by the test verifies, so that only its changes are refused", async () => {
  expect(await verify(signAsIs({ alg: "HS256", typ: "JWT", kid: KEY.kid }))).not.toBeNull();
});

test("a signed token has its claims until it expires", async () => {
  const token = await signSessionToken(KEYS, CLAIMS);
  expect(await verify(token)).toEqual(CLAIMS);
  expect(await verify(token, NOW + DAY_MS - 1)).toEqual(CLAIMS);
  expect(await verify(token, NOW + DAY_MS)).toBeNull();
  expect(await verify(await forge())).toMatchObject({ userId: "user", sessionId: "session" });
});

test("a clock that was set back by seconds refuses nobody", async () => {
  const token = await signSessionToken(KEYS, CLAIMS);
  expect(await verify(token, NOW - 30_000)).toEqual(CLAIMS);
});

describe("a token is refused:", () => {
  test.each<[string, () => Promise<string> | string]>([
    ["without a signature (alg none)", () => new UnsecuredJWT({ sid: "session" }).setSubject("user").encode()],
    [
      "alg none with the server's key ID and claims",
      () =>
        `${part({ alg: "none", typ: "JWT", kid: KEY.kid })}.${part({ iss: "offcut", aud: "offcut/session", sub: "user", sid: "session", iat: seconds, exp: seconds + 60 })}.`,
    ],
    ["alg none with a signature", async () => (await forge()).replace(/^[^.]+/, part({ alg: "none", kid: KEY.kid }))],
    ["another algorithm with the same key", () => forge({}, { alg: "HS512" })],
    [
      "a public key that is used as an HMAC secret",
      async () => {
        const { publicKey } = await generateKeyPair("RS256", { extractable: true });
        return forge({}, {}, new TextEncoder().encode(await exportSPKI(publicKey)));
      },
    ],
    ["an RSA signature", async () => forge({}, { alg: "RS256" }, (await generateKeyPair("RS256")).privateKey)],
    ["a key of its own in the header", async () => forge({}, { jwk: { kty: "oct", k: "eA" } }, new Uint8Array(32))],
    ["an empty key", () => forge({}, {}, new Uint8Array(32))],
    ["an unknown key ID", () => forge({}, { kid: "unknown" })],
    ["no key ID", () => forge({}, { kid: undefined })],
    ["a key ID that is a path", () => forge({}, { kid: "../../dev/null" })],
    [
      "a critical header that is not known",
      () => signAsIs({ alg: "HS256", typ: "JWT", kid: KEY.kid, crit: ["x"], x: 1 }),
    ],
    ["another type", () => forge({}, { typ: "at+jwt" })],
    ["another audience", () => forge({ aud: "offcut/two-factor" })],
    ["no audience", () => forge({ aud: undefined })],
    ["another issuer", () => forge({ iss: "evil" })],
    ["no issuer", () => forge({ iss: undefined })],
    ["expired", () => forge({ exp: seconds - 1 })],
    ["without an end", () => forge({ exp: undefined })],
    ["from the future", () => forge({ iat: seconds + 3600, exp: seconds + 7200 })],
    ["not valid yet", () => forge({ nbf: seconds + 3600 })],
    ["older than a session can be", () => forge({ iat: seconds - 181 * 24 * 3600 })],
    ["without a time of issue", () => forge({ iat: undefined })],
    ["without a session", () => forge({ sid: undefined })],
    ["a session that is no text", () => forge({ sid: { $ne: "" } })],
    ["without a user", () => forge({ sub: undefined })],
    [
      "altered claims",
      async () => {
        const [header, payload, signature] = (await forge()).split(".");
        const claims = JSON.parse(Buffer.from(payload!, "base64url").toString());
        return [header, part({ ...claims, sub: "admin" }), signature].join(".");
      },
    ],
    ["a signature that was cut", async () => (await forge()).slice(0, -4)],
    ["no token", () => ""],
    ["garbage", () => "a.b.c"],
    ["a token of a megabyte", async () => `${await forge()}${"A".repeat(1_000_000)}`],
  ])("%s", async (_, make) => {
    expect(await verify(await make())).toBeNull();
  });
});

describe("the keys", () => {
  function open(created: number) {
    let now = created;
    const saved: number[] = [];
    let canSave = true;
    const keys = openSessionKeys([createSessionKey(created)], {
      now: () => now,
      log: silentLog(),
      save: async (list) => {
        if (!canSave) throw new Error("disk full");
        saved.push(list.length);
      },
    });
    return {
      keys,
      saved,
      set: (days: number) => {
        now = created + days * DAY_MS;
      },
      failToSave: () => {
        canSave = false;
      },
      now: () => now,
    };
  }

  test("change after 90 days without ending a session, and are removed when no token can need them", async () => {
    const { keys, saved, set, now } = open(NOW);
    const first = await keys.current();
    set(89);
    expect(await keys.current()).toBe(first);
    const token = await signSessionToken(keys, { ...CLAIMS, issuedAt: now(), expiresAt: now() + 180 * DAY_MS });
    set(90);
    const [second, again] = await Promise.all([keys.current(), keys.current()]);
    expect([second.kid === first.kid, again.kid === second.kid]).toEqual([false, true]);
    expect(saved).toEqual([2]);
    set(89 + 179);
    expect(await verifySessionToken(keys, token, now())).toMatchObject({ sessionId: "session" });
    set(90 + 181);
    expect(keys.find(first.kid)).toBeNull();
    expect(keys.find(second.kid)).not.toBeNull();
  });

  test("do not change when they cannot be stored", async () => {
    const { keys, set, failToSave } = open(NOW);
    const first = await keys.current();
    failToSave();
    set(100);
    expect(await keys.current()).toBe(first);
  });
});
