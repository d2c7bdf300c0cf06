/** Attacks on sessions, over HTTP. Forged tokens are in `test/unit/work/identity/session-tokens.test.ts`. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from "jose";
import { createAdmin, emailOf, PASSWORD, readCookie, startSession, withPassword } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";

setDefaultTimeout(PATIENCE_MS);

const DAY_MS = 24 * 3600 * 1000;

let server: Harness;
let anna: Client;
let token: string;
beforeAll(async () => {
  server = await harness({ CORS_ORIGINS: "https://plugin.example" });
  await createAdmin(server);
  anna = await withPassword(server, await server.user());
  token = (await startSession(server, anna)).key;
});
afterAll(() => server[Symbol.asyncDispose]());

const cookieOf = (value: string) => ({ Cookie: `service_session=${value}` });
const readWith = (headers: Record<string, string>) => server.nobody.call("GET", "/api/v1/users/me", { headers });

describe("a forged token is refused in the header and in the cookie:", () => {
  const claims = () => decodeJwt(token);
  const header = () => decodeProtectedHeader(token) as { alg: string; kid: string };
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signature = () => token.split(".")[2]!;

  test.each<[string, () => Promise<string> | string]>([
    ["alg none", () => new UnsecuredJWT(claims()).encode()],
    [
      "alg none under the server's key ID",
      () => `${encode({ ...header(), alg: "none" })}.${token.split(".")[1]}.${signature()}`,
    ],
    [
      "another key",
      () => new SignJWT(claims()).setProtectedHeader(header()).sign(new TextEncoder().encode("x".repeat(43))),
    ],
    [
      "the key ID as the key",
      () => new SignJWT(claims()).setProtectedHeader(header()).sign(new TextEncoder().encode(header().kid)),
    ],
    [
      "altered claims",
      () => [token.split(".")[0], encode({ ...claims(), sub: "someone-else" }), signature()].join("."),
    ],
    ["another session ID", () => [token.split(".")[0], encode({ ...claims(), sid: "x" }), signature()].join(".")],
    ["an API key in the place of the token", () => anna.key!.slice(3)],
    ["an empty signature", () => `${token.split(".").slice(0, 2).join(".")}.`],
  ])("%s", async (_, make) => {
    const forged = await make();
    expect(await readWith({ Authorization: `Bearer ${forged}` })).toMatchObject({ status: 401 });
    expect(await readWith(cookieOf(forged))).toMatchObject({ status: 401, body: { code: "unauthenticated" } });
  });

  test("while the real one works", async () => {
    expect((await readWith({ Authorization: `Bearer ${token}` })).status).toBe(200);
    expect((await readWith(cookieOf(token))).status).toBe(200);
  });
});

describe("the header and the cookie:", () => {
  test("an invalid header is not replaced by a valid cookie", async () => {
    for (const Authorization of ["Bearer x", "Basic eDp5", "", "Bearer sk_x", `bearer ${token}x`]) {
      const { status } = await readWith({ ...cookieOf(token), Authorization });
      // An empty header counts as missing.
      expect([Authorization, status]).toEqual([Authorization, Authorization === "" ? status : 401]);
    }
  });

  test("an API key is not accepted as a cookie", async () => {
    expect((await readWith(cookieOf(anna.key!))).status).toBe(401);
  });

  test("a second cookie of that name, which another site of the domain could set, is not chosen", async () => {
    const other = (await startSession(server, await server.user())).key;
    const both = { Cookie: `service_session=${other}; service_session=${token}` };
    expect((await readWith(both)).status).toBe(401);
  });
});

describe("a page of another site", () => {
  const write = (headers: Record<string, string>) =>
    server.nobody.call("POST", "/api/v1/projects", {
      json: { name: "P" },
      headers: { ...cookieOf(token), ...headers },
    });
  const host = () => new URL(server.url()).host;
  const port = () => new URL(server.url()).port;

  test.each<[string, () => Record<string, string>]>([
    ["another site", () => ({ Origin: "https://evil.example" })],
    ["no origin", () => ({})],
    ["an opaque origin", () => ({ Origin: "null" })],
    ["another port of the same host", () => ({ Origin: "http://127.0.0.1:1" })],
    ["the host as part of another one", () => ({ Origin: `http://${host()}.evil.example` })],
    ["the host before an @", () => ({ Origin: `http://${host()}@evil.example` })],
    ["another name that reaches this machine", () => ({ Origin: `http://evil.example:${port()}` })],
    [
      "a site whose name is in a proxy's header",
      () => ({ Origin: "http://evil.example", "X-Forwarded-Host": "evil.example" }),
    ],
    ["a CORS origin", () => ({ Origin: "https://plugin.example" })],
    ["a file", () => ({ Origin: "file://" })],
  ])("cannot write with the cookie: %s", async (_, headers) => {
    expect(await write(headers())).toMatchObject({ status: 403, body: { code: "forbidden" } });
    for (const [method, path] of [
      ["PATCH", "/api/v1/users/me"],
      ["DELETE", "/api/v1/projects/01890a5d-ac96-774b-bcce-b302099a8057"],
      ["POST", "/api/v1/auth/logout"],
      ["PATCH", "/api/v1/uploads/01890a5d-ac96-774b-bcce-b302099a8057"],
    ] as const) {
      // A browser that sends no Origin still says that another site asked for this.
      const sent = path.includes("/uploads/") ? { "Sec-Fetch-Site": "cross-site", ...headers() } : headers();
      const reply = await server.nobody.call(method, path, { json: {}, headers: { ...cookieOf(token), ...sent } });
      expect([path, reply.status]).toEqual([path, 403]);
    }
  });

  test.each<[string, () => Record<string, string>]>([
    ["the host that was called", () => ({ Origin: server.url() })],
    [
      "another name of the server, in both headers",
      () => ({ Origin: "http://studio.lan:4700", Host: "studio.lan:4700" }),
    ],
    ["an encrypted page behind a proxy", () => ({ Origin: "https://cut.example", Host: "cut.example" })],
  ])("while a page of the server can: %s", async (_, headers) => {
    expect((await write(headers())).status).toBe(201);
  });

  test("reads with the cookie, but gets no permission to see the answer", async () => {
    for (const origin of ["https://evil.example", "https://plugin.example"]) {
      const { headers } = await readWith({ ...cookieOf(token), Origin: origin });
      expect(headers.get("access-control-allow-credentials")).toBeNull();
    }
  });

  const signIn = (headers: Record<string, string>, json: object = { email: emailOf(anna), password: PASSWORD }) =>
    server.nobody.call<{ token: string }>("POST", "/api/v1/auth/login", { json, headers });

  test.each(["https://evil.example", "null", "http://127.0.0.1:1"])(
    "cannot sign the browser in to another account (login CSRF): %s",
    async (origin) => {
      for (const path of ["login", "signup", "setup"]) {
        const json = { email: emailOf(anna), password: PASSWORD, ...(path === "setup" && { token: "x" }) };
        const reply = await server.nobody.call("POST", `/api/v1/auth/${path}`, { json, headers: { Origin: origin } });
        expect([path, reply.status, readCookie(reply)]).toEqual([path, 403, null]);
      }
    },
  );

  test("cannot sign in with a form, whose content types are refused", async () => {
    const body = JSON.stringify({ email: emailOf(anna), password: PASSWORD });
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      const reply = await server.nobody.call("POST", "/api/v1/auth/login", { body, headers: { "Content-Type": type } });
      expect([type, reply.status]).toEqual([type, 415]);
    }
  });

  test("with a configured CORS origin signs in for its header", async () => {
    expect((await signIn({ Origin: "https://plugin.example" })).status).toBe(200);
  });

  test("cannot fix a session: sign-in never continues the one that was sent", async () => {
    const planted = (await startSession(server, anna)).key;
    const reply = await signIn({ ...cookieOf(planted), Origin: server.url() });
    expect(reply.status).toBe(200);
    expect(readCookie(reply)).toBe(reply.body.token);
    expect(decodeJwt(reply.body.token).sid).not.toBe(decodeJwt(planted).sid);
  });
});

describe("a stolen cookie", () => {
  test("is worthless after logout, in another session's logout it is not", async () => {
    const [first, second] = [await startSession(server, anna), await startSession(server, anna)];
    await first.must("POST", "/api/v1/auth/logout");
    expect((await readWith(cookieOf(first.key))).status).toBe(401);
    expect((await readWith(cookieOf(second.key))).status).toBe(200);
  });

  test("does not survive a restart after logout, and the others do", async () => {
    await using other = await harness();
    const user = await other.user();
    const [ended, open] = [await startSession(other, user), await startSession(other, user)];
    await ended.must("POST", "/api/v1/auth/logout");
    await other.restart();
    expect((await ended.call("GET", "/api/v1/users/me")).status).toBe(401);
    expect((await open.call("GET", "/api/v1/users/me")).status).toBe(200);
  });

  test("of a deleted account is worthless", async () => {
    const user = await server.user();
    const session = await startSession(server, user);
    const { store } = server.services();
    await store.write((tx) => tx.run(`DELETE FROM users WHERE id = '${user.userId}'`));
    expect((await session.call("GET", "/api/v1/users/me")).status).toBe(401);
  });

  test("stays valid while the signing keys change, and is refused when it comes from the future", async () => {
    await using other = await harness();
    const user = await other.user();
    const old = await startSession(other, user);
    for (let days = 0; days < 100; days += 20) {
      other.advance(20 * DAY_MS);
      expect((await old.call("GET", "/api/v1/users/me")).status).toBe(200);
    }
    const fresh = await startSession(other, user);
    expect(decodeProtectedHeader(fresh.key).kid).not.toBe(decodeProtectedHeader(old.key).kid);
    await other.restart();
    for (const session of [old, fresh]) expect((await session.call("GET", "/api/v1/users/me")).status).toBe(200);
    other.advance(-100 * DAY_MS);
    await other.restart();
    expect((await fresh.call("GET", "/api/v1/users/me")).status).toBe(401);
  });
});

describe("the cookie over TLS", () => {
  const login = async (settings: Record<string, string>, headers: Record<string, string>) => {
    await using other = await harness(settings);
    const user = await withPassword(other, await other.user());
    const json = { email: emailOf(user), password: PASSWORD };
    const reply = await other.nobody.call("POST", "/api/v1/auth/login", { json, headers });
    return reply.headers.getSetCookie().map((cookie) => cookie.replace(/=[^;]*/, ""));
  };
  const USUAL = "service_session; Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax";
  const PROXIED = { TRUSTED_PROXIES: "127.0.0.1" };
  const forwarded = { "X-Forwarded-Proto": "https" };

  test("is Secure behind a trusted proxy, and not where a stranger sends its header", async () => {
    expect(await login(PROXIED, forwarded)).toEqual([`__Host-${USUAL}; Secure`, `${USUAL}; Secure`]);
    expect(await login(PROXIED, {})).toEqual([USUAL]);
    expect(await login({}, forwarded)).toEqual([USUAL]);
  });

  test("that another site of the domain has planted signs no browser in", async () => {
    await using other = await harness(PROXIED);
    const [own, planted] = await Promise.all(
      [other.user(), other.user()].map(async (user) => startSession(other, await user)),
    );
    const readEmail = async (cookie: string, headers: Record<string, string>) =>
      (await other.nobody.call("GET", "/api/v1/users/me", { headers: { ...forwarded, ...headers, Cookie: cookie } }))
        .status;
    const browser = { "Sec-Fetch-Site": "same-origin" };
    expect(await readEmail(`service_session=${planted!.key}`, browser)).toBe(401);
    expect(await readEmail(`service_session=${planted!.key}`, {})).toBe(200);
    await planted!.must("POST", "/api/v1/auth/logout");
    expect(await readEmail(`__Host-service_session=${own!.key}; service_session=${planted!.key}`, browser)).toBe(200);
  });

  test("sign-out clears what the browser has cached, where it accepts that", async () => {
    await using other = await harness(PROXIED);
    const signOut = async (headers: Record<string, string>) => {
      const session = await startSession(other, await other.user());
      return (await session.call("POST", "/api/v1/auth/logout", { headers })).headers.get("clear-site-data");
    };
    expect([await signOut({}), await signOut(forwarded)]).toEqual([null, '"cache"']);
  });
});
